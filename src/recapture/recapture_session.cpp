// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/apply.hpp"
#include "cugraft/graph.hpp"
#include "recapture/choose_engine.hpp"
#include "recapture/conclude.hpp"
#include "recapture/sessions.hpp"

// A re-capture from begin to report: what every engine has in common.

namespace cugraft {
namespace {

using detail::access;

std::vector<std::pair<std::uint32_t, std::string>> new_tags(const recapture_run& run,
                                                            const detail::session_state& session) {
  std::vector<std::pair<std::uint32_t, std::string>> tags;
  for (const node_note& note : session.notes())
    if (const auto node = run.engine->position(note.node))
      if (run.graph->nodes.tag(*node) != session.tag_text(note.tag))
        tags.emplace_back(*node, session.tag_text(note.tag));
  return tags;
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
    // Nodes that could not be put back are put back in it later.
    if (!applied_ && was_unknown_ && run_.graph->damaged.empty()) run_.graph->context = nullptr;
    run_.graph->open_session.reset();
    session_.drop_contents();
  }
  void applied() noexcept { applied_ = true; }

  /// The graph's context, from now on if it was not known and the outcome is applied.
  void belongs_to(CUcontext context) noexcept {
    if (run_.graph->context != nullptr) return;
    was_unknown_ = true;
    run_.graph->context = context;
  }

 private:
  recapture_run& run_;
  detail::session_state& session_;
  bool applied_ = false;
  bool was_unknown_ = false;
};

// Ends the session if it has failed, for the reason that `graph::last_failure` gives.
void note_failure(recapture_session& session) noexcept {
  try {
    const auto& state = access::own_session(session);
    state->observe();  // a foreign call may have been the one that failed
    if (!state->has_failed() && !state->client()->matches_at_calls()) state->note_found();
    // Where another structure is wanted it is no failure, and half of it must not be taken.
    const bool replaces =
        static_cast<const recapture_run&>(*state->client()).options.replace_structure;
    if (state->failure() || (!replaces && (state->has_failed() || state->has_found_mismatch())))
      static_cast<void>(session.try_end());
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
  if (run.aside != nullptr) {
    run.aside->is_broken = session.is_held_capture_broken() || !session.open_forks().empty();
    run.aside->structure = std::move(outcome.replacement);
    if (run.aside->structure) return change_report();
  }
  recapture_content content;
  // Of a graph from elsewhere: what matches what was captured here belongs here.
  guard.belongs_to(outcome.failure ? nullptr : session.context());
  if (!outcome.failure) {
    content = {std::move(session.kept()), new_tags(run, session)};
    content.tags.insert(content.tags.end(), std::make_move_iterator(outcome.tags.begin()),
                        std::make_move_iterator(outcome.tags.end()));
  }
  recapture_result result =
      conclude({*run.graph, run.options, run.engine->which()}, outcome, std::move(content));
  if (result && !run.options.compare_only) {
    run.engine->applied(run.graph->stamp);
    guard.applied();
  }
  return result;
}

namespace {

// The graph's owner may have edited a borrowed graph; it is read once more, unless what is known of
// it is refused already.
std::unique_ptr<recapture_engine> engine_for(const std::shared_ptr<detail::graph_state>& graph,
                                             stream_ref stream, const recapture_options& options) {
  auto engine = choose_engine(graph, stream, options);
  if (!graph->is_borrowed) return engine;
  read_afresh(*graph);
  return choose_engine(graph, stream, options);
}

}  // namespace

recapture_session begin_recapture(const std::shared_ptr<detail::graph_state>& graph,
                                  stream_ref stream, const recapture_options& options) {
  refuse_while_open(*graph, "re-capturing it again");
  if (&table_of(stream) != graph->table)
    throw usage_error(identify(graph->handle) + " and " + identify(stream.get()) +
                      " are of two drivers: re-capture on a stream of the graph's driver");
  auto run = std::make_unique<recapture_run>();
  run->engine = engine_for(graph, stream, options);
  run->options = options;
  run->graph = graph;
  const graph_context_scope current(*graph);
  repair(*graph);
  learn_attributes(*graph, options.attributes);
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

namespace {

recapture_result run_once(const std::shared_ptr<detail::graph_state>& graph, stream_ref stream,
                          const std::function<void(graph_builder&)>& body,
                          const recapture_options& options, recapture_aside* aside = nullptr) {
  recapture_session session = begin_recapture(graph, stream, options);
  static_cast<recapture_run&>(*access::own_session(session)->client()).aside = aside;
  try {
    body(session);
  } catch (...) {
    note_failure(session);
    throw;  // the body's own exception leaves unchanged; the session is abandoned by its destructor
  }
  return session.try_end();
}

// What one engine cannot finish and `compare` may.
bool is_for_compare(const recapture_failure& failure, const recapture_options& options) {
  if (failure.used == engine::compare || options.in_place) return false;
  const bool is_structural = failure.why < mismatch::rejected;
  return is_structural
             ? options.replace_structure
             : failure.why == mismatch::foreign_work || failure.why == mismatch::unknown_node ||
                   failure.why == mismatch::driver_failure;
}

}  // namespace

recapture_result run_recapture(const std::shared_ptr<detail::graph_state>& graph, stream_ref stream,
                               const std::function<void(graph_builder&)>& body,
                               const recapture_options& options) {
  const std::optional<recapture_failure> former = graph->last_failure;
  recapture_result result = run_once(graph, stream, body, options);
  if (result || !options.may_rerun_body || !is_for_compare(result.failure(), options))
    return result;
  recapture_options again = options;
  again.with = engine::compare;
  again.on_native_mismatch = {};
  recapture_result second = run_once(graph, stream, body, again);
  if (second) graph->last_failure = former;
  return second;
}

recapture_result recapture_beside(const std::shared_ptr<detail::graph_state>& graph,
                                  stream_ref stream,
                                  const std::function<void(graph_builder&)>& body,
                                  const recapture_options& options, recapture_aside& aside) {
  return run_once(graph, stream, body, options, &aside);
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
