// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "base/report.hpp"
#include "capture/failures.hpp"
#include "capture/graph_edit.hpp"
#include "cugraft/graph.hpp"
#include "recapture/choose_engine.hpp"
#include "recapture/sessions.hpp"

// A re-capture from begin to report: what every engine has in common.

namespace cugraft {
namespace {

using detail::access;
using clock = std::chrono::steady_clock;

recapture_failure rejected_failure(const recapture_run& run, const raw_change& change) {
  recapture_failure failure;
  failure.why = mismatch::rejected;
  failure.nodes_matched = run.graph->nodes.size();
  failure.used = run.engine->which();
  const std::uint32_t node = change.path.steps.front().node;
  failure.found = summary_of(run.graph->nodes, node);
  failure.message = "the change of " + describe_node(*failure.found) +
                    " was rejected by the mismatch hook; the graph is what it was";
  return failure;
}

recapture_failure apply_failure(const recapture_run& run, int code, std::string function) {
  recapture_failure failure;
  failure.why = mismatch::driver_failure;
  failure.code = code;
  failure.function = std::move(function);
  failure.nodes_matched = run.graph->nodes.size();
  failure.used = run.engine->which();
  const bool put_back = run.graph->damaged.empty();
  failure.message =
      std::string("the re-capture matched, but the driver refused a change of the graph, ") +
      (put_back ? "which is what it was: "
                : "and to put all of it back, which is tried again before the graph is "
                  "used next: ") +
      failure_text(failure.code, failure.function, {});
  return failure;
}

// The hook sees every change before anything is applied; the first that it rejects decides.
std::optional<recapture_failure> ask_hook(const recapture_run& run,
                                          const recapture_outcome& outcome) {
  if (!run.options.on_mismatch) return std::nullopt;
  for (const planned_change& change : outcome.changes)
    if (run.options.on_mismatch(format_change(change.raw)) == hook_answer::reject)
      return rejected_failure(run, change.raw);
  return std::nullopt;
}

// What keeps alive what the graph's nodes point to from now on. Made only where it differs.
// @return whether an owner that cugraft was given is another
bool renew_record(const detail::graph_state& graph, graph_edit& edit, owner_list kept,
                  const recapture_outcome& outcome) {
  const owner_list& former = graph.record->kept;
  bool owners_differ =
      !outcome.owners.empty() ||
      !std::equal(kept.begin(), kept.end(), former.begin(), former.end(), &same_owner);
  for (const planned_change& change : outcome.changes)
    owners_differ |= change.raw.before.owner != change.raw.after.owner;
  if (!owners_differ && !outcome.foreign_owner) return false;
  for (const auto& [node, owner] : outcome.owners) edit.set_owner(node, owner);
  edit.renew_record(std::move(kept), outcome.foreign_owner);
  return owners_differ;
}

void renew_tags(graph_edit& edit, const recapture_run& run, const detail::session_state& session) {
  for (const node_note& note : session.notes())
    if (const auto node = run.engine->position(note.node))
      if (run.graph->nodes.tag(*node) != session.tag_text(note.tag))
        edit.set_tag(*node, std::string(session.tag_text(note.tag)));
}

// A report with room for what `fill_report` puts in, which then cannot fail.
std::shared_ptr<detail::report_state> make_report(const recapture_outcome& outcome) {
  auto state = std::make_shared<detail::report_state>();
  state->raw.reserve(outcome.changes.size());
  return state;
}

void fill_report(detail::report_state& state, const recapture_run& run,
                 recapture_outcome& outcome) noexcept {
  state.used = run.engine->which();
  state.nodes_total = run.graph->nodes.size();
  state.generation = run.graph->generation;
  state.timing = outcome.timing;
  for (planned_change& change : outcome.changes) {
    state.overall = std::max(state.overall, change.raw.judgement.effect);
    change.raw.before.owner.reset();  // a report keeps nothing of the graph alive
    change.raw.after.owner.reset();
    state.raw.push_back(std::move(change.raw));
  }
}

std::optional<recapture_failure> apply(const recapture_run& run, detail::session_state& session,
                                       recapture_outcome& outcome) {
  detail::graph_state& graph = *run.graph;
  const auto begun = clock::now();
  const graph_context_scope current(graph);
  repair(graph);
  graph_edit edit(graph);
  for (const planned_change& change : outcome.changes)
    edit.set_value(change.node, change.raw.before, change.raw.after);
  renew_tags(edit, run, session);
  const bool owners_changed = renew_record(graph, edit, std::move(session.kept()), outcome);
  if (const call_result result = apply_changes(graph, outcome.changes); !result.ok())
    return apply_failure(run, static_cast<int>(result.code), result.function);
  edit.commit();
  if (!outcome.changes.empty()) graph.stamp = new_stamp();
  if (owners_changed || !outcome.changes.empty()) ++graph.generation;
  run.engine->applied(graph.stamp);
  outcome.timing.apply = clock::now() - begun;
  return std::nullopt;
}

// The graph stays closed to others until all is done; unless the outcome was applied, nothing of
// the re-capture is used.
class outcome_guard {
 public:
  outcome_guard(recapture_run& run, detail::session_state& session) noexcept
      : run_(run), session_(session) {
    run_.is_finishing = true;
  }
  outcome_guard(const outcome_guard&) = delete;
  outcome_guard& operator=(const outcome_guard&) = delete;
  ~outcome_guard() {
    if (!applied_) run_.engine->dropped();
    run_.graph->open_session.reset();
    session_.drop_contents();
  }
  void applied() noexcept { applied_ = true; }

