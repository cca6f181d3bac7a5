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
namespace detail {

graph_state::~graph_state() {
  native_memory.reset();
  direct_memory.reset();
  fork_streams.clear();
  try {
    if (is_borrowed) close_graph(*this);
  } catch (const std::exception& thrown) {
    report(thrown.what());
  }
  held.set(nullptr, nullptr);  // before the handle is free to come again
  if (owns_handle && handle != nullptr)
    release_or_report(*table, handle, &driver_table::graph_destroy, handle);
}

}  // namespace detail

bool has_context(node_kind kind) noexcept {
  return kind == node_kind::kernel || kind == node_kind::copy || kind == node_kind::fill;
}

CUcontext context_of(const detail::graph_state& graph, std::uint32_t node) noexcept {
  return graph.contexts.empty() ? graph.context : graph.contexts[node];
}

std::uint64_t new_stamp() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void refuse_while_open(const detail::graph_state& graph, std::string_view what) {
  if (graph.is_updating)
    throw usage_error(identify(graph.handle) +
                      " is being updated from another graph, whose hook must leave it alone: "
                      "finish before " +
                      std::string(what));
  if (graph.open_session.expired()) return;
  throw usage_error(identify(graph.handle) + " has an open session: end or abandon it before " +
                    std::string(what));
}

void refuse_lost(const detail::graph_state& graph) {
  if (!graph.is_lost) return;
  throw graph_lost_error(identify(graph.handle) +
                         " was lost by a re-capture in place that failed: destroy it, and capture "
                         "a new graph; its executables still launch");
}

graph_content read_content(const driver_table& table, graph_structure structure,
                           layout_cache& layouts, attribute_check attributes) {
  graph_content content;
  for (std::size_t index = 0; index < structure.structure.level_count(); ++index) {
    const model::level of = structure.structure.level(index);
    if (index > 0) content.nodes.begin_level(of.parent, of.body);
    for (std::size_t i = of.first; i < of.first + of.count; ++i) {
      model::node_value value = read_node(table, structure.nodes[i], layouts, attributes);
      if (const auto* condition = structure.structure.condition(i)) value.data = *condition;
      content.nodes.append(std::move(value), structure.structure.dependencies(i));
    }
  }
  content.handles = std::move(structure.nodes);
  return content;
}

graph_context_scope::graph_context_scope(const detail::graph_state& graph) {
  if (graph.context != nullptr)
    scope_.emplace(context::borrow(driver_of(*graph.table), graph.context));
}

void require_context(const detail::graph_state& graph) {
  if (graph.context != nullptr) return;
  CUcontext current = nullptr;
  check(graph.table->ctx_get_current(&current), "cuCtxGetCurrent");
  if (current == nullptr)
    throw usage_error(identify(graph.handle) +
                      " was made by others, so that its context is not known, and this thread has "
                      "none: make current the one that it is for");
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
