// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "capture/apply.hpp"
#include "capture/graph_edit.hpp"
#include "capture/graph_state.hpp"
#include "driver/call.hpp"
#include "handles/ownership.hpp"
#include "model/difference.hpp"

// Graphs made, read again after edits by others, replaced, and closed.

namespace cugraft {
namespace {

// A driver's graph that executables came from and that is nobody's any more.
struct former_graph {
  explicit former_graph(const driver_table* of) noexcept : table(of) {}
  former_graph(const former_graph&) = delete;
  former_graph& operator=(const former_graph&) = delete;
  ~former_graph() {
    if (handle != nullptr) release_or_report(*table, handle, &driver_table::graph_destroy, handle);
  }

  const driver_table* table;
  CUgraph handle = nullptr;
};

// What cugraft knows of nodes that are still the same node: tag, and owner where it does the same.
void carry_over(const detail::graph_state& old, graph_content& now) {
  std::unordered_map<CUgraphNode, std::size_t> former;
  for (std::size_t i = 0; i < old.node_handles.size(); ++i) former.emplace(old.node_handles[i], i);
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    const auto found = former.find(now.handles[i]);
    if (found == former.end() || old.nodes.kind(found->second) != now.nodes.kind(i)) continue;
    now.nodes.set_tag(i, std::string(old.nodes.tag(found->second)));
    model::node_value value = old.nodes.value(found->second);
    if (now.nodes.same(i, value)) now.nodes.assign(i, std::move(value));
  }
}

// The contexts of nodes that are still there.
std::vector<CUcontext> contexts_of(const detail::graph_state& graph,
                                   const std::vector<CUgraphNode>& nodes) {
  std::vector<CUcontext> contexts;
  if (graph.contexts.empty()) return contexts;
  std::unordered_map<CUgraphNode, CUcontext> known;
  for (std::size_t i = 0; i < graph.node_handles.size(); ++i)
    known.emplace(graph.node_handles[i], graph.contexts[i]);
  for (const CUgraphNode node : nodes) contexts.push_back(known[node]);
  return contexts;
}

// Whether cugraft knows all that the nodes do; of others it cannot tell what an edit changed.
bool has_only_read_nodes(const model::graph& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes.kind(i) != node_kind::empty && !nodes.has_parameters(i)) return false;
  return true;
}

// @return whether there are any
bool save_differences(const detail::graph_state& old, const model::graph& now, graph_edit& edit) {
  bool any = false;
  for (std::uint32_t i = 0; i < now.size(); ++i) {
    const model::node_value value = old.nodes.value(i);
    if (now.same(i, value)) continue;
    any = true;
    edit.save_for_executables(i, value);
  }
  return any;
}

void learn(model::node_value& value, const model::attributes& read) {
  auto& held = std::get<model::kernel_value>(value.data).attributes;
  if (held.known_to >= model::known::readable) return;
  if (held.known_to == model::known::nothing) held = read;
  held.others = read.others;
  held.known_to = read.known_to;
}

// The graph's launch attributes are the executable's too, unless some that were known differ.
void learn(exec_values& values, std::uint32_t node, const model::node_value& now,
           const model::attributes& read) {
  old_values::entry* const old = values.old.find(node);
  if (old == nullptr || model::attributes_differ(*old->value, now)) return;
  auto learnt = std::make_shared<model::node_value>(*old->value);
  learn(*learnt, read);
  old->value = std::move(learnt);
}

// The nodes of the graph itself. A conditional node that was destroyed is nobody's any more.
captured_graph read_root(const detail::graph_state& graph, std::vector<CUgraphNode> handles) {
  captured_graph root = read_in_order(*graph.table, std::move(handles));
  for (std::size_t i = 0; i < root.nodes.size(); ++i)
    for (const known_conditional& each : graph.conditionals)
      if (each.node == root.nodes[i] && root.structure.kind(i) == node_kind::conditional)
        root.structure.set_condition(i, each.value);
  return root;
}

// What a failed re-capture could not put back is tried a last time; the graph is not used after it.
void leave_sound(detail::graph_state& graph) {
  if (graph.damaged.empty()) return;
  try {
    const graph_context_scope current(graph);
    repair(graph);
  } catch (...) {
    graph.damaged.clear();
    throw;
  }
}

}  // namespace

CUgraph make_graph(const driver_table& table) {
  return make_handle(table, &driver_table::graph_create, &driver_table::graph_destroy, 0U);
}

void give_owners_to_graph(const detail::graph_state& graph) {
  const generation_record& record = *graph.record;
  if (record.node_owners.empty() && record.kept.empty() && !record.foreign) return;
  owner_box box(*graph.table);
  box.replace({graph.record});
  call(*graph.table, &driver_table::graph_retain_user_object, graph.handle, box.object(), 1U, 0U);
}

