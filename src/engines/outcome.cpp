// SPDX-License-Identifier: Apache-2.0
#include "engines/outcome.hpp"

#include <string>
#include <utility>

#include "base/identify.hpp"
#include "capture/failures.hpp"
#include "capture/host_payload.hpp"
#include "model/difference.hpp"

namespace cugraft {
namespace {

// Attributes that do not differ are not written, so the graph's node goes on with its own.
void keep_known_attributes(const model::node_value& before, model::node_value& after) {
  auto* const now = std::get_if<model::kernel_value>(&after.data);
  if (now == nullptr || model::attributes_differ(before, after)) return;
  const auto& held = std::get<model::kernel_value>(before.data).attributes;
  if (now->attributes.known_to < held.known_to) now->attributes = held;
}

}  // namespace

std::optional<node_summary> summary_at(const detail::graph_state& graph, std::size_t position) {
  if (position >= graph.nodes.size()) return std::nullopt;
  return summary_of(graph.nodes, position);
}

std::optional<node_summary> summary_at(const model::graph& nodes,
                                       const model::structure_mismatch& differs) {
  if (!nodes.structure().level(differs.level).has(differs.position)) return std::nullopt;
  return summary_of(nodes, differs.position);
}

found_nodes found_in(const detail::session_state& session,
                     const model::structure_mismatch& differs) {
  const model::level level = session.found().level(differs.level);
  found_nodes found{level.count, std::nullopt};
  if (level.has(differs.position)) found.first_difference = session.found_summary(differs.position);
  return found;
}

bool ended_early(const detail::session_state& session, const model::structure_mismatch& differs) {
  return session.failure() && differs.why == mismatch::node_count &&
         !session.found().level(differs.level).has(differs.position);
}

recapture_failure structural_failure(const detail::graph_state& graph,
                                     const model::structure_mismatch& differs, found_nodes found,
                                     engine used, const char* function) {
  recapture_failure failure;
  failure.why = differs.why;
  failure.function = function;
  failure.nodes_matched = differs.position;
  failure.used = used;
  failure.expected = summary_at(graph.nodes, differs);
  failure.found = std::move(found.first_difference);
  failure.message =
      mismatch_message({failure.why, failure.expected, failure.found, differs.position,
                        graph.nodes.structure().level(differs.level).count, found.count,
                        differs.from ? summary_at(graph, *differs.from) : std::nullopt});
  if (differs.from) failure.involved = {summary_of(graph.nodes, *differs.from)};
  return failure;
}

bool spans_contexts(const detail::graph_state& graph,
                    const detail::session_state& session) noexcept {
  return !graph.contexts.empty() || session.spans_contexts();
}

std::vector<CUcontext> contexts_of(std::span<const node_note* const> notes) {
  std::vector<CUcontext> contexts;
  for (const node_note* const note : notes)
    contexts.push_back(note != nullptr ? note->context : nullptr);
  return contexts;
}

namespace {

recapture_failure failure_at(const detail::graph_state& graph, std::uint32_t node, mismatch why,
                             const std::string& text, engine used) {
  recapture_failure failure;
  failure.why = why;
  failure.nodes_matched = node;
  failure.used = used;
  failure.expected = failure.found = summary_of(graph.nodes, node);
  failure.message = describe_node(*failure.found) + text;
  return failure;
}

}  // namespace

recapture_failure moved_failure(const detail::graph_state& graph, std::uint32_t node, CUcontext now,
                                engine used) {
  return failure_at(graph, node, mismatch::context,
                    " moved from " + identify(context_of(graph, node)) + " to " + identify(now) +
                        ", which nothing in the driver can apply; enqueue it on a stream of the "
                        "former, or capture a new graph",
                    used);
}

std::optional<recapture_failure> context_failure(const detail::graph_state& graph,
                                                 std::span<const CUcontext> contexts, engine used) {
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    if (!has_context(graph.nodes.kind(node))) continue;
    const CUcontext before = context_of(graph, node), now = contexts[node];
    if (before == now && now != nullptr) continue;
    if (before != nullptr && now != nullptr) return moved_failure(graph, node, now, used);
    // The function of a kernel tells its context, and is compared.
    if (graph.nodes.kind(node) == node_kind::kernel) continue;
    return failure_at(graph, node, mismatch::unknown_node,
                      " was made by foreign code in a session of several contexts, and no driver "
                      "tells in which it runs; make it through cugraft",
                      used);
  }
  return std::nullopt;
}

recapture_failure unreadable_failure(const detail::graph_state& graph, const cuda_error& thrown,
                                     engine used) {
  recapture_failure failure;
  failure.why = mismatch::driver_failure;
  failure.code = thrown.code();
  failure.function = thrown.function();
  failure.nodes_matched = graph.nodes.size();
  failure.used = used;
  failure.message = std::string("the re-capture matched, but what changed could not be read; ") +
                    graph_after_failure(graph.is_lost) + ": " + thrown.what();
  return failure;
}

model::attributes attributes_now(const detail::graph_state& graph, const node_note* note,
                                 CUgraphNode node, attribute_check attributes) {
  if (note != nullptr && note->attributes) return *note->attributes;
  return read_attributes(*graph.table, node, attributes);
}

bool same_payload(const model::node_value& before, const model::node_value& after) {
  const host_payload* const old = payload_of(before);
  const host_payload* const now = payload_of(after);
  return old != nullptr && now != nullptr && same_host_function(old->function, now->function);
}

raw_change& add_change(recapture_outcome& outcome, const detail::graph_state& graph,
                       std::uint32_t node, std::string_view tag, model::node_value now) {
  return add_change(outcome, graph, node, tag, graph.nodes.value(node), std::move(now));
}

raw_change& add_change(recapture_outcome& outcome, const detail::graph_state& graph,
                       std::uint32_t node, std::string_view tag, model::node_value&& before,
                       model::node_value&& now) {
  // Room for all at once: a change is large, and moving many is most of what they cost.
  if (outcome.changes.empty()) outcome.changes.reserve(graph.nodes.size());
  raw_change& change = outcome.changes.emplace_back();
  change.position = node;
  change.node = graph.node_handles[node];
  change.before = std::move(before);
  change.after = std::move(now);
  // Before what is known of the old launch is taken for the new one.
  change.judgement = model::judge(change.before, change.after);
  try {
    keep_known_attributes(change.before, change.after);
    if (node >= graph.nodes.top_size()) change.path = graph.nodes.structure().path_of(node);
    change.tag = tag;
  } catch (...) {
    outcome.changes.pop_back();
    throw;
  }
  return change;
}

std::string_view tag_now(const detail::graph_state& graph, const detail::session_state& session,
                         std::uint32_t node, const node_note* note) {
  return note != nullptr ? session.tag_text(note->tag) : graph.nodes.tag(node);
}

void note_owner(const detail::graph_state& graph, std::uint32_t node, const node_note* note,
                recapture_outcome& outcome) {
  if (note != nullptr && note->owner && note->owner != graph.nodes.owner(node))
    outcome.owners.emplace_back(node, note->owner);
}

}  // namespace cugraft
