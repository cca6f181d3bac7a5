// SPDX-License-Identifier: Apache-2.0
#include "capture/captured_graph.hpp"

#include <algorithm>
#include <utility>

#include "driver/call.hpp"

namespace cugraft {
namespace {

// A node's dependencies, in one driver call for as many as captures make.
class dependency_reader {
 public:
  dependency_reader(const driver_table& table, const node_positions& positions)
      : table_(table), positions_(positions), nodes_(few), edges_(few) {}

  const std::vector<model::dependency>& read(CUgraphNode node) {
    std::size_t count = ask(node);
    if (count == nodes_.size()) {  // there may be more
      check(table_.graph_node_get_dependencies(node, nullptr, nullptr, &count), function);
      nodes_.resize(count + 1);
      edges_.resize(count + 1);
      count = ask(node);
    }
    result_.clear();
    for (std::size_t i = 0; i < count; ++i)
      result_.push_back({positions_.find(nodes_[i]).value(),
                         {edges_[i].from_port, edges_[i].to_port, edges_[i].type}});
    return result_;
  }

 private:
  static constexpr std::size_t few = 16;
  static constexpr const char* function = "cuGraphNodeGetDependencies";

  std::size_t ask(CUgraphNode node) {
    std::size_t count = nodes_.size();
    check(table_.graph_node_get_dependencies(node, nodes_.data(), edges_.data(), &count), function);
    return count;
  }

  const driver_table& table_;
  const node_positions& positions_;
  std::vector<CUgraphNode> nodes_;
  std::vector<CUgraphEdgeData> edges_;
  std::vector<model::dependency> result_;
};

// Whether each node depends on earlier ones only, as captured nodes do.
bool depends_backwards(const model::structure& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const model::dependency& each : nodes.dependencies(i))
      if (each.node >= i) return false;
  return true;
}

}  // namespace

graph_structure read_structure(const driver_table& table, std::vector<CUgraphNode> nodes) {
  graph_structure result{std::move(nodes), {}, {}};
  result.positions = node_positions(result.nodes);
  dependency_reader dependencies(table, result.positions);
  for (const CUgraphNode node : result.nodes) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    check(table.graph_node_get_type(node, &type), "cuGraphNodeGetType");
    result.structure.append(static_cast<node_kind>(type), dependencies.read(node));
  }
  return result;
}

captured_graph read_in_order(const driver_table& table, std::vector<CUgraphNode> nodes) {
  captured_graph result{read_structure(table, std::move(nodes)), true};
  if (depends_backwards(result.structure)) return result;
  std::vector<CUgraphNode> reversed(result.nodes.rbegin(), result.nodes.rend());
  captured_graph other{read_structure(table, std::move(reversed)), true};
  if (depends_backwards(other.structure)) return other;
  result.in_order = false;
  return result;
}

captured_graph read_captured(const driver_table& table, CUgraph graph,
                             std::span<const CUgraphNode> known) {
  std::vector<CUgraphNode> nodes = nodes_of(table, graph);
  if (put_in_creation_order(nodes, known)) return read_in_order(table, std::move(nodes));
  return {read_structure(table, std::move(nodes)), false};
}

std::vector<CUgraphNode> nodes_of(const driver_table& table, CUgraph graph) {
  std::size_t count = 0;
  check(table.graph_get_nodes(graph, nullptr, &count), "cuGraphGetNodes", graph);
  std::vector<CUgraphNode> nodes(count);
  if (count != 0)
    check(table.graph_get_nodes(graph, nodes.data(), &count), "cuGraphGetNodes", graph);
  return nodes;
}

bool put_in_creation_order(std::vector<CUgraphNode>& nodes, std::span<const CUgraphNode> known) {
  const auto fits = [&] {
    auto at = nodes.begin();
    for (const CUgraphNode each : known) {
      at = std::find(at, nodes.end(), each);
      if (at == nodes.end()) return false;
    }
    return true;
  };
  if (fits()) return true;
  std::reverse(nodes.begin(), nodes.end());
  if (fits()) return true;
  std::reverse(nodes.begin(), nodes.end());
  if (known.size() != nodes.size() ||
      !std::is_permutation(known.begin(), known.end(), nodes.begin()))
    return false;
  nodes.assign(known.begin(), known.end());
  return true;
}

}  // namespace cugraft
