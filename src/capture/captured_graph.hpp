// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "capture/node_positions.hpp"
#include "driver/table.hpp"
#include "model/structure.hpp"

namespace cugraft {

/// Nodes of a driver's graph in the order in which they are counted, and what they depend on.
struct graph_structure {
  std::vector<CUgraphNode> nodes;
  node_positions positions;  ///< of `nodes`
  model::structure structure;
};

/// Kinds and dependencies of `nodes`, which are all of a graph.
/// @throws cuda_error
graph_structure read_structure(const driver_table& table, std::vector<CUgraphNode> nodes);

/// What was captured.
struct captured_graph : graph_structure {
  /// Whether the nodes are in the order of the calls. Where neither the driver nor those of
  /// cugraft's calls tell of it, `native` does not take the graph, and `compare` may see more
  /// changes than there are, or a mismatch.
  bool in_order = true;
};

/// Reads `nodes`, which are all of a graph, turned round where only that makes each depend on
/// earlier ones, as captured nodes do.
/// @throws cuda_error
captured_graph read_in_order(const driver_table& table, std::vector<CUgraphNode> nodes);

/// Reads a graph that a capture makes or made; `known` are nodes that cugraft put in, in the order
/// of the calls.
/// @throws cuda_error
captured_graph read_captured(const driver_table& table, CUgraph graph,
                             std::span<const CUgraphNode> known);

/// Nodes of a driver graph in its own order.
/// @throws cuda_error
std::vector<CUgraphNode> nodes_of(const driver_table& table, CUgraph graph);

/// Puts the nodes of a graph in the order of their creation, which `cuGraphGetNodes` was seen to
/// give and is documented nowhere. `known` are some of them in that order.
/// @return whether the order fits; if not, it is what it was
bool put_in_creation_order(std::vector<CUgraphNode>& nodes, std::span<const CUgraphNode> known);

}  // namespace cugraft