 private:
  recapture_run& run_;
  detail::session_state& session_;
  bool applied_ = false;
};

// Ends the session if it has failed, for the reason that `graph::last_failure` gives.
void note_failure(recapture_session& session) noexcept {
  try {
    const auto& state = access::own_session(session);
    state->observe();  // a foreign call may have been the one that failed
    if (state->has_failed()) static_cast<void>(session.try_end());
  } catch (...) {
    // of a hook, or for want of memory: the body's exception goes before it
  }
}

}  // namespace

recapture_result finish_recapture(detail::session_state& session) {
  session.require_may_end();
  auto& run = static_cast<recapture_run&>(*session.client());
  outcome_guard guard(run, session);
  recapture_outcome outcome = run.engine->finish(session);
  if (!outcome.failure) outcome.failure = ask_hook(run, outcome);
  std::shared_ptr<detail::report_state> report = make_report(outcome);
  if (!outcome.failure && !run.options.compare_only) {
    try {
      outcome.failure = apply(run, session, outcome);
    } catch (const cuda_error& thrown) {  // before anything was set
      outcome.failure = apply_failure(run, thrown.code(), thrown.function());
    }
    if (!outcome.failure) guard.applied();
  }
  if (!outcome.failure) {
    fill_report(*report, run, outcome);
    return detail::report_state::make(std::move(report));
  }
  run.graph->last_failure = *outcome.failure;
  return recapture_result(std::move(*outcome.failure));
}

recapture_session begin_recapture(const std::shared_ptr<detail::graph_state>& graph,
                                  stream_ref stream, const recapture_options& options) {
  refuse_while_open(*graph, "re-capturing it again");
  if (&table_of(stream) != graph->table)
    throw usage_error(identify(graph->handle) + " and " + identify(stream.get()) +
                      " are of two drivers: re-capture on a stream of the graph's driver");
  auto run = std::make_unique<recapture_run>();
  run->engine = choose_engine(graph, stream, options);
  run->options = options;
  run->graph = graph;
  const graph_context_scope current(*graph);
  repair(*graph);
  auto session = std::make_shared<detail::session_state>(stream, options.mode, std::move(run));
  if (graph->context != nullptr && session->context() != graph->context)
    throw usage_error(identify(graph->handle) + " was captured in " + identify(graph->context) +
                      ", and " + identify(stream.get()) +
                      " is of another context: re-capture on a stream of the graph's");
  session->fork_streams() = std::move(graph->fork_streams);
  session->begin();
  graph->open_session = session;
  auto result = access::make<recapture_session>();
  access::session(result) = session;
  access::own_session(result) = std::move(session);
  return result;
}

recapture_result run_recapture(const std::shared_ptr<detail::graph_state>& graph, stream_ref stream,
                               const std::function<void(graph_builder&)>& body,
                               const recapture_options& options) {
  recapture_session session = begin_recapture(graph, stream, options);
  try {
    body(session);
  } catch (...) {
    note_failure(session);
    throw;  // the body's own exception leaves unchanged; the session is abandoned by its destructor
  }
  return session.try_end();
}

recapture_session::recapture_session(recapture_session&& other) noexcept
    : graph_builder(other), own_(std::move(other.own_)) {
  other.session_.reset();
}

recapture_session& recapture_session::operator=(recapture_session&& other) noexcept {
  if (this != &other) {
    abandon();
    graph_builder::operator=(other);
    own_ = std::move(other.own_);
    other.session_.reset();
  }
  return *this;
}

recapture_session::~recapture_session() { abandon(); }

change_report recapture_session::end() { return try_end().report(); }

recapture_result recapture_session::try_end() {
  if (!own_) throw usage_error("the re-capture session was moved from: end the one that has it");
  return finish_recapture(*own_);
}

void recapture_session::abandon() noexcept {
  if (own_) own_->abandon();
}

}  // namespace cugraft
