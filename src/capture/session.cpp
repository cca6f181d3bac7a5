// SPDX-License-Identifier: Apache-2.0
#include "capture/session.hpp"

#include <algorithm>
#include <utility>

#include "base/report.hpp"
#include "capture/captured_graph.hpp"
#include "capture/failures.hpp"
#include "capture/graph_state.hpp"
#include "driver/call.hpp"

namespace cugraft {
namespace {

CUstreamCaptureMode native_mode(capture_mode mode) noexcept {
  switch (mode) {
    case capture_mode::global:
      return CU_STREAM_CAPTURE_MODE_GLOBAL;
    case capture_mode::relaxed:
      return CU_STREAM_CAPTURE_MODE_RELAXED;
    default:
      return CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  }
}

CUcontext context_of(stream_ref stream) {
  CUcontext context = nullptr;
  call(stream, &driver_table::stream_get_ctx, stream.get(), &context);
  return context;
}

bool is_legacy(stream_ref stream) noexcept {
  return stream.get() == nullptr || stream.get() == CU_STREAM_LEGACY;
}

// A stream that does not tell may be.
bool still_capturing(const driver_table& table, CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return table.stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

void refuse_legacy(stream_ref stream) {
  if (is_legacy(stream))
    throw usage_error(
        "the legacy stream cannot capture: give a stream made by cugraft::stream, or the "
        "per-thread stream");
}

call_result end_capture(const driver_table& table, CUstream stream, CUgraph* graph) noexcept {
  constexpr int most_tries = 8;
  *graph = nullptr;
  const CUresult first = table.stream_end_capture(stream, graph);
  // A call that failed for another reason may have left the capture open; no stream stays in one.
  // One that has nothing to end any more must not hide the graph of the one that did.
  for (int tries = 1; first != CUDA_SUCCESS && tries < most_tries && still_capturing(table, stream);
       ++tries) {
    CUgraph made = nullptr;
    static_cast<void>(table.stream_end_capture(stream, &made));
    if (made != nullptr) *graph = made;
  }
  return {first, "cuStreamEndCapture"};
}

namespace detail {

session_state::session_state(stream_ref origin, capture_mode mode,
                             std::unique_ptr<capture_client> client)
    : table_(&table_of(origin)),
      origin_(origin),
      mode_(mode),
      client_(std::move(client)),
      comparer_(client_ ? client_->comparer() : nullptr),
      tree_(std::make_shared<session_tree>()),
      mutex_(tree_->mutex),
      layouts_(*table_) {
  refuse_legacy(origin);
  refuse_if_capturing(origin, "beginning another capture on it");
  context_ = context_of(origin);
  add_lane(origin, false);
}

void session_state::begin() {
  const CUstreamCaptureMode mode = native_mode(mode_);
  const call_result result =
      client_
          ? client_->begin(origin_.get(), mode)
          : call_result{table_->stream_begin_capture(origin_.get(), mode), "cuStreamBeginCapture"};
  CUgraph leftover = nullptr;
  if (!result.ok()) {
    const bool took_effect =
        still_capturing(*table_, origin_.get()) &&
        end_capture(*table_, origin_.get(), &leftover).code != CUDA_ERROR_ILLEGAL_STATE;
    if (leftover != nullptr && !is_clients(leftover)) discard_graph(*table_, leftover);
    if (took_effect && comparer_ != nullptr && client_->target() != nullptr)
      comparer_->held().ended(leftover, true);
    if (client_) client_->dropped();
    throw_begin_failure(result, origin_, client_ != nullptr);
  }
  try {
    phase_ = phase::open;
    builders_.push_back({0, true});
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    check(table_->stream_get_capture_info(origin_.get(), &status, &id, &captured_graph_, nullptr,
                                          nullptr, nullptr),
          "cuStreamGetCaptureInfo", origin_.get());
    capture_id_ = id;
    open_recorder(shared_from_this(), origin_);
    if (comparer_ != nullptr) {
      expected_ = &client_->expected();
      if (parent_ == nullptr) start_comparing(expected_->structure().level(0));
      lanes_.front().marker = comparer_->held().last_marker();
      note_filter(origin_, lanes_.front());
    }
  } catch (...) {
    abandon();
    throw;
  }
}

std::string session_state::describe() const {
  if (!described_.empty()) return described_;
  return std::string(client_ ? "the re-capture" : "the capture") + " that began on " +
         identify(origin_.get());
}

void session_state::require_open() const {
  if (phase_ == phase::open) return;
  throw usage_error(describe() + " is over" +
                    (over_because_.empty() ? std::string() : " because " + over_because_) +
                    ": begin another session");
}

void session_state::require_may_end() const {
  const std::lock_guard lock(mutex_);
  require_open();
  require_own_thread(lanes_.front());
  if (mode_ == capture_mode::relaxed || thread_ == std::this_thread::get_id()) return;
  throw usage_error(describe() +
                    " must be ended on the thread that began it, or be begun in the relaxed mode; "
                    "it stays open");
}

// The per-thread stream is another one on each thread.
void session_state::require_own_thread(const lane& where) const {
  if (where.stream.get() != CU_STREAM_PER_THREAD || thread_ == std::this_thread::get_id()) return;
  throw usage_error(describe() +
                    " has the per-thread stream of the thread that began it: use and end it there");
}

bool session_state::has_failed() const noexcept {
  const std::lock_guard lock(mutex_);
  return tree_->has_failed || tree_->has_diverged;
}

lane* session_state::find_lane(stream_ref stream) noexcept {
  for (lane& each : lanes_)
    if (each.stream == stream) return &each;
  return nullptr;
}

// A stream of the caller's that joins the session: from here on nothing runs there for real by
// accident.
lane& session_state::bring_in(stream_ref stream) {
  if (is_legacy(stream))
    throw usage_error("the legacy stream cannot join " + describe() +
                      ": give a stream made by cugraft::stream");
  refuse_if_capturing(stream, "bringing it into another");
  lane& made = add_lane(stream, false);
  if (is_eager_) return made;
  try {
    add_stream(shared_from_this(), stream);
  } catch (...) {
    lanes_.pop_back();
    throw;
  }
  if (held_) hold(stream);
  return made;
}

void session_state::take_out_last() noexcept {
  forget_stream(lanes_.back().stream);
  lanes_.pop_back();
}

// What a stream is like is asked before it captures: the driver refuses the flags of a capturing
// stream, and ends the capture (docs/driver/observations.md).
lane& session_state::add_lane(stream_ref stream, bool is_capturing) {
  lane& made = lanes_.emplace_back(stream, *this);
  unsigned flags = CU_STREAM_NON_BLOCKING;
  try {
    made.front.reserve(4);
    made.context = lanes_.size() == 1 ? context_ : context_of(stream);
    call(stream, &driver_table::stream_get_priority, stream.get(), &made.priority);
    if (!is_capturing) call(stream, &driver_table::stream_get_flags, stream.get(), &flags);
  } catch (...) {
    lanes_.pop_back();
    throw;
  }
  made.is_of_session_context = made.context == context_;
  spans_contexts_ |= !made.is_of_session_context;
  made.blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
  return made;
}

lane& session_state::lane_of(stream_ref stream) {
  if (lane* known = find_lane(stream)) return *known;
  return add_lane(stream, true);  // brought in by foreign code, and recognised by the capture's id
}

// Reads the driver's dependency set of a stream. False where the capture is broken or is at a node
// that the graph does not have, which `own` says that cugraft put in: then the session has failed,
// and the stream's front is what it was.
bool session_state::refresh(lane& where, bool own) {
  capture_answer now;
  if (!ask(where, now)) return false;
  if (!now.is_in(capture_id_)) {
    // Where foreign code ended the capture, its graph is gone.
    found_unknown_ |= now.status != CU_STREAM_CAPTURE_STATUS_INVALIDATED && !matches_at_calls();
    fail({mismatch::capture_invalidated,
          {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cuStreamGetCaptureInfo"},
          true});
    return false;
  }
  at_read_.nodes.assign(now.nodes, now.nodes + now.count);
  at_read_.edges.assign(now.edges, now.edges + now.count);
  if (matches_at_calls() && !read_front()) {
    fail({mismatch::unknown_node,
          {newer::error_graph_recapture_failure, "cuStreamBeginRecaptureToGraph"},
          !own});
    return false;
  }
  std::swap(where.at, at_read_);
  if (!matches_at_calls()) return true;
  where.front.swap(front_read_);
  for (const model::dependency& each : where.front)
    matched_ = std::max<std::size_t>(matched_, each.node + 1);
  return true;
}

// False where the driver does not say, and the session has failed.
bool session_state::ask(const lane& where, capture_answer& now) {
  const CUresult result = table_->stream_get_capture_info(
      where.stream.get(), &now.status, &now.id, nullptr, &now.nodes, &now.edges, &now.count);
  if (result == CUDA_SUCCESS) return true;
  fail({mismatch::driver_failure, {result, "cuStreamGetCaptureInfo"}});
  return false;
}

// Fills `front_read_`; false if the graph does not have one of the nodes.
bool session_state::read_front() {
  front_read_.clear();
  for (std::size_t i = 0; i < at_read_.nodes.size(); ++i) {
    const auto position = client_->position(at_read_.nodes[i]);
    if (!position) return false;
    front_read_.push_back({*position, edge_data_of(at_read_, i)});
  }
  return true;
}

// After a driver call that failed, told by a stream that was in the capture before it: throws if
// the call did nothing there, so that the session is unharmed; else the session has failed, and
// false comes back. True if the call succeeded.
bool session_state::keeps_going(lane& where, const call_result& result) {
  if (result.ok()) return true;
  if (result.code == newer::error_graph_recapture_failure) {
    fail({mismatch::driver_failure, result});
    return false;
  }
  const std::vector<CUgraphNode> before = where.at.nodes;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  const bool asked = table_->stream_is_capturing(where.stream.get(), &status) == CUDA_SUCCESS;
  if (asked && status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    if (!refresh(where)) return false;
    if (where.at.nodes == before)
      check(result.code, result.function, where.stream.get());  // throws: nothing happened
    fail({mismatch::driver_failure, result});
    return false;
  }
  fail({asked ? mismatch::capture_invalidated : mismatch::driver_failure, result});
  return false;
}

void session_state::fail(session_failure failure) {
  if (failure_) return;
  failure_ = failure;
  is_comparing_ = false;
  tree_->has_failed = true;
  if (client_) give_up();
  if (parent_ == nullptr) return;
  if (failure.place.empty()) failure.place = name_of_body();
  parent_->fail(std::move(failure));
}

// Of a re-capture: what is found so far is kept, and its streams are held.
void session_state::give_up() {
  try {
    if (found_unknown_)
      found_noted_ = true;
    else
      note_found();
  } catch (const std::exception&) {
    found_unknown_ = true;  // then the failure alone is told
  }
  hold_streams();
  client_->dropped();  // after the capture: a graph is not destroyed while it is captured into
}

void session_state::observe() noexcept {
  const std::lock_guard lock(mutex_);
  if (phase_ != phase::open) return;
  try {
    // Bodies first: where one took the session with it, its place is told.
    for (const open_conditional& each : open_conditionals_)
      for (const auto& body : each.bodies)
        if (body->phase_ == phase::open) static_cast<void>(body->is_sound());
    if (comparer_ != nullptr) return look_for_foreign_work();
    for (lane& each : lanes_)
      if (failure_ || !refresh(each)) return;
  } catch (const std::exception&) {
    // For want of memory: then what foreign code did last is not seen, which only a capture shows.
    if (comparer_ != nullptr && !failure_)
      failure_ =
          session_failure{mismatch::driver_failure, {CUDA_ERROR_OUT_OF_MEMORY, "cuGraphGetNodes"}};
  }
}

void session_state::drop_contents() noexcept {
  for (open_conditional& each : open_conditionals_)
    for (const auto& body : each.bodies) body->drop_contents();
  open_conditionals_.clear();
  notes_.clear();
  tracked_notes_.clear();
  captured_notes_.clear();
  kept_.clear();
  foreign_owners_.clear();
  events_.clear();
}

// The driver's capture is over after a mismatch. So that foreign work on the session's streams
// still runs nowhere, they are held in a capture that is thrown away at the end.
void session_state::hold_streams() noexcept {
  CUgraph unused = nullptr;
  const call_result over = end_capture(*table_, origin_.get(), &unused);
  if (unused != nullptr && !is_clients(unused)) discard_graph(*table_, unused);
  if (comparer_ != nullptr) end_held(unused, true);
  if (failure_->foreign && over.code == newer::error_graph_recapture_failure)
    failure_ = session_failure{mismatch::unknown_node, over, true};
  if (table_->stream_begin_capture(origin_.get(), CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS)
    return;
  held_ = true;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  if (table_->stream_get_capture_info(origin_.get(), &status, &id, nullptr, nullptr, nullptr,
                                      nullptr) == CUDA_SUCCESS)
    capture_id_ = id;
  for (const lane& each : lanes_)
    if (each.stream != origin_) hold(each.stream);
}

// Once: what held the streams may be another body's by now.
void session_state::end_held(CUgraph left, bool is_dirty) noexcept {
  if (!std::exchange(is_held_ended_, true)) comparer_->held().ended(left, is_dirty);
}

void session_state::hold(stream_ref stream) noexcept {
  try {
    const CUevent event = link_event(context_);
    if (table_->event_record(event, origin_.get()) == CUDA_SUCCESS)
      static_cast<void>(table_->stream_wait_event(stream.get(), event, 0));
  } catch (const std::exception&) {
    // without an event the stream is not held: cugraft's own calls put nothing on it all the same
  }
}

session_state::ended session_state::end_driver_capture() noexcept {
  ended result;
  if (!failure_ && comparer_ == nullptr) {
    try {
      result.unjoined = unjoined_leaves();
    } catch (const std::exception& thrown) {
      result.unjoined.clear();  // the end itself says that something was not joined
      note_unread(thrown);
    }
  }
  result.result = end_capture(*table_, origin_.get(), &result.graph);
  if (!failure_ && result.result.ok()) result.result = unjoined_memory(result.unjoined);
  const bool wanted = !held_ && !failure_ && result.result.ok();
  const bool is_other = client_ && client_->target() != nullptr;  // than the client's own
  if (result.graph != nullptr && !is_clients(result.graph) && (is_other || !wanted)) {
    discard_graph(*table_, result.graph);
    result.graph = nullptr;
  }
  if (comparer_ != nullptr && !held_) end_held(std::exchange(result.graph, nullptr), !is_clean_);
  return result;
}

session_state::ended session_state::end() noexcept {
  ended result;
  {
    const std::lock_guard lock(mutex_);
    drop_bodies();
    result = end_driver_capture();
    phase_ = phase::over;
  }
  close_recorder(*this);
  capture_id_ = 0;
  // Nobody keeps another context for the next session.
  std::erase_if(fork_streams_, [&](const fork_stream& each) { return each.context != context_; });
  if (client_) client_->over(*this);
  return result;
}

void session_state::abandon() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != phase::open) return;
  }
  ended result = end();
  const bool is_ours = result.graph != nullptr && !is_clients(result.graph);
  if (client_) client_->dropped();  // its own graph, too
  if (is_ours) discard_graph(*table_, result.graph);
  drop_contents();
}

void session_state::destroying(stream_ref stream) noexcept {
  std::shared_ptr<session_state> whole;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != phase::open || find_lane(stream) == nullptr) return;
    over_because_ = identify(stream.get()) + " was destroyed while it was open";
    whole = root().shared_from_this();
    whole->over_because_ = over_because_;
  }
  whole->abandon();
}

}  // namespace detail
}  // namespace cugraft
