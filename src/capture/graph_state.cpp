// SPDX-License-Identifier: Apache-2.0
#include "capture/graph_state.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "base/identify.hpp"
#include "base/report.hpp"
#include "driver/call.hpp"
#include "handles/ownership.hpp"

namespace cugraft {
namespace {

using node_positions = std::unordered_map<CUgraphNode, std::uint32_t>;

std::vector<model::dependency> read_dependencies(const driver_table& table, CUgraphNode node,
                                                 const node_positions& positions) {
  std::size_t count = 0;
  check(table.graph_node_get_dependencies(node, nullptr, nullptr, &count),
        "cuGraphNodeGetDependencies");
  std::vector<CUgraphNode> nodes(count);
  std::vector<CUgraphEdgeData> edges(count);
  if (count != 0)
    check(table.graph_node_get_dependencies(node, nodes.data(), edges.data(), &count),
          "cuGraphNodeGetDependencies");
  std::vector<model::dependency> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(
        {positions.at(nodes[i]), {edges[i].from_port, edges[i].to_port, edges[i].type}});
  return result;
}

}  // namespace

namespace detail {

graph_state::~graph_state() {
  memory.reset();
  fork_streams.clear();
  if (owns_handle && handle != nullptr)
    release_or_report(*table, handle, &driver_table::graph_destroy, handle);
}

}  // namespace detail

std::uint64_t new_stamp() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void refuse_while_open(const detail::graph_state& graph, std::string_view what) {
  if (graph.open_session.expired()) return;
  throw usage_error(identify(graph.handle) + " has an open session: end or abandon it before " +
                    std::string(what));
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

graph_content read_content(const driver_table& table, std::vector<CUgraphNode> handles,
                           layout_cache& layouts, attribute_check attributes) {
  graph_content content;
  content.handles = std::move(handles);
  node_positions positions;
  for (std::size_t i = 0; i < content.handles.size(); ++i)
    positions.emplace(content.handles[i], static_cast<std::uint32_t>(i));
  for (const CUgraphNode node : content.handles)
    content.nodes.append(read_node(table, node, layouts, attributes),
                         read_dependencies(table, node, positions));
  return content;
}

graph_context_scope::graph_context_scope(const detail::graph_state& graph) {
  if (graph.context != nullptr)
    scope_.emplace(context::borrow(driver_of(*graph.table), graph.context));
}

owner_list owners_of(const model::graph& nodes) {
  owner_list owners(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) owners[i] = nodes.owner(i);
  return owners;
}

record_ptr make_record(owner_list owners, owner_list kept, std::shared_ptr<const void> foreign) {
  auto record = std::make_shared<generation_record>();
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  if (!owners.empty() && !owners.front()) owners.erase(owners.begin());
  record->node_owners = std::move(owners);
  record->kept = std::move(kept);
  record->foreign = std::move(foreign);
  return record;
}

}  // namespace cugraft
