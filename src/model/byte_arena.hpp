// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cugraft::model {

/// Blocks of bytes one behind the other, named by index. A block that grows moves to the end; the
/// arena is made anew when more than half of it is left over.
class byte_arena {
 public:
  std::size_t size() const noexcept { return blocks_.size(); }

  std::span<const std::byte> operator[](std::size_t index) const noexcept {
    const block& found = blocks_[index];
    return {bytes_.data() + found.offset, found.size};
  }

  /// Adds a block. @pre `content` is not in this arena
  void append(std::span<const std::byte> content);

  /// Makes room for `bytes` more, so that blocks may grow by so much in all without an allocation.
  void reserve(std::size_t bytes);

  /// Replaces a block; if it throws, nothing changed. It does not throw where the block does not
  /// grow or there is room. @pre `content` is not in this arena
  void assign(std::size_t index, std::span<const std::byte> content);

  /// Bytes held, those that are left over included.
  std::size_t bytes_held() const noexcept { return bytes_.size(); }

 private:
  struct block {
    std::size_t offset = 0;
    std::size_t size = 0;
    std::size_t capacity = 0;
  };

  block store(std::span<const std::byte> content);
  void compact();

  std::vector<std::byte> bytes_;
  std::vector<block> blocks_;
  std::size_t in_use_ = 0;  // sum of all sizes
};

}  // namespace cugraft::model
