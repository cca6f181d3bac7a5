// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driver/cuda_api.hpp"

namespace cugraft {

/// Where each node of a graph is, in the order in which its nodes are counted. One block of memory
/// for all nodes, since a re-capture makes it anew.
class node_positions {
 public:
  node_positions() = default;
  explicit node_positions(std::span<const CUgraphNode> nodes);

  /// Empty if the graph does not have the node.
  std::optional<std::uint32_t> find(CUgraphNode node) const noexcept {
    if (entries_.empty()) return std::nullopt;
    for (std::size_t at = first(node);; at = (at + 1) & (entries_.size() - 1)) {
      if (entries_[at].node == nullptr) return std::nullopt;
      if (entries_[at].node == node) return entries_[at].position;
    }
  }

 private:
  struct entry {
    CUgraphNode node = nullptr;
    std::uint32_t position = 0;
  };

  // Handles are addresses or counted: the multiplication spreads either over the upper bits.
  std::size_t first(CUgraphNode node) const noexcept {
    return reinterpret_cast<std::uintptr_t>(node) * 0x9e3779b97f4a7c15U >> shift_;
  }

  std::vector<entry> entries_;  // a power of two of them, at most half in use
  unsigned shift_ = 0;
};

}  // namespace cugraft
