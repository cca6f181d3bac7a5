// SPDX-License-Identifier: Apache-2.0
#include "recapture/conclude.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/report.hpp"
#include "capture/executable.hpp"
#include "capture/failures.hpp"
#include "capture/graph_edit.hpp"
#include "cugraft/error.hpp"

namespace cugraft {
namespace {

using clock = std::chrono::steady_clock;

// Whether the driver has worked on the graph itself, so that what is not applied loses it.
bool loses_graph(const concluded& run) noexcept {
  return run.options.in_place && run.used == engine::native;
}

recapture_failure rejected_failure(const concluded& run, const raw_change& change) {
  recapture_failure failure;
  failure.why = mismatch::rejected;
  failure.nodes_matched = run.graph.nodes.size();
  failure.used = run.used;
  failure.found = summary_of(run.graph.nodes, change.position);
  failure.message = "the change of " + describe_node(*failure.found) +
                    " was rejected by the mismatch hook; " + graph_after_failure(loses_graph(run));
  return failure;
}

recapture_failure apply_failure(const concluded& run, int code, std::string function) {
  recapture_failure failure;
  failure.why = mismatch::driver_failure;
  failure.code = code;
  failure.function = std::move(function);
  failure.nodes_matched = run.graph.nodes.size();
  failure.used = run.used;
  const bool put_back = run.graph.damaged.empty();
  if (loses_graph(run)) {
    failure.message =
        "the re-capture matched, but the driver refused a change of the graph; " +
        (graph_after_failure(true) + (": " + failure_text(failure.code, failure.function, {})));
    return failure;
  }
  failure.message =
      std::string("the re-capture matched, but the driver refused a change of the graph, ") +
      (put_back ? "which is what it was: "
                : "and to put all of it back, which is tried again before the graph is "
                  "used next: ") +
      failure_text(failure.code, failure.function, {});
  return failure;
}

// The hook sees every change before anything is applied; the first that it rejects decides.
std::optional<recapture_failure> ask_hook(const concluded& run, const recapture_outcome& outcome) {
  if (!run.options.on_mismatch) return std::nullopt;
  for (const raw_change& change : outcome.changes)
    if (run.options.on_mismatch(format_change(change)) == hook_answer::reject)
      return rejected_failure(run, change);
  return std::nullopt;
}

// What keeps alive what the graph's nodes point to from now on. Made only where it differs.
// @return whether an owner that cugraft was given is another
bool renew_record(const detail::graph_state& graph, graph_edit& edit, owner_list kept,
                  const recapture_outcome& outcome) {
  bool owners_differ = !outcome.owners.empty() || !same_owners(kept, graph.record->kept);
  for (const raw_change& change : outcome.changes)
    owners_differ |= change.before.owner != change.after.owner;
  if (!owners_differ) {
    if (outcome.foreign_owner) edit.renew_foreign(outcome.foreign_owner);
    return false;
  }
  for (const auto& [node, owner] : outcome.owners) edit.set_owner(node, owner);
  edit.renew_record(std::move(kept), outcome.foreign_owner);
  return true;
}

void fill_report(detail::report_state& state, const concluded& run,
                 recapture_outcome& outcome) noexcept {
  state.used = run.used;
  state.nodes_total = run.graph.nodes.size();
  state.generation = run.graph.generation;
  state.timing = outcome.timing;
  for (raw_change& change : outcome.changes) {
    state.overall = std::max(state.overall, change.judgement.effect);
    change.before.owner.reset();  // a report keeps nothing of the graph alive
    change.after.owner.reset();
  }
  state.raw = std::move(outcome.changes);
  if (state.raw.size() < state.raw.capacity() / 2) state.raw.shrink_to_fit();
}

std::optional<recapture_failure> apply(const concluded& run, recapture_outcome& outcome,
                                       recapture_content content) {
  detail::graph_state& graph = run.graph;
  const auto begun = clock::now();
  const graph_context_scope current(graph);
  repair(graph);
  graph_edit edit(graph, outcome.changes.size());
  for (const raw_change& change : outcome.changes)
    edit.set_value(change.position, change.before, change.after);
  for (auto& [node, tag] : content.tags) edit.set_tag(node, std::move(tag));
  const bool owners_changed = renew_record(graph, edit, std::move(content.kept), outcome);
  if (const call_result result = apply_changes(graph, outcome.changes); !result.ok())
    return apply_failure(run, static_cast<int>(result.code), result.function);
  edit.commit();
  if (!outcome.changes.empty()) graph.stamp = new_stamp();
  if (owners_changed || !outcome.changes.empty()) ++graph.generation;
  outcome.timing.apply = clock::now() - begun;
  return std::nullopt;
}

// The graph is another one from now on, with what came with it.
void replace(const concluded& run, recapture_outcome& outcome, detail::report_state& report) {
  const auto begun = clock::now();
  {
    const graph_context_scope current(run.graph);
    // What an executable could not put back is a node of the graph that goes.
    for (exec_values* const each : run.graph.executables) repair(*static_cast<executable*>(each));
    replace_structure(run.graph, *outcome.replacement);
  }
  report.structure_replaced = true;
  report.overall = verdict::needs_instantiate;
  outcome.timing.apply = clock::now() - begun;
}

}  // namespace

recapture_result conclude(const concluded& run, recapture_outcome& outcome,
                          recapture_content content) {
  if (!outcome.failure) outcome.failure = ask_hook(run, outcome);
  const auto report = std::make_shared<detail::report_state>();
  if (!outcome.failure && !run.options.compare_only) {
    try {
      if (outcome.replacement)
        replace(run, outcome, *report);
      else
        outcome.failure = apply(run, outcome, std::move(content));
    } catch (const cuda_error& thrown) {  // before anything was set
      outcome.failure = apply_failure(run, thrown.code(), thrown.function());
    }
  }
  if (!outcome.failure) {
    fill_report(*report, run, outcome);
    return detail::report_state::make(std::move(report));
  }
  outcome.failure->graph_lost = loses_graph(run);
  run.graph.last_failure = *outcome.failure;
  return recapture_result(std::move(*outcome.failure));
}

}  // namespace cugraft
