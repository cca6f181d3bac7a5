// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace cugraft::model {

/// The packed arguments of one launch. Those of most kernels lie in the object itself, so that a
/// changed node is copied without an allocation.
///
/// Thread safety: as a standard container.
class argument_bytes {
 public:
  argument_bytes() noexcept = default;

  /// `size` zeros. @throws std::bad_alloc
  explicit argument_bytes(std::size_t size) { assign_zeros(size); }

  /// @throws std::bad_alloc
  explicit argument_bytes(std::span<const std::byte> content) : argument_bytes(content.size()) {
    std::copy(content.begin(), content.end(), data());
  }

  argument_bytes(const argument_bytes& other) : argument_bytes(std::span(other)) {}
  argument_bytes(argument_bytes&& other) noexcept
      : size_(std::exchange(other.size_, 0)),
        large_size_(std::exchange(other.large_size_, 0)),
        large_(std::move(other.large_)),
        small_(other.small_) {}
  argument_bytes& operator=(const argument_bytes& other) { return *this = argument_bytes(other); }
  argument_bytes& operator=(argument_bytes&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    large_size_ = std::exchange(other.large_size_, 0);
    large_ = std::move(other.large_);
    small_ = other.small_;
    return *this;
  }
  ~argument_bytes() = default;

  /// `size` zeros, in the room that is there if that is enough. @throws std::bad_alloc
  void assign_zeros(std::size_t size) {
    if (size > capacity()) {
      large_ = std::make_unique<std::byte[]>(size);
      large_size_ = size;
    } else {
      std::fill_n(data(), size, std::byte{0});
    }
    size_ = size;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::byte* data() noexcept { return large_ ? large_.get() : small_.data(); }
  const std::byte* data() const noexcept { return large_ ? large_.get() : small_.data(); }
  std::byte* begin() noexcept { return data(); }
  std::byte* end() noexcept { return data() + size_; }
  const std::byte* begin() const noexcept { return data(); }
  const std::byte* end() const noexcept { return data() + size_; }

 private:
  static constexpr std::size_t inline_size = 48;

  std::size_t capacity() const noexcept { return large_ ? large_size_ : inline_size; }

  std::size_t size_ = 0;
  std::size_t large_size_ = 0;
  std::unique_ptr<std::byte[]> large_{};
  std::array<std::byte, inline_size> small_{};
};

}  // namespace cugraft::model