void close_graph(detail::graph_state& graph) {
  graph.native_memory.reset();
  graph.direct_memory.reset();
  if (graph.is_borrowed) return leave_sound(graph);
  const CUgraph handle = std::exchange(graph.handle, nullptr);
  graph.note_handle();
  release_or_throw(*graph.table, handle, &driver_table::graph_destroy, handle);
}

void read_again(detail::graph_state& graph) {
  layout_cache layouts(*graph.table);
  std::vector<CUgraphNode> handles = nodes_of(*graph.table, graph.handle);
  const std::unordered_set<CUgraphNode> there(handles.begin(), handles.end());
  std::vector<CUgraphNode> known = graph.node_handles;
  std::erase_if(known, [&](CUgraphNode node) { return !there.contains(node); });
  const bool in_order = put_in_creation_order(handles, known);
  captured_graph tree = read_root(graph, std::move(handles));
  read_inner(*graph.table, tree, graph.node_handles, graph.conditionals);
  graph_content now = read_content(*graph.table, std::move(tree), layouts, graph.attributes);
  carry_over(graph, now);
  const bool same_structure =
      now.handles == graph.node_handles &&
      !model::first_mismatch(graph.nodes.structure(), now.nodes.structure());
  const bool is_all_read = has_only_read_nodes(now.nodes);
  graph_edit edit(graph);
  const bool differs = !same_structure || !is_all_read || save_differences(graph, now.nodes, edit);
  record_ptr record = make_record(owners_of(now.nodes), graph.record->kept, graph.record->foreign);

  std::vector<CUcontext> contexts = contexts_of(graph, now.handles);

  edit.commit();  // from here on nothing fails
  std::swap(graph.contexts, contexts);
  std::swap(graph.nodes, now.nodes);
  std::swap(graph.node_handles, now.handles);
  graph.damaged.clear();
  graph.stamp = new_stamp();
  if (!same_structure || !in_order) {
    graph.origin = node_origin::unknown;
    graph.has_foreign_nodes = true;
  }
  if (!same_structure || !in_order || !is_all_read) {
    for (exec_values* const values : graph.executables) {
      values->structure_changed = true;
      values->old.clear();
    }
  }
  if (!differs) return;
  graph.record = std::move(record);
  ++graph.generation;
}

void replace_structure(detail::graph_state& graph, detail::graph_state& fresh) {
  const auto former = std::make_shared<former_graph>(graph.table);
  former->handle = std::exchange(graph.handle, std::exchange(fresh.handle, nullptr));
  fresh.note_handle();
  graph.note_handle();
  graph.native_memory.reset();
  graph.origin = fresh.origin;
  graph.has_foreign_nodes = fresh.has_foreign_nodes;
  std::swap(graph.nodes, fresh.nodes);
  std::swap(graph.node_handles, fresh.node_handles);
  std::swap(graph.contexts, fresh.contexts);
  std::swap(graph.conditionals, fresh.conditionals);
  graph.record = std::move(fresh.record);
  graph.damaged.clear();
  graph.stamp = new_stamp();
  ++graph.generation;
  for (exec_values* const values : graph.executables) {
    values->structure_changed = true;
    values->old.clear();
    if (!values->former_graph) values->former_graph = former;
  }
}

void learn_attributes(detail::graph_state& graph, attribute_check attributes) {
  if (attributes != attribute_check::all) return;
  graph.attributes = attributes;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes.kind(i) != node_kind::kernel) continue;
    if (graph.nodes.kernel(i).attributes->known_to >= model::known::readable) continue;
    model::node_value value = graph.nodes.value(i);
    const model::attributes read = read_attributes(*graph.table, graph.node_handles[i], attributes);
    for (exec_values* const values : graph.executables) learn(*values, i, value, read);
    learn(value, read);
    graph.nodes.assign(i, std::move(value));
  }
}

void read_afresh(detail::graph_state& graph) {
  if (!graph.is_borrowed) return;
  const graph_context_scope current(graph);
  if (!graph.damaged.empty()) {  // the owner may have destroyed such a node meanwhile
    const captured_graph now = read_tree(*graph.table, graph.handle, {}, graph.conditionals);
    const std::unordered_set<CUgraphNode> there(now.nodes.begin(), now.nodes.end());
    std::erase_if(graph.damaged, [&](const damaged_node& each) {
      return !there.contains(graph.node_handles[each.node]);
    });
  }
  repair(graph);
  read_again(graph);
}

}  // namespace cugraft
