// SPDX-License-Identifier: Apache-2.0
#include "engines/native/native_engine.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include "capture/failures.hpp"
#include "driver/call.hpp"
#include "engines/memory_mismatch.hpp"
#include "engines/native/changes.hpp"
#include "engines/native/self_test.hpp"
#include "engines/native/working_copy.hpp"
#include "engines/outcome.hpp"
#include "model/memory_nodes.hpp"

namespace cugraft {
namespace {

using clock = std::chrono::steady_clock;

// What the driver's callback may answer to stop a re-capture: anything but success (R6).
constexpr CUresult stop = CUDA_ERROR_UNKNOWN;

class native_engine final : public recapture_engine {
 public:
  native_engine(std::shared_ptr<detail::graph_state> graph, const recapture_options& options)
      : graph_(std::move(graph)),
        hook_(options.on_native_mismatch),
        attributes_(options.attributes),
        graph_itself_(options.in_place ? std::make_unique<working_copy>(*graph_->table) : nullptr),
        copy_(graph_itself_ ? *graph_itself_ : working_copy::of(*graph_)) {}

  engine which() const noexcept override { return engine::native; }

  call_result begin(CUstream stream, CUstreamCaptureMode mode) override {
    begun_ = clock::now();
    if (graph_itself_)
      copy_.stand_for(*graph_);
    else if (const call_result copied = copy_.bring_in_step(*graph_); !copied.ok())
      return copied;
    const CUresult begun = graph_->table->stream_begin_recapture_to_graph(
        stream, mode, copy_.handle(), &native_engine::on_mismatch, this);
    may_be_lost_ = graph_itself_ && (begun == CUDA_SUCCESS || is_capturing(stream));
    return {begun, "cuStreamBeginRecaptureToGraph"};
  }

  CUgraph target() const noexcept override { return copy_.handle(); }

  bool matches_at_calls() const noexcept override { return true; }

  const model::graph& expected() const noexcept override { return graph_->nodes; }

  bool hands_out_memory() const noexcept override { return false; }

  std::optional<std::uint32_t> position(CUgraphNode node) const noexcept override {
    return copy_.position(node);
  }

  void dropped() noexcept override {
    copy_.discard();
    if (!std::exchange(may_be_lost_, false)) return;
    graph_->is_lost = true;  // whatever failed (R9)
    graph_->damaged.clear();
  }

  void applied(std::uint64_t stamp) noexcept override;

  recapture_outcome finish(detail::session_state& session) override;

 private:
  static CUresult on_mismatch(void* data, CUgraphNode node, const CUgraphNodeParams* original,
                              const CUgraphNodeParams* now,
                              newer::graph_recapture_status status) noexcept;
  CUresult note(CUgraphNode node, const CUgraphNodeParams* original, const CUgraphNodeParams* now,
                newer::graph_recapture_status status);
  recapture_failure failure_of(detail::session_state& session,
                               detail::session_state::ended& ended) const;
  bool is_capturing(CUstream stream) const noexcept;
  std::optional<std::uint32_t> moved_memory(const detail::session_state& session) const;
  void collect(detail::session_state& session, recapture_outcome& outcome);
  void set_back() noexcept;
  recapture_failure unwritten(std::uint32_t node) const;
  recapture_failure unusable(const std::string& what_it_did) const;
  session_failure cause_of(const detail::session_state& session,
                           const detail::session_state::ended& ended) const;

  std::shared_ptr<detail::graph_state> graph_;
  native_hook hook_;
  attribute_check attributes_;
  const std::unique_ptr<working_copy> graph_itself_;  ///< with `in_place` only
  working_copy& copy_;
  bool may_be_lost_ = false;  ///< the driver works on the graph itself
  clock::time_point begun_;

  std::mutex mutex_;  // foreign calls may bring the callback on several threads
  std::vector<native_row> rows_;
  std::exception_ptr thrown_;
  bool rejected_ = false;
  std::optional<std::uint32_t> error_at_;  ///< the node that the driver could not re-capture

