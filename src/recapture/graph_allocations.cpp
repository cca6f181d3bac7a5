// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "capture/graph_state.hpp"
#include "cugraft/graph.hpp"
#include "model/memory_nodes.hpp"

namespace cugraft {
namespace {

node_path top_level_path(std::uint32_t node) { return {{{node, 0}}}; }

}  // namespace

std::vector<graph_allocation> graph::allocations() const {
  static_cast<void>(node_count());  // an empty graph says so
  const model::graph& nodes = state_->nodes;
  std::vector<graph_allocation> result;
  for (const std::uint32_t node : model::allocation_nodes(nodes)) {
    const model::allocation_value& allocation = *nodes.allocation(node);
    graph_allocation listed{.path = top_level_path(node),
                            .pointer = reinterpret_cast<void*>(allocation.address),
                            .bytes = allocation.bytes,
                            .device = allocation.device,
                            .is_foreign = allocation.is_foreign};
    if (const auto freed = model::free_of(nodes, node)) listed.freed_at = top_level_path(*freed);
    result.push_back(std::move(listed));
  }
  return result;
}

}  // namespace cugraft
