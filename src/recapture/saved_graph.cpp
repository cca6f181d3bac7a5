// SPDX-License-Identifier: Apache-2.0
#include "cugraft/saved_graph.hpp"

#include "base/access.hpp"
#include "model/saved_state.hpp"
#include "recapture/node_access.hpp"

namespace cugraft {

saved_graph::saved_graph(const graph& graph) {
  static_cast<void>(graph.node_count());  // refuses an empty graph and a lost one
  const detail::graph_state& from = *detail::access::state(graph);
  auto result = std::make_shared<detail::saved_state>();
  result->nodes = from.nodes;
  for (std::size_t node = 0; node < result->nodes.size(); ++node)
    result->nodes.set_owner(node, nullptr);
  result->generation = from.generation;
  state_ = std::move(result);
}

}  // namespace cugraft
