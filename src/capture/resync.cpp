// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>

#include "capture/graph_state.hpp"
#include "driver/call.hpp"
#include "handles/ownership.hpp"

// Graphs made, read again after edits by others, and closed.

namespace cugraft {
namespace {

// What cugraft knows of nodes that are still the same node: tag, and owner where it does the same.
void carry_over(const model::graph& old, const std::vector<CUgraphNode>& old_handles,
                detail::graph_state& now) {
  std::unordered_map<CUgraphNode, std::size_t> former;
  for (std::size_t i = 0; i < old_handles.size(); ++i) former.emplace(old_handles[i], i);
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    const auto found = former.find(now.node_handles[i]);
    if (found == former.end() || old.kind(found->second) != now.nodes.kind(i)) continue;
    now.nodes.set_tag(i, old.tag(found->second));
    const model::node_value value = old.value(found->second);
    if (now.nodes.same(i, value)) now.nodes.assign(i, value);
  }
}

bool save_differences(const model::graph& old, detail::graph_state& now) {
  bool any = false;
  for (std::uint32_t i = 0; i < now.nodes.size(); ++i) {
    const model::node_value value = old.value(i);
    if (now.nodes.same(i, value)) continue;
    any = true;
    const auto saved = std::make_shared<const model::node_value>(value);
    for (exec_values* const values : now.executables) values->save(i, saved);
  }
  return any;
}

}  // namespace

CUgraph make_graph(const driver_table& table) {
  return make_handle(table, &driver_table::graph_create, &driver_table::graph_destroy, 0U);
}

void give_owners_to_graph(const detail::graph_state& graph) {
  owner_box box(*graph.table);
  box.replace(graph.record);
  call(*graph.table, &driver_table::graph_retain_user_object, graph.handle, box.object(), 1U, 0U);
}

void close_graph(detail::graph_state& graph) {
  graph.memory.reset();
  const CUgraph handle = std::exchange(graph.handle, nullptr);
  release_or_throw(*graph.table, handle, &driver_table::graph_destroy, handle);
}

void read_again(detail::graph_state& graph) {
  layout_cache layouts(*graph.table);
  const graph_content now =
      read_content(*graph.table, graph.handle, layouts, attribute_check::semantic);
  const std::vector<CUgraphNode> old_handles = std::exchange(graph.node_handles, now.handles);
  const model::graph old = std::exchange(graph.nodes, now.nodes);
  carry_over(old, old_handles, graph);
  graph.damaged.clear();
  graph.stamp = new_stamp();
  const bool same_structure = old_handles == graph.node_handles &&
                              !model::first_mismatch(old.structure(), graph.nodes.structure());
  if (!same_structure) {
    graph.origin = node_origin::unknown;
    graph.has_foreign_nodes = true;
    for (exec_values* const values : graph.executables) {
      values->structure_changed = true;
      values->old.clear();
    }
  }
  if (same_structure && !save_differences(old, graph)) return;
  graph.record = make_record(graph, graph.record->kept, graph.record->foreign);
  ++graph.generation;
}

}  // namespace cugraft
