// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "capture/captured_graph.hpp"
#include "model/structure.hpp"

// Graphs inside of nodes: child graphs, and the bodies of conditional nodes.

namespace cugraft {

/// A conditional node that cugraft made. What is in one, and with what it was made, no driver tells
/// completely (driver rules, 7), so it is remembered.
struct known_conditional {
  CUgraphNode node = nullptr;
  model::conditional_value value;
  std::vector<CUgraph> bodies;
};

/// The content of a child graph node.
/// @throws cuda_error
CUgraph child_graph_of(const driver_table& table, CUgraphNode node);

/// As `read_captured`, with the graphs inside of its nodes at every depth. A conditional node that
/// is not among `conditionals` has none. `known` may have nodes of every level.
/// @throws cuda_error
captured_graph read_tree(const driver_table& table, CUgraph graph,
                         std::span<const CUgraphNode> known,
                         std::span<const known_conditional> conditionals);

/// Reads what is inside of the nodes of `graph`, of which the root has been read.
/// @throws cuda_error
void read_inner(const driver_table& table, captured_graph& graph,
                std::span<const CUgraphNode> known,
                std::span<const known_conditional> conditionals);

/// The positions of all nodes inside of `node`, ascending: in a tree of their own they are numbered
/// in the same order.
std::vector<std::uint32_t> positions_inside(const model::structure& nodes, std::size_t node);

}  // namespace cugraft
