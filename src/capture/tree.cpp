// SPDX-License-Identifier: Apache-2.0
#include "capture/tree.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "driver/call.hpp"

namespace cugraft {
namespace {

// Those that are of this graph.
std::vector<CUgraphNode> known_in(std::span<const CUgraphNode> known,
                                  const std::vector<CUgraphNode>& nodes) {
  const std::unordered_set<CUgraphNode> there(nodes.begin(), nodes.end());
  std::vector<CUgraphNode> result;
  for (const CUgraphNode node : known)
    if (there.contains(node)) result.push_back(node);
  return result;
}

const known_conditional* find(std::span<const known_conditional> conditionals, CUgraphNode node) {
  const auto found = std::ranges::find(conditionals, node, &known_conditional::node);
  return found == conditionals.end() ? nullptr : &*found;
}

// Puts the nodes of `level` behind those of `graph`.
void add_level(captured_graph& graph, captured_graph&& level,
               std::span<const known_conditional> conditionals) {
  const auto first = static_cast<std::uint32_t>(graph.structure.size());
  std::vector<model::dependency> edges;
  for (std::size_t i = 0; i < level.nodes.size(); ++i) {
    const auto dependencies = level.structure.dependencies(i);
    edges.assign(dependencies.begin(), dependencies.end());
    for (model::dependency& edge : edges) edge.node += first;
    graph.structure.append(level.structure.kind(i), edges);
    if (const auto* known = find(conditionals, level.nodes[i]))
      graph.structure.set_condition(first + i, known->value);
  }
  graph.nodes.insert(graph.nodes.end(), level.nodes.begin(), level.nodes.end());
  graph.in_order &= level.in_order;
}

}  // namespace

CUgraph child_graph_of(const driver_table& table, CUgraphNode node) {
  CUgraph graph = nullptr;
  check(table.graph_child_graph_node_get_graph(node, &graph), "cuGraphChildGraphNodeGetGraph");
  return graph;
}

captured_graph read_tree(const driver_table& table, CUgraph graph,
                         std::span<const CUgraphNode> known,
                         std::span<const known_conditional> conditionals) {
  const std::vector<CUgraphNode> of_root =
      conditionals.empty() ? std::vector<CUgraphNode>() : known_in(known, nodes_of(table, graph));
  captured_graph result = read_captured(table, graph, conditionals.empty() ? known : of_root);
  for (std::size_t i = 0; !conditionals.empty() && i < result.nodes.size(); ++i)
    if (const auto* each = find(conditionals, result.nodes[i]))
      result.structure.set_condition(i, each->value);
  read_inner(table, result, known, conditionals);
  return result;
}

void read_inner(const driver_table& table, captured_graph& graph,
                std::span<const CUgraphNode> known,
                std::span<const known_conditional> conditionals) {
  const std::size_t of_root = graph.nodes.size();
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    std::vector<CUgraph> bodies;
    if (graph.structure.kind(node) == node_kind::child_graph)
      bodies.push_back(child_graph_of(table, graph.nodes[node]));
    else if (const auto* each = find(conditionals, graph.nodes[node]))
      bodies = each->bodies;
    for (std::uint32_t body = 0; body < bodies.size(); ++body) {
      std::vector<CUgraphNode> nodes = nodes_of(table, bodies[body]);
      const bool in_order = put_in_creation_order(nodes, known_in(known, nodes));
      captured_graph level = read_in_order(table, std::move(nodes));
      level.in_order &= in_order;
      graph.structure.begin_level(static_cast<std::uint32_t>(node), body);
      add_level(graph, std::move(level), conditionals);
    }
  }
  if (graph.nodes.size() != of_root) graph.positions = node_positions(graph.nodes);
}

std::vector<std::uint32_t> positions_inside(const model::structure& nodes, std::size_t node) {
  std::vector<std::uint32_t> result;
  const auto add = [&](std::size_t holder) {
    const auto [first, count] = nodes.levels_in(holder);
    for (std::size_t i = first; i < first + count; ++i) {
      const model::level of = nodes.level(i);
      for (std::uint32_t k = 0; k < of.count; ++k) result.push_back(of.first + k);
    }
  };
  add(node);
  for (std::size_t i = 0; i < result.size(); ++i) add(result[i]);
  return result;
}

}  // namespace cugraft
