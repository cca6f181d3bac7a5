// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <utility>

#include "capture/failures.hpp"
#include "capture/graph_state.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"

// Graphs inside of nodes, in a session whose calls are compared with the graph's nodes as they are
// made. A body is a session of its own, which holds its streams in a capture of its own and is
// compared with the nodes of that body; an embedded graph is compared whole, at the call.

namespace cugraft {
namespace {

// Whether the graph in `node` is like `content`, the graphs in it included: then the nodes inside
// are numbered alike, too.
bool has_content(const model::structure& nodes, std::size_t node, const model::structure& content) {
  const std::vector<std::uint32_t> inside = positions_inside(nodes, node);
  const auto same_dependency = [&](const model::dependency& a, const model::dependency& b) {
    return a.node == inside[b.node] && a.data == b.data;
  };
  if (inside.size() != content.size() ||
      nodes.level(nodes.levels_in(node).first).count != content.level(0).count)
    return false;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (nodes.kind(inside[i]) != content.kind(i) ||
        !std::ranges::equal(nodes.dependencies(inside[i]), content.dependencies(i),
                            same_dependency))
      return false;
    const auto [first, count] = nodes.levels_in(inside[i]);
    const auto [first_given, given] = content.levels_in(i);
    if (count != given) return false;
    for (std::size_t k = 0; k < count; ++k)
      if (nodes.level(first + k).count != content.level(first_given + k).count) return false;
  }
  return true;
}

found_tree tree_of(const model::graph& nodes) {
  found_tree tree{nodes.structure(), {}};
  for (std::size_t i = 0; i < nodes.size(); ++i)
    tree.names.emplace_back(nodes.name(i), nodes.tag(i));
  return tree;
}

// The graph in the child graph node `node`, by itself.
found_tree tree_inside(const model::graph& graph, std::size_t node) {
  const model::structure& nodes = graph.structure();
  found_tree tree;
  std::vector<std::size_t> places;  // in `graph`, of each node of the tree
  const auto add_level = [&](std::size_t index) {
    const model::level of = nodes.level(index);
    const auto first = static_cast<std::uint32_t>(places.size());
    std::vector<model::dependency> edges;
    for (std::size_t i = of.first; i < of.first + of.count; ++i) {
      const auto dependencies = nodes.dependencies(i);
      edges.assign(dependencies.begin(), dependencies.end());
      for (model::dependency& edge : edges) edge.node += first - of.first;
      tree.nodes.append(nodes.kind(i), edges);
      tree.names.emplace_back(graph.name(i), graph.tag(i));
      places.push_back(i);
    }
  };
  add_level(nodes.levels_in(node).first);
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const auto [first, count] = nodes.levels_in(places[i]);
    for (std::uint32_t body = 0; body < count; ++body) {
      tree.nodes.begin_level(i, body);
      add_level(first + body);
    }
  }
  return tree;
}

// Adds a kernel like `node`, with all of its attributes, to what is captured on `stream`.
call_result add_alike(const driver_table& table, CUstream stream, CUgraphNode node) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  CUgraphNode made = nullptr;
  CUDA_KERNEL_NODE_PARAMS params = {};
  if (const CUresult code = table.stream_get_capture_info(stream, &status, nullptr, &graph, nullptr,
                                                          nullptr, nullptr);
      code != CUDA_SUCCESS)
    return {code, "cuStreamGetCaptureInfo"};
  if (const CUresult code = table.graph_kernel_node_get_params(node, &params); code != CUDA_SUCCESS)
    return {code, "cuGraphKernelNodeGetParams"};
  if (const CUresult code = table.graph_add_kernel_node(&made, graph, nullptr, 0, &params);
      code != CUDA_SUCCESS)
    return {code, "cuGraphAddKernelNode"};
  return {table.graph_kernel_node_copy_attributes(made, node), "cuGraphKernelNodeCopyAttributes"};
}

}  // namespace

