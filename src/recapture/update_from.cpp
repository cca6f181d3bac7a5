// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/apply.hpp"
#include "capture/captured_graph.hpp"
#include "capture/owners.hpp"
#include "cugraft/graph.hpp"
#include "engines/registry.hpp"
#include "handles/held_handle.hpp"
#include "recapture/choose_engine.hpp"
#include "recapture/conclude.hpp"

// The back half of a re-capture, for programs that capture afresh and hand the new graph in.

namespace cugraft {
namespace {

using detail::access;
using detail::graph_state;

void refuse_other_options(const graph_state& graph, const recapture_options& options) {
  cugraft::refuse_options(graph, options);
  if (options.with != engine::automatic && options.with != engine::compare)
    throw usage_error("update_from compares two graphs, as engine::compare does: " +
                      std::string(to_string(options.with)) +
                      " has nothing to do in it; leave recapture_options::with out");
  if (options.replace_structure)
    throw usage_error(
        "update_from does not replace the structure: where it fails for another one, assign the "
        "new graph and instantiate it");
  if (options.in_place)
    throw usage_error("update_from makes no re-capture in place: leave in_place out");
  if (options.on_native_mismatch)
    throw usage_error(
        "update_from makes no driver call of native's: use recapture_options::on_mismatch");
}

/// A graph that was captured elsewhere, and what is known of it.
struct other_graph {
  const model::graph* nodes = nullptr;
  std::span<const CUgraphNode> handles;
  owner_list kept;
  bool has_foreign_nodes = true;
  std::vector<CUcontext> contexts{};  ///< by node, where one of the graphs spans several
};

// `keep` makes what has to live as long as something of the other graph is needed.
template <class Keep>
recapture_result take_over(graph_state& graph, const other_graph& other,
                           const recapture_options& options, const Keep& keep) {
  refuse_unreadable(graph);
  recapture_outcome outcome = compare_with(graph, *other.nodes, other.handles, other.contexts);
  recapture_content content{other.kept, {}};
  for (std::uint32_t i = 0; !outcome.failure && i < other.nodes->size(); ++i)
    if (const std::string_view tag = other.nodes->tag(i); !tag.empty() && tag != graph.nodes.tag(i))
      content.tags.emplace_back(i, tag);
  const bool is_applied = !outcome.failure && !options.compare_only;
  // With a new record the old one's goes, so what this graph's nodes need comes in.
  if (is_applied && (!outcome.changes.empty() || !outcome.owners.empty() ||
                     !same_owners(other.kept, graph.record->kept)))
    outcome.foreign_owner = keep();
  recapture_result result =
      conclude({graph, options, engine::compare}, outcome, std::move(content));
  if (result && is_applied && !result.report().changes().empty())
    graph.has_foreign_nodes |= other.has_foreign_nodes;
  return result;
}

// The graph of a call that is under way: nothing else is done with it, not by a hook either, and it
// lives until the end.
class updating {
 public:
  explicit updating(const std::shared_ptr<graph_state>& state) : state_(state) {
    if (!state) throw usage_error("the graph is empty: it was moved from, released or reset");
    refuse_lost(*state);
    refuse_while_open(*state, "updating it from another graph");
    state->is_updating = true;
  }
  updating(const updating&) = delete;
  updating& operator=(const updating&) = delete;
  ~updating() { state_->is_updating = false; }

  graph_state& get() const noexcept { return *state_; }

 private:
  std::shared_ptr<graph_state> state_;
};

void refuse_itself(const graph_state& graph, CUgraph other) {
  if (other == graph.handle)
    throw usage_error("update_from: " + identify(graph.handle) +
                      " was given itself: give another graph");
}

recapture_result update(graph_state& graph, CUgraph other, const recapture_options& options) {
  refuse_other_options(graph, options);
  if (other == nullptr) throw usage_error("update_from: the other graph is null: give a graph");
  refuse_itself(graph, other);
  if (held_handle<CUgraph>::is_held(*graph.table, other))
    throw usage_error("update_from: " + identify(other) +
                      " is the handle of a cugraft::graph, which does not show what its nodes "
                      "need: give that graph, or release it first");
  read_afresh(graph);
  const graph_context_scope current(graph);
  learn_attributes(graph, options.attributes);
  layout_cache layouts(*graph.table);
  const graph_content content = read_content(*graph.table, read_tree(*graph.table, other, {}, {}),
                                             layouts, options.attributes);
  other_graph what{&content.nodes, content.handles, graph.record->kept};
  if (!graph.contexts.empty()) what.contexts.resize(content.nodes.size());  // nobody tells them
  return take_over(graph, what, options, [&] { return clone_as_owner(*graph.table, other); });
}

void require_fitting(const graph_state& graph, const graph_state& other) {
  refuse_lost(other);
  refuse_while_open(other, "another graph is updated from it");
  if (other.table != graph.table)
    throw usage_error(identify(graph.handle) + " and " + identify(other.handle) +
                      " are of two drivers: update from a graph of the same one");
  if (other.context != graph.context && other.context != nullptr && graph.context != nullptr)
    throw usage_error(identify(graph.handle) + " was captured in " + identify(graph.context) +
                      ", and " + identify(other.handle) + " in " + identify(other.context) +
                      ": update from a graph of the same context");
}

recapture_result update(graph_state& graph, std::shared_ptr<graph_state> other,
                        const recapture_options& options) {
  refuse_other_options(graph, options);
  if (!other)
    throw usage_error("update_from: the other graph is empty: give one that was captured");
  refuse_itself(graph, other->handle);
  require_fitting(graph, *other);
  {
    const graph_context_scope current(*other);
    repair(*other);
  }
  read_afresh(*other);
  read_afresh(graph);
  const graph_context_scope current(graph);
  learn_attributes(*other, options.attributes);
  learn_attributes(graph, options.attributes);
  other_graph what{&other->nodes, other->node_handles, other->record->kept,
                   other->has_foreign_nodes};
  for (std::uint32_t i = 0; i < other->nodes.size(); ++i)
    if (!graph.contexts.empty() || !other->contexts.empty())
      what.contexts.push_back(context_of(*other, i));
  return take_over(graph, what, options, [&] {
    if (other->is_borrowed) return clone_as_owner(*graph.table, other->handle);
    return released_relaxed(*graph.table, std::move(other));
  });
}

}  // namespace

recapture_result graph::try_update_from(CUgraph other, const recapture_options& options) {
  return update(updating(state_).get(), other, options);
}

recapture_result graph::try_update_from(graph other, const recapture_options& options) {
  return update(updating(state_).get(), std::move(other.state_), options);
}

change_report graph::update_from(CUgraph other, const recapture_options& options) {
  return try_update_from(other, options).report();
}

change_report graph::update_from(graph other, const recapture_options& options) {
  return try_update_from(std::move(other), options).report();
}

}  // namespace cugraft
