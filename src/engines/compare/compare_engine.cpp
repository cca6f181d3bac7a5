// SPDX-License-Identifier: Apache-2.0
#include "engines/compare/compare_engine.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "capture/failures.hpp"
#include "driver/call.hpp"
#include "engines/compare/changes.hpp"
#include "engines/memory_mismatch.hpp"
#include "engines/outcome.hpp"

namespace cugraft {
namespace {

using clock = std::chrono::steady_clock;

std::string refusal_of(const detail::graph_state& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes.kind(i) != node_kind::empty && !graph.nodes.has_parameters(i))
      return fmt::format("node {} is of the kind {}, which cannot be read back", i,
                         to_string(graph.nodes.kind(i)));
  return {};
}

class compare_engine final : public recapture_engine {
 public:
  compare_engine(std::shared_ptr<detail::graph_state> graph, const recapture_options& options)
      : graph_(std::move(graph)),
        attributes_(options.attributes),
        replaces_structure_(options.replace_structure),
        replaces_any_(replaces_structure_ && !refusal_of(*graph_).empty()) {}
  ~compare_engine() override { dropped(); }

  engine which() const noexcept override { return engine::compare; }

  call_result begin(CUstream stream, CUstreamCaptureMode mode) override {
    begun_ = clock::now();
    return {graph_->table->stream_begin_capture(stream, mode), "cuStreamBeginCapture"};
  }

  CUgraph target() const noexcept override { return nullptr; }

  bool matches_at_calls() const noexcept override { return false; }

  // What is to be the graph needs memory of its own.
  bool hands_out_memory() const noexcept override { return !replaces_structure_; }

  const model::graph& expected() const noexcept override { return graph_->nodes; }

  std::optional<std::uint32_t> position(CUgraphNode node) const noexcept override {
    return positions_.find(node);
  }

  void dropped() noexcept override {
    if (scratch_ != nullptr) discard_graph(*graph_->table, std::exchange(scratch_, nullptr));
  }

  void applied(std::uint64_t) noexcept override {
    graph_->has_foreign_nodes = foreign_;
    dropped();
  }

  recapture_outcome finish(detail::session_state& session) override;

 private:
  recapture_failure failure_of(const detail::session_state& session,
                               detail::session_state::ended& ended) const;
  bool compare_nodes(detail::session_state& session, recapture_outcome& outcome);
  void make_replacement(detail::session_state& session, recapture_outcome& outcome);

  std::shared_ptr<detail::graph_state> graph_;
  attribute_check attributes_;
  bool replaces_structure_;
  bool replaces_any_;  ///< the graph has nodes that nothing can be compared with
  clock::time_point begun_;
  CUgraph scratch_ = nullptr;  ///< what was captured, from the end of the capture on
  node_positions positions_;
  bool foreign_ = false;
};

std::vector<const node_note*> notes_of(const detail::session_state& session) {
  std::vector<const node_note*> notes;
  for (std::size_t i = 0; i < session.captured().size(); ++i) notes.push_back(session.note_at(i));
  return notes;
}

// What was captured is read before the end: a capture that fails takes its graph with it.
recapture_outcome compare_engine::finish(detail::session_state& session) {
  session.observe();
  recapture_outcome outcome;
  const auto read_begun = clock::now();
  std::optional<cuda_error> unreadable;
  try {
    session.complete_bodies();
    session.note_found();
  } catch (const cuda_error& thrown) {
    unreadable = thrown;
  } catch (...) {
    scratch_ = session.end().graph;
    throw;  // for want of memory
  }
  const auto read_done = clock::now();
  auto ended = session.end();
  scratch_ = ended.graph;
  const auto compare_begun = clock::now();
  outcome.timing.compare = read_done - read_begun;
  outcome.timing.capture = compare_begun - begun_ - outcome.timing.compare;
  const bool is_whole = !session.failure() && ended.result.ok();
  if (unreadable && is_whole) {
    outcome.failure = unreadable_failure(*graph_, *unreadable, engine::compare);
    return outcome;
  }
  foreign_ = session.has_foreign_nodes();
  const bool is_new_memory = replaces_structure_ && session.has_memory();
  if (!is_whole || replaces_any_ || is_new_memory || session.matched() < graph_->nodes.size() ||
      session.found().size() != graph_->nodes.size()) {
    if (is_whole && replaces_structure_)
      make_replacement(session, outcome);
    else
      outcome.failure = failure_of(session, ended);
    return outcome;
  }
  if (!compare_nodes(session, outcome)) return outcome;
  positions_ = std::move(session.captured_positions());
  if (foreign_)
    outcome.foreign_owner = graph_as_owner(*graph_->table, std::exchange(scratch_, nullptr));
  outcome.timing.compare += clock::now() - compare_begun;
  return outcome;
}

// What matched in structure. @return whether there is nothing against taking the changes over
bool compare_engine::compare_nodes(detail::session_state& session, recapture_outcome& outcome) {
  if (spans_contexts(*graph_, session))
    outcome.failure = context_failure(*graph_, contexts_of(notes_of(session)), engine::compare);
  if (outcome.failure && replaces_structure_) {
    outcome.failure.reset();
    make_replacement(session, outcome);
    return false;
  }
  if (outcome.failure) return false;
  try {
    collect_changes({*graph_, session, attributes_}, outcome);
  } catch (const cuda_error& thrown) {
    outcome.failure = unreadable_failure(*graph_, thrown, engine::compare);
  }
  return !outcome.failure;
}

// A mismatch goes before a failure of the capture, unless another structure is wanted. Behind a
// failure foreign work is not seen, so there a mismatch counts only where there is none, or in what
// was read.
recapture_failure compare_engine::failure_of(const detail::session_state& session,
                                             detail::session_state::ended& ended) const {
  const auto differs = first_mismatch(*graph_, session);
  const bool is_known = !session.has_foreign_nodes() && !graph_->has_foreign_nodes;
  const bool is_certain =
      differs && !replaces_structure_ && session.is_found_known() &&
      !ended_early(session, *differs) &&
      (!session.failure() || differs->position < session.captured().size() || is_known);
  if (is_certain) return session_mismatch(*graph_, session, *differs, engine::compare, "");
  const session_failure cause = session.failure().value_or(failed_end(ended.result));
  recapture_failure failure = describe_failure(
      session, cause, summary_at(*graph_, session.matched()), std::move(ended.unjoined));
  failure.used = engine::compare;
  return failure;
}

// Another structure is what was asked for: what was captured becomes a graph of its own first.
void compare_engine::make_replacement(detail::session_state& session, recapture_outcome& outcome) {
  auto fresh = std::make_shared<detail::graph_state>(*graph_->table);
  fresh->handle = std::exchange(scratch_, nullptr);
  try {
    read_session_graph(*fresh, session);
  } catch (const cuda_error& thrown) {
    outcome.failure = unreadable_failure(*graph_, thrown, engine::compare);
    outcome.failure->message =
        "the re-capture has another structure, which could not be read; the graph is what it "
        "was: " +
        std::string(thrown.what());
    return;
  }
  outcome.replacement = std::move(fresh);
}

engine_status compare_status(const context&) {
  return {.which = engine::compare, .usable = true, .automatic = true, .why = {}};
}

std::unique_ptr<recapture_engine> make_compare(std::shared_ptr<detail::graph_state> graph,
                                               const recapture_options& options) {
  return std::make_unique<compare_engine>(std::move(graph), options);
}

}  // namespace

engine_info compare_engine_info() {
  return {engine::compare, &compare_status, &refusal_of, &make_compare};
}

}  // namespace cugraft