  copy_content content_;
  bool foreign_ = false;
};

CUresult native_engine::on_mismatch(void* data, CUgraphNode node, const CUgraphNodeParams* original,
                                    const CUgraphNodeParams* now,
                                    newer::graph_recapture_status status) noexcept {
  auto& self = *static_cast<native_engine*>(data);
  const std::lock_guard lock(self.mutex_);
  try {
    return self.note(node, original, now, status);
  } catch (...) {
    self.thrown_ = std::current_exception();  // carried over the driver's frames to the end
    return stop;
  }
}

CUresult native_engine::note(CUgraphNode node, const CUgraphNodeParams* original,
                             const CUgraphNodeParams* now, newer::graph_recapture_status status) {
  const auto native_status = static_cast<recapture_status>(status);
  if (hook_ && hook_(node, original, now, native_status) == hook_answer::reject) {
    rejected_ = true;
    return stop;
  }
  const auto position = copy_.position(node);
  if (!position) return stop;
  if (native_status == recapture_status::error) {
    error_at_ = *position;  // the re-capture ends whatever is answered (R7)
    return stop;
  }
  rows_.push_back(make_row(graph_->nodes, *position, native_status, *now));
  return CUDA_SUCCESS;
}

recapture_outcome native_engine::finish(detail::session_state& session) {
  session.observe();
  try {
    session.complete_bodies();  // of a session that has failed: its graph has no such nodes
  } catch (...) {
    session.end();
    dropped();
    throw;  // for want of memory
  }
  auto ended = session.end();
  const auto compare_begun = clock::now();
  recapture_outcome outcome;
  outcome.timing.capture = compare_begun - begun_;
  if (thrown_) {
    dropped();
    std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
  if (session.failure() || !ended.result.ok() || session.matched() < graph_->nodes.size()) {
    outcome.failure = failure_of(session, ended);
    dropped();
    return outcome;
  }
  foreign_ = session.has_foreign_nodes();
  collect(session, outcome);
  if (outcome.failure) return outcome;
  if (foreign_ && !graph_itself_) outcome.foreign_owner = copy_.release_as_owner();
  outcome.timing.compare = clock::now() - compare_begun;
  return outcome;
}

void native_engine::collect(detail::session_state& session, recapture_outcome& outcome) {
  const auto fail = [&](const auto& describe) {
    if (graph_itself_) dropped();  // first: the failure says that the graph is lost
    outcome.failure = describe();
  };
  try {
    const change_source source{*graph_, session, attributes_, copy_};
    if (spans_contexts(*graph_, session))
      outcome.failure =
          context_failure(*graph_, contexts_of(notes_by_node(source)), engine::native);
    if (outcome.failure) return dropped();
    content_ = collect_changes(source, rows_, outcome);
    if (!graph_itself_) return;
    // What was written is written once more, whether the driver did it or not (rules 3.3, 2);
    // attributes are there.
    for (raw_change& change : outcome.changes) change.attributes_from = nullptr;
    if (const auto node = moved_memory(session))
      fail([&] {
        return unusable(fmt::format("gave the memory of node {} another address", *node));
      });
  } catch (const cuda_error& thrown) {
    fail([&] { return unreadable_failure(*graph_, thrown, engine::native); });
  } catch (const not_written& thrown) {
    fail([&] { return unwritten(thrown.node); });
  } catch (const handles_changed&) {
    fail([&] { return unusable("gave the nodes of the graph other handles"); });
  }
}

bool native_engine::is_capturing(CUstream stream) const noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return graph_->table->stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Whether addresses stay in a re-capture is documented nowhere (rules 3.3, 8): both what the
// session was given and what the nodes say now are looked at.
std::optional<std::uint32_t> native_engine::moved_memory(
    const detail::session_state& session) const {
  const model::graph& nodes = graph_->nodes;
  for (const node_note& note : session.notes()) {
    const auto node = note.memory ? copy_.position(note.node) : std::nullopt;
    const model::allocation_value* const known = node ? nodes.allocation(*node) : nullptr;
    if (known != nullptr && known->address != note.memory->address) return node;
  }
  layout_cache layouts(*graph_->table);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (!model::is_memory_kind(nodes.kind(i))) continue;
    if (!nodes.same(i, read_node(*graph_->table, copy_.node(i), layouts, attribute_check::none)))
      return i;
  }
  return std::nullopt;
}

void native_engine::applied(std::uint64_t stamp) noexcept {
  graph_->has_foreign_nodes = foreign_;
  may_be_lost_ = false;
  if (graph_itself_) return set_back();
  if (foreign_) return;  // the copy may hold what foreign code attached: it is kept, not used again
  try {
    if (!content_.is_written) return copy_.discard();
    for (const std::uint32_t node : content_.set_back)
      if (!write_node(*graph_->table, copy_.node(node), graph_->nodes.value(node)).ok())
        return copy_.discard();
    copy_.set_stamp(stamp);
  } catch (const std::bad_alloc&) {
    copy_.discard();
  }
}

// Nodes of the graph itself that the driver wrote and that do the same as before: what the graph
// is known to hold is put back, and where that fails it is tried again before the next use.
void native_engine::set_back() noexcept {
  try {
    graph_->damaged.reserve(graph_->damaged.size() + content_.set_back.size());
    for (const std::uint32_t node : content_.set_back)
      if (!write_node(*graph_->table, copy_.node(node), graph_->nodes.value(node)).ok())
        graph_->damaged.push_back({node});
  } catch (const std::bad_alloc&) {
    graph_->is_lost = true;
  }
  copy_.discard();
}

// What went wrong first, as far as the driver and the session know.
session_failure native_engine::cause_of(const detail::session_state& session,
                                        const detail::session_state::ended& ended) const {
  if (rejected_)
    return {mismatch::rejected,
            {newer::error_graph_recapture_failure, "cuStreamBeginRecaptureToGraph"}};
  if (session.failure()) return *session.failure();
  const bool accepted = ended.result.ok();  // fewer nodes than there are
  if (accepted || ended.result.code == newer::error_graph_recapture_failure)
    return {mismatch::node_count, {newer::error_graph_recapture_failure, ended.result.function}};
  return failed_end(ended.result);
}

recapture_failure native_engine::failure_of(detail::session_state& session,
                                            detail::session_state::ended& ended) const {
  const session_failure cause = cause_of(session, ended);
  session.note_found();
  const auto differs = first_mismatch(*graph_, session);
  // The driver's word counts for a mismatch; one that only shows in what was tracked counts where
  // all nodes are known, and goes before a broken capture.
  const bool driver_says_mismatch = cause.call.code == newer::error_graph_recapture_failure &&
                                    cause.why != mismatch::rejected && !cause.foreign;
  const bool structural =
      differs && cause.why != mismatch::rejected &&
      (driver_says_mismatch || !ended_early(session, *differs)) &&
      (driver_says_mismatch ? differs->position >= session.matched()
                            : !session.has_foreign_nodes() && !graph_->has_foreign_nodes);
  if (error_at_) {
    const CUcontext before = context_of(*graph_, *error_at_);
    const CUcontext now = session.found_context(*error_at_);
    if (has_context(graph_->nodes.kind(*error_at_)) && before != nullptr && now != nullptr &&
        before != now)
      return moved_failure(*graph_, *error_at_, now, engine::native);
    // Whatever later calls gave: this is what ended the re-capture.
    const session_failure error{
        mismatch::driver_failure,
        {newer::error_graph_recapture_failure, "cuStreamBeginRecaptureToGraph"}};
    recapture_failure failure =
        describe_failure(session, error, summary_at(*graph_, *error_at_), {});
    failure.used = engine::native;
    failure.message += "; the driver gave this node the status error";
    return failure;
  }
  if (!structural) {
    recapture_failure failure = describe_failure(
        session, cause, summary_at(*graph_, session.matched()), std::move(ended.unjoined));
    failure.used = engine::native;
    return failure;
  }
  return session_mismatch(*graph_, session, *differs, engine::native, cause.call.function);
}

recapture_failure native_engine::unwritten(std::uint32_t node) const {
  recapture_failure failure =
      unusable(fmt::format("did not write the change of node {} into the graph", node));
  failure.found = summary_at(*graph_, node);
  return failure;
}

recapture_failure native_engine::unusable(const std::string& what_it_did) const {
  recapture_failure failure;
  failure.why = mismatch::driver_failure;
  failure.function = "cuStreamEndCapture";
  failure.nodes_matched = graph_->nodes.size();
  failure.used = engine::native;
  failure.message = fmt::format(
      "the driver accepted the re-capture and {}, so that engine::native cannot apply it on this "
      "driver; {}",
      what_it_did, graph_after_failure(graph_->is_lost));
  return failure;
}

engine_status native_status(const context& context) {
  const driver driver = context.get_driver();
  engine_status result;
  result.which = engine::native;
  result.usable = driver.supports(feature::recapture_to_graph);
  if (!result.usable) {
    result.why = "needs a driver of CUDA 13.3 or newer (cuStreamBeginRecaptureToGraph)";
    return result;
  }
  const self_test_result tested = native_self_test(context);
  result.automatic = tested.passed();
  result.why = tested.summary();
  return result;
}

std::string refusal_of(const detail::graph_state& graph, bool in_place) {
  constexpr std::string_view advice =
      "what an added node does in the driver's re-capture is not documented; use engine::compare";
  if (graph.origin != node_origin::stream_calls && graph.nodes.size() != 0)
    return fmt::format("the graph holds nodes that may be made by hand: {}", advice);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    switch (graph.nodes.kind(i)) {
      case node_kind::kernel:
      case node_kind::copy:
      case node_kind::fill:
      case node_kind::host:
      case node_kind::event_record:
      case node_kind::event_wait:
        break;
      case node_kind::allocation:
      case node_kind::free:
        if (in_place) break;
        return fmt::format(
            "node {} is of the kind {}: a re-capture works on a clone, and the driver makes none "
            "of "
            "such a graph; use recapture_options::in_place",
            i, to_string(graph.nodes.kind(i)));
      default:
        return fmt::format("node {} is of the kind {}, which stream calls do not make: {}", i,
                           to_string(graph.nodes.kind(i)), advice);
    }
  }
  return {};
}

std::string native_refusal(const detail::graph_state& graph) { return refusal_of(graph, false); }

std::string refusal_in_place(const detail::graph_state& graph) { return refusal_of(graph, true); }

std::unique_ptr<recapture_engine> make_native(std::shared_ptr<detail::graph_state> graph,
                                              const recapture_options& options) {
  return std::make_unique<native_engine>(std::move(graph), options);
}

}  // namespace

engine_info native_engine_info() {
  return {engine::native, &native_status, &native_refusal, &make_native, &refusal_in_place};
}

}  // namespace cugraft
