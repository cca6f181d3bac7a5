// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "capture/failures.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/kernel_state.hpp"

// Calls on the streams of a session that are compared with the graph's next node as they are made.
// The driver is asked only to hold the streams meanwhile, and about what it alone can tell.

namespace cugraft {

model::copy_value copy_of(const void* dst, const void* src, std::size_t bytes) noexcept {
  model::copy_value copy;
  copy.source = {model::memory_kind_unified, reinterpret_cast<std::uintptr_t>(src)};
  copy.destination = {model::memory_kind_unified, reinterpret_cast<std::uintptr_t>(dst)};
  copy.width_bytes = bytes;
  return copy;
}

model::fill_value fill_of(void* dst, std::uint32_t value, std::size_t count,
                          unsigned element_size) noexcept {
  return {.destination = reinterpret_cast<std::uintptr_t>(dst),
          .value = value,
          .element_size = element_size,
          .width = count};
}

model::copy_value copy_of(const row_copy& rows) noexcept {
  model::copy_value copy = copy_of(rows.dst, rows.src, rows.width_bytes);
  copy.source.pitch = rows.src_pitch;
  copy.destination.pitch = rows.dst_pitch;
  copy.height = rows.height;
  return copy;
}

// Whether a call of that kind would be the graph's next node, as far as its place tells. Inline,
// since a call is a tenth of what an unchanged node costs.
[[gnu::always_inline]] inline bool lane::is_ahead(node_kind kind) const noexcept {
  const detail::session_state& all = session;
  if (!all.is_comparing_ || !is_of_session_context || all.matched_ >= all.end_expected_)
    return false;
  const model::graph& expected = *all.expected_;
  const std::size_t node = all.matched_;
  return expected.kind(node) == kind && expected.has_parameters(node) &&
         expected.follows(node, front) && expected.tag(node) == *all.tree_->tag_text;
}

[[gnu::always_inline]] inline void lane::take_next() noexcept {
  front.resize(1);  // there is room: see add_lane
  front.front() = {static_cast<std::uint32_t>(session.matched_++), {}};
  ++added;
  joined = false;
}

bool lane::takes(const launch_config& config, const kernel& kernel,
                 std::span<const detail::argument> arguments) noexcept {
  const detail::kernel_state* const launched = state_of(kernel).get();
  if (launched == nullptr || config.programmatic_serialization || !is_ahead(node_kind::kernel))
    return false;
  const model::graph& expected = *session.expected_;
  const std::size_t node = session.matched_;
  const model::graph::kernel_identity is{launched, launched->function, launched->parameters};
  if (!expected.relaunches(node, is, config, priority, arguments)) return false;
  if (!expected.same_launch(node, is, config, arguments) &&
      !session.comparer_->relaunch(static_cast<std::uint32_t>(node), config.grid, arguments))
    return false;
  take_next();
  return true;
}

bool lane::takes_copy(void* dst, const void* src, std::size_t bytes) noexcept {
  if (!is_ahead(node_kind::copy) ||
      !session.expected_->same(session.matched_, copy_of(dst, src, bytes)))
    return false;
  take_next();
  return true;
}

bool lane::takes_fill(void* dst, std::uint32_t value, std::size_t count,
                      unsigned element_size) noexcept {
  if (!is_ahead(node_kind::fill) ||
      !session.expected_->same(session.matched_, fill_of(dst, value, count, element_size)))
    return false;
  take_next();
  return true;
}

namespace {

// What no stream call makes. The driver takes it for joined, and all that it waits for (driver
// facts, Conditions).
bool is_added(node_kind kind) noexcept {
  return kind == node_kind::child_graph || kind == node_kind::conditional;
}

// What counts as joined of the nodes from `first` to `end`: those in `front`, those that were
// added, and all that they wait for.
std::vector<bool> joined_nodes(const model::structure& nodes, std::size_t first, std::size_t end,
                               const std::vector<model::dependency>& front) {
  std::vector<std::uint32_t> pending;
  for (const model::dependency& each : front) pending.push_back(each.node);
  for (std::size_t i = first; i < end; ++i)
    if (is_added(nodes.kind(i))) pending.push_back(static_cast<std::uint32_t>(i));
  std::vector<bool> reached(nodes.size());
  while (!pending.empty()) {
    const std::uint32_t node = pending.back();
    pending.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    for (const model::dependency& each : nodes.dependencies(node)) pending.push_back(each.node);
  }
  return reached;
}

}  // namespace

namespace detail {

// Whether a call on `where` is the graph's next node.
bool session_state::is_next(lane& where, node_kind kind, bool programmatic) {
  const model::graph& expected = client_->expected();
  if (matched_ >= end_expected_ || expected.kind(matched_) != kind) return false;
  front_before_.assign(where.front.begin(), where.front.end());
  if (programmatic) make_programmatic(front_before_, expected.structure());
  std::sort(front_before_.begin(), front_before_.end());
  const auto last = std::unique(front_before_.begin(), front_before_.end());
  const auto wanted = expected.structure().dependencies(matched_);
  return std::equal(front_before_.begin(), last, wanted.begin(), wanted.end());
}

// From here on calls are tracked, so that the end can say how the structures differ.
void session_state::diverge() {
  if (!is_comparing_) return;
  note_found();
  is_comparing_ = false;
  tree_->has_diverged = true;
}

void session_state::compare_call(lane& where, node_note&& note, model::node_value&& now,
                                 const repetition& again) {
  note.tag = tree_->tag;
  note.context = where.context;
  const node_kind kind = now.kind;
  // Where the session has failed elsewhere, there is nothing to compare for.
  if (tree_->has_failed || (is_comparing_ && !is_next(where, kind, note.programmatic))) diverge();
  if (is_comparing_) {
    const auto position = static_cast<std::uint32_t>(matched_);
    const call_result asked =
        comparer_->compare(position, note, tree_->tags[tree_->tag], std::move(now), again);
    if (asked.ok()) {
      ++matched_;
      where.front.assign(1, {position, {}});
    } else {
      fail({mismatch::capture_invalidated, asked});
    }
  }
  ++where.added;
  where.joined = false;
  if (!is_comparing_) track(where, kind, std::move(note));
}

void session_state::compare_launch(lane& where, node_note note, const launch_config& config,
                                   const kernel& kernel, void* const* arguments) {
  for (const launch_attribute& each : config.attributes)
    if (each.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
        each.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      note_foreign_work("the launch of kernel \"" + std::string(kernel.name()) +
                        "\" signals an event, whose edges only the driver makes");
  model::kernel_value value;
  value.function = kernel.get();
  value.layout = note.layout;
  value.grid = config.grid;
  value.block = config.block;
  value.shared_memory_bytes = config.shared_memory_bytes;
  value.attributes = *note.attributes;
  value.arguments.assign_zeros(note.layout->bytes);
  model::pack_arguments(*note.layout, arguments, value.arguments.data());
  const auto again = [&, priority = note.attributes->priority](CUstream stream) {
    launch_config same = config;  // on a stream of another priority
    same.priority = priority;
    return driver_launch(*table_, stream, same, kernel, arguments);
  };
  std::shared_ptr<const void> owner = note.owner;
  compare_call(where, std::move(note), {node_kind::kernel, std::move(value), std::move(owner)},
               repetition(again));
  record_launch_events(where, config);
}

void session_state::compare_copy(lane& where, void* dst, const void* src, std::size_t bytes) {
  const auto again = [&](CUstream stream) { return driver_copy(*table_, stream, dst, src, bytes); };
  compare_call(where, {}, {node_kind::copy, copy_of(dst, src, bytes), {}}, repetition(again));
}

void session_state::compare_fill(lane& where, void* dst, std::uint32_t value, std::size_t count,
                                 unsigned element_size) {
  const model::fill_value fill = fill_of(dst, value, count, element_size);
  const auto again = [&](CUstream stream) {
    return driver_fill(*table_, stream, dst, value, count, element_size);
  };
  compare_call(where, {}, {node_kind::fill, fill, {}}, repetition(again));
}

void session_state::compare_copy(lane& where, const row_copy& rows) {
  const auto again = [&](CUstream stream) { return driver_copy(*table_, stream, rows); };
  node_note note;
  // A driver cannot be asked about memory that the graph allocates: see `copies_own_memory`.
  if (copies_own_memory(rows.dst, rows.src))
    note.memory = memory_call{.kind = node_kind::copy, .copy = copy_of(rows)};
  compare_call(where, std::move(note), {node_kind::copy, copy_of(rows), {}}, repetition(again));
}

void session_state::compare_fill(lane& where, const row_fill& rows) {
  const model::fill_value fill{.destination = reinterpret_cast<std::uintptr_t>(rows.dst),
                               .value = rows.value,
                               .element_size = rows.element_size,
                               .width = rows.width,
                               .height = rows.height,
                               .pitch = rows.pitch};
  const auto again = [&](CUstream stream) { return driver_fill(*table_, stream, rows); };
  compare_call(where, {}, {node_kind::fill, fill, {}}, repetition(again));
}

void session_state::compare_host_call(lane& where, std::shared_ptr<const void> owner) {
  const model::host_value host{reinterpret_cast<std::uintptr_t>(&run_host_payload),
                               reinterpret_cast<std::uintptr_t>(owner.get())};
  const auto again = [&](CUstream stream) {
    return call_result{
        table_->launch_host_func(stream, &run_host_payload, const_cast<void*>(owner.get())),
        "cuLaunchHostFunc"};
  };
  compare_call(where, {.owner = owner}, {node_kind::host, host, owner}, repetition(again));
}

void session_state::compare_event(lane& where, node_kind kind, event_ref event) {
  const auto again = [&](CUstream stream) {
    if (kind == node_kind::event_record)
      return call_result{
          table_->event_record_with_flags(event.get(), stream, CU_EVENT_RECORD_EXTERNAL),
          "cuEventRecordWithFlags"};
    return call_result{table_->stream_wait_event(stream, event.get(), CU_EVENT_WAIT_EXTERNAL),
                       "cuStreamWaitEvent"};
  };
  compare_call(where, {}, {kind, model::event_value{event.get()}, {}}, repetition(again));
}

// After a driver call on a held stream: throws if it failed and the streams are still held, so that
// the session is unharmed; else the session has failed, and false comes back. A capture that was
// broken before is what foreign code did.
bool session_state::keeps_holding(const call_result& result) {
  if (result.ok()) return true;
  if (result.code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
    look_for_foreign_work();
    if (failure_) return false;
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  const bool asked = table_->stream_is_capturing(origin_.get(), &status) == CUDA_SUCCESS;
  if (asked && status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
    check(result.code, result.function, origin_.get());
  fail({asked ? mismatch::capture_invalidated : mismatch::driver_failure, result});
  return false;
}

// A stream that is new to the session is held like the others. If that throws, it is out again; one
// that came into the capture all the same shows as foreign work.
void session_state::bring_in_held(lane& made) {
  if (failure_) return;
  try {
    held_capture& held = comparer_->held();
    if (!keeps_holding(held.hold(origin_.get(), made.stream.get()))) return;
    made.marker = held.last_marker();
    note_filter(made.stream, made);
  } catch (...) {
    take_out_last();
    throw;
  }
}

// Forks and joins make no driver call between streams that are held already.
void session_state::link_held(lane& from, lane& to, bool is_new) {
  if (is_new) bring_in_held(to);
  from.joined |= &from != &to;
  for (const model::dependency& each : from.front)
    if (std::find(to.front.begin(), to.front.end(), each) == to.front.end())
      to.front.push_back(each);
  if (is_new) return;
  ++to.added;
  to.joined = false;
}

// Whether the event was last recorded here; it may have been elsewhere since.
bool session_state::has_event(event_ref event) const {
  return events_.contains(event.get()) && recorder_of_event(event).get() == this;
}

// The caller's events are recorded in the capture that holds the streams, so that foreign waits for
// them show: once for each stream, since nothing more is added to it.
void session_state::record_held(lane& where, event_ref event) {
  const bool is_recorded = has_event(event) && events_.at(event.get()).source == &where;
  if (!failure_ && !is_recorded)
    keeps_holding({table_->event_record(event.get(), where.stream.get()), "cuEventRecord"});
  record_event(where, event.get());
  events_.at(event.get()).is_recorded = true;
  if (!is_recorded) note_event(shared_from_this(), event);
}

// The driver waits as well, and is set back: where foreign code recorded the event elsewhere, it
// waits for something else than cugraft knows of.
void session_state::wait_as_noted(lane& where, CUevent event) {
  const event_note& note = events_.at(event);
  // Of a launch that signals an event the driver knows nothing: it is foreign work already.
  if (failure_ || !note.is_recorded) return;
  if (!keeps_holding(
          {table_->stream_wait_event(where.stream.get(), event, 0), "cuStreamWaitEvent"}))
    return;
  const bool is_noted = look_at_lane(where, note.source->marker) && foreign_text_.empty();
  if (is_noted)
    keeps_holding(
        {table_->stream_update_capture_dependencies(where.stream.get(), &where.marker, nullptr, 1,
                                                    CU_STREAM_SET_CAPTURE_DEPENDENCIES),
         "cuStreamUpdateCaptureDependencies"});
}

void session_state::wait_held(stream_ref stream, event_ref event) {
  lane* const known = find_lane(stream);
  if (known != nullptr) require_own_thread(*known);
  const bool is_own = has_event(event);
  lane& where = known != nullptr ? *known : bring_in(stream);
  if (known == nullptr) bring_in_held(where);
  if (is_own)
    wait_as_noted(where, event.get());
  else if (!failure_ && keeps_holding({table_->stream_wait_event(stream.get(), event.get(), 0),
                                       "cuStreamWaitEvent"}))
    look_at_lane(where);  // an event that was never recorded adds nothing
  if (is_own) wait_event(where, event.get());
  if (known == nullptr) return;
  ++where.added;
  where.joined = false;
}

void session_state::note_foreign_work(const std::string& what) {
  if (!foreign_text_.empty()) foreign_text_ += "; ";
  foreign_text_ += what;
}

// A held stream waits for its marker, for `other` where that is given, and for nothing else. False
// where the capture is over.
bool session_state::look_at_lane(const lane& where, CUgraphNode other) {
  capture_answer now;
  if (!ask(where, now)) return false;
  const bool is_held = now.is_in(capture_id_);
  const bool is_own =
      now.count != 0 && std::all_of(now.nodes, now.nodes + now.count, [&](CUgraphNode each) {
        return each == where.marker || (other != nullptr && each == other);
      });
  if (is_held && is_own) return true;
  const std::string name = identify(where.stream.get());
  if (is_held)
    note_foreign_work(name + " waits for work that is not cugraft's");
  else if (is_held_broken_ = now.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED; is_held_broken_)
    note_foreign_work("a call that a capture forbids was made while " + name + " was held in one");
  else
    note_foreign_work("the capture in which " + name + " was held was ended");
  return is_held;
}

node_summary session_state::describe_foreign(CUgraphNode node) {
  node_summary summary;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUDA_KERNEL_NODE_PARAMS params = {};
  if (table_->graph_node_get_type(node, &type) != CUDA_SUCCESS) return summary;
  summary.kind = static_cast<node_kind>(type);
  if (type != CU_GRAPH_NODE_TYPE_KERNEL ||
      table_->graph_kernel_node_get_params(node, &params) != CUDA_SUCCESS)
    return summary;
  try {
    summary.name = layouts_.of(function_of(params))->name;
  } catch (const cuda_error&) {
    // then it has no name
  }
  return summary;
}

void session_state::look_for_foreign_work() {
  if (failure_) return;
  bool is_held = true;
  for (const lane& each : lanes_) is_held = is_held && look_at_lane(each);
  if (is_held) {
    call_result asked;
    const std::vector<CUgraphNode> nodes = comparer_->held().foreign_nodes(&asked);
    if (!asked.ok()) fail({mismatch::driver_failure, asked});
    for (const CUgraphNode node : nodes) foreign_.push_back(describe_foreign(node));
  }
  is_clean_ = !failure_ && foreign_.empty() && foreign_text_.empty();
  if (is_clean_ || failure_) return;
  if (session_state& whole = root(); &whole != this) {  // which tells of it
    if (!foreign_text_.empty()) whole.note_foreign_work(foreign_text_);
    whole.foreign_.insert(whole.foreign_.end(), foreign_.begin(), foreign_.end());
    whole.is_held_broken_ |= is_held_broken_;
  }
  fail({mismatch::foreign_work, {newer::error_graph_recapture_failure, ""}, true});
}

std::vector<node_summary> session_state::leaves_unjoined() const {
  const std::lock_guard lock(mutex_);
  return leaves_compared();
}

// With paths in the session itself, or in the body that it is. A stream that another one waits for
// ends in that one's work, so that it is named only where nothing else is.
std::vector<node_summary> session_state::leaves_compared() const {
  if (lanes_.size() == 1) return {};
  const model::structure& nodes = found_noted_ ? found_ : client_->expected().structure();
  const std::size_t first = found_noted_ ? 0 : first_expected_;
  const std::vector<bool> joined =
      joined_nodes(nodes, first, first + count_found(), lanes_.front().front);
  std::vector<node_summary> leaves;
  for (const bool with_joined : {false, true}) {
    for (const lane& each : lanes_) {
      if (each.stream == origin_ || (each.joined && !with_joined)) continue;
      for (const model::dependency& leaf : each.front) {
        if (joined[leaf.node]) continue;
        leaves.push_back(found_noted_ ? found_summary(leaf.node)
                                      : summary_of(client_->expected(), leaf.node));
        leaves.back().path.steps = {{static_cast<std::uint32_t>(leaf.node - first), 0}};
      }
    }
    if (!leaves.empty()) break;
  }
  return leaves;
}

}  // namespace detail
}  // namespace cugraft