namespace detail {

void session_state::start_comparing(const model::level& level) noexcept {
  matched_ = first_expected_ = level.first;
  end_expected_ = level.first + level.count;
  is_comparing_ = true;
}

bool session_state::is_whole() const noexcept {
  const auto is_whole_inside = [](const open_conditional& each) {
    return std::ranges::all_of(each.bodies, [](const auto& body) { return body->is_whole(); });
  };
  return is_comparing_ && matched_ == end_expected_ &&
         std::ranges::all_of(open_conditionals_, is_whole_inside);
}

// A node that holds nothing which could be asked about.
void session_state::compare_holder(lane& where, model::node_value&& now) {
  const auto nothing = [](CUstream) { return call_result{}; };
  compare_call(where, {}, std::move(now), repetition(nothing));
}

// What it does is compared before the node itself: where that fails, the session has failed, since
// a part of it is compared already.
void session_state::compare_embedded(lane& where, const graph_state& child) {
  const bool is_graphs =
      is_comparing_ && !tree_->has_failed && is_next(where, node_kind::child_graph, false) &&
      has_content(client_->expected().structure(), matched_, child.nodes.structure());
  if (!is_graphs) diverge();
  try {
    if (is_graphs) compare_inside(child);
    compare_holder(where, {node_kind::child_graph, model::child_value{}, {}});
  } catch (const std::bad_alloc&) {
    fail({mismatch::driver_failure, {CUDA_ERROR_OUT_OF_MEMORY, "cuGraphAddNode"}});
    throw;
  }
  if (!is_comparing_)
    found_children_.insert_or_assign(static_cast<std::uint32_t>(found_.size() - 1),
                                     tree_of(child.nodes));
}

// The attributes of a kernel can be copied from a node only, and that of `child` may be gone at the
// end of the session. What foreign code attached to it has to live on as well.
void session_state::compare_inside(const graph_state& child) {
  const std::vector<std::uint32_t> inside =
      positions_inside(client_->expected().structure(), matched_);
  call_result asked;
  try {
    const context_scope current(context::borrow(driver_of(*table_), context_));
    if (child.has_foreign_nodes) foreign_owners_.push_back(clone_as_owner(*table_, child.handle));
    for (std::size_t i = 0; asked.ok() && i < inside.size(); ++i) {
      const auto again = [&](CUstream stream) {
        return add_alike(*table_, stream, child.node_handles[i]);
      };
      node_note note;
      note.node = child.node_handles[i];
      note.owner = child.nodes.owner(i);
      asked = comparer_->compare(inside[i], note, child.nodes.tag(i), child.nodes.value(i),
                                 repetition(again));
    }
  } catch (const cuda_error& thrown) {
    tree_->functions.push_back(thrown.function());
    asked = {static_cast<CUresult>(thrown.code()), tree_->functions.back().c_str()};
  }
  if (!asked.ok()) fail({mismatch::driver_failure, asked});
}

// Bodies of a node that is the graph's are compared with the graph's, others tracked.
void session_state::compare_conditional(lane& where, const model::conditional_value& value,
                                        const std::vector<std::shared_ptr<session_state>>& bodies) {
  const model::structure& expected = client_->expected().structure();
  const std::size_t node = matched_;
  const auto is_graphs = [&] {
    const model::conditional_value* const own = expected.condition(node);
    return own != nullptr && *own == value && expected.levels_in(node).second == bodies.size();
  };
  if (is_comparing_ && !(is_next(where, node_kind::conditional, false) && is_graphs())) diverge();
  compare_holder(where, {node_kind::conditional, value, {}});
  if (!is_comparing_) {
    found_.set_condition(found_.size() - 1, value);
    for (const auto& body : bodies) body->found_noted_ = true;
    return;
  }
  const std::size_t first = expected.levels_in(node).first;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    bodies[i]->start_comparing(expected.level(first + i));
}

void session_state::note_found_tree() {
  if (bodies_noted_) return;
  note_found();
  const model::graph& expected = client_->expected();
  for (std::size_t i = 0, end = first_tracked(); i < end; ++i)
    if (found_.kind(i) == node_kind::child_graph)
      found_children_.insert_or_assign(static_cast<std::uint32_t>(i),
                                       tree_inside(expected, first_expected_ + i));
  for (const open_conditional& each : open_conditionals_)
    for (const auto& body : each.bodies) body->note_found_tree();
  if (parent_ != nullptr)
    found_body_ = whole_found({found_, {}});
  else
    note_found_bodies();
}

}  // namespace detail
}  // namespace cugraft
