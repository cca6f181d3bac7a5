// SPDX-License-Identifier: Apache-2.0
#include "capture/node_positions.hpp"

#include <bit>

namespace cugraft {

node_positions::node_positions(std::span<const CUgraphNode> nodes) {
  if (nodes.empty()) return;
  entries_.resize(std::bit_ceil(2 * nodes.size()));
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(entries_.size()));
  for (std::uint32_t position = 0; position < nodes.size(); ++position) {
    std::size_t at = first(nodes[position]);
    while (entries_[at].node != nullptr) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = {nodes[position], position};
  }
}

}  // namespace cugraft
