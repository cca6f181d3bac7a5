// SPDX-License-Identifier: Apache-2.0
#include "model/byte_arena.hpp"

#include <algorithm>
#include <utility>

namespace cugraft::model {

byte_arena::block byte_arena::store(std::span<const std::byte> content) {
  const std::size_t offset = bytes_.size();
  bytes_.insert(bytes_.end(), content.begin(), content.end());
  return {offset, content.size(), content.size()};
}

void byte_arena::append(std::span<const std::byte> content) {
  blocks_.emplace_back();
  try {
    blocks_.back() = store(content);
  } catch (...) {
    blocks_.pop_back();
    throw;
  }
  in_use_ += content.size();
}

void byte_arena::reserve(std::size_t bytes) {
  if (bytes_.capacity() - bytes_.size() < bytes)
    bytes_.reserve(std::max(bytes_.size() + bytes, 2 * bytes_.capacity()));
}

void byte_arena::assign(std::size_t index, std::span<const std::byte> content) {
  block& target = blocks_[index];
  const std::size_t former_size = target.size;
  if (content.size() > target.capacity) {
    target = store(content);
  } else {
    std::copy(content.begin(), content.end(), bytes_.data() + target.offset);
    target.size = content.size();
  }
  in_use_ += content.size() - former_size;
  if (bytes_.size() > 2 * in_use_) compact();
}

void byte_arena::compact() {
  std::vector<std::byte> packed;
  try {
    packed.reserve(in_use_ + bytes_.capacity() - bytes_.size());  // what was reserved, still is
  } catch (...) {
    return;  // the arena is right as it is, only larger than it need be
  }
  for (block& moved : blocks_) {
    const std::byte* content = bytes_.data() + moved.offset;
    moved = {packed.size(), moved.size, moved.size};
    packed.insert(packed.end(), content, content + moved.size);
  }
  bytes_ = std::move(packed);
}

}  // namespace cugraft::model
