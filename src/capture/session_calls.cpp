// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/access.hpp"
#include "capture/launch_attributes.hpp"
#include "capture/owners.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"

// What cugraft's calls do on the streams of an open session.

namespace cugraft {
namespace {

// The port from which an edge begins that waits for the event of such an attribute; empty for any
// other (driver rules, 1.4).
std::optional<std::uint8_t> port_of_event(const launch_attribute& attribute) noexcept {
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      return std::uint8_t{CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC};
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      return std::uint8_t{CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER};
    default:
      return std::nullopt;
  }
}

// In both values the event comes first.
CUevent event_in(const launch_attribute& attribute) noexcept {
  CUevent event = nullptr;
  std::memcpy(&event, attribute.value.data(), sizeof event);
  return event;
}

}  // namespace

namespace detail {

template <class Enqueue>
void session_state::add_node(stream_ref stream, node_kind kind, node_note note,
                             const Enqueue& enqueue) {
  lane& where = lane_of(stream);
  note.tag = tree_->tag;
  note.context = where.context;
  ++where.added;
  where.joined = false;
  if (failure_ || !refresh(where)) return track(where, kind, std::move(note));
  // What the driver took is noted without fail, and its owner kept.
  if (notes_.size() == notes_.capacity())
    notes_.reserve(std::max(2 * notes_.size() + 16, client_ ? client_->expected().size() : 0));
  if (kept_.size() == kept_.capacity()) kept_.reserve(2 * kept_.size() + 16);
  if (matches_at_calls()) front_before_ = where.front;
  const std::shared_ptr<const void> owner = note.owner;
  try {
    add_node(where, kind, std::move(note), enqueue());
  } catch (const std::bad_alloc&) {
    kept_.push_back(owner);
    fail({mismatch::driver_failure, {CUDA_ERROR_OUT_OF_MEMORY, "cuStreamGetCaptureInfo"}});
    throw;
  }
}

void session_state::add_node(lane& where, node_kind kind, node_note note,
                             const call_result& enqueued) {
  const std::size_t matched = matched_;
  if (!keeps_going(where, enqueued)) return track(where, kind, std::move(note));
  if (!refresh(where, true)) return track(where, kind, std::move(note));
  if (matches_at_calls() && !is_where_expected(where, matched, note.programmatic)) {
    matched_ = matched;
    where.front = front_before_;
    fail({mismatch::driver_failure,
          {newer::error_graph_recapture_failure, "cuStreamBeginRecaptureToGraph"}});
    return track(where, kind, std::move(note));
  }
  if (where.at.nodes.size() == 1) note.node = where.at.nodes.front();
  notes_.push_back(std::move(note));
}

void session_state::add_memory_node(stream_ref stream, node_note note,
                                    const std::function<call_result()>& enqueue) {
  const node_kind kind = note.memory->kind;
  add_node(stream, kind, std::move(note), enqueue);
}

void session_state::launch(stream_ref stream, const launch_config& config, const kernel& kernel,
                           void* const* arguments) {
  const std::lock_guard lock(mutex_);
  require_open();
  node_note note;
  note.owner = access::state(kernel);
  note.layout = layouts_.of(kernel);
  note.programmatic = is_programmatic(config);
  note.attributes = node_attributes(config, lane_of(stream).priority);
  // Its filter is void since a stream left its session, somewhere.
  if (is_comparing_ && thread_ == std::this_thread::get_id()) note_filter(stream, lane_of(stream));
  if (comparer_ != nullptr)
    return compare_launch(lane_of(stream), std::move(note), config, kernel, arguments);
  add_node(stream, node_kind::kernel, std::move(note),
           [&] { return driver_launch(*table_, stream.get(), config, kernel, arguments); });
  record_launch_events(lane_of(stream), config);
}

// Such an event is recorded behind the kernel, and who waits for it does so by another kind of
// edge.
void session_state::record_launch_events(lane& where, const launch_config& config) {
  for (const launch_attribute& each : config.attributes) {
    const auto port = port_of_event(each);
    const CUevent event = port ? event_in(each) : nullptr;
    if (event == nullptr) continue;
    record_event(where, event);
    for (model::dependency& edge : events_[event].front)
      edge.data = {*port, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    note_event(shared_from_this(), event_ref(driver_of(*table_), event));
  }
}

void session_state::copy(stream_ref stream, void* dst, const void* src, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  require_open();
  if (comparer_ != nullptr) return compare_copy(lane_of(stream), dst, src, bytes);
  if (copies_own_memory(dst, src)) return stand_in_for_copy(stream, copy_of(dst, src, bytes));
  add_node(stream, node_kind::copy, {},
           [&] { return driver_copy(*table_, stream.get(), dst, src, bytes); });
}

void session_state::fill(stream_ref stream, void* dst, std::uint32_t value, std::size_t count,
                         unsigned element_size) {
  const std::lock_guard lock(mutex_);
  require_open();
  if (comparer_ != nullptr) return compare_fill(lane_of(stream), dst, value, count, element_size);
  add_node(stream, node_kind::fill, {},
           [&] { return driver_fill(*table_, stream.get(), dst, value, count, element_size); });
}

void session_state::copy_rows(stream_ref stream, const row_copy& rows) {
  const std::lock_guard lock(mutex_);
  require_open();
  if (comparer_ != nullptr) return compare_copy(lane_of(stream), rows);
  if (copies_own_memory(rows.dst, rows.src)) return stand_in_for_copy(stream, copy_of(rows));
  add_node(stream, node_kind::copy, {}, [&] { return driver_copy(*table_, stream.get(), rows); });
}

void session_state::fill_rows(stream_ref stream, const row_fill& rows) {
  const std::lock_guard lock(mutex_);
  require_open();
  if (comparer_ != nullptr) return compare_fill(lane_of(stream), rows);
  add_node(stream, node_kind::fill, {}, [&] { return driver_fill(*table_, stream.get(), rows); });
}

void session_state::host_call(stream_ref stream, host_function function) {
  // Made, and destroyed if the graph's own stays, outside the lock: it is the user's code.
  const std::shared_ptr<const void> made =
      released_relaxed(*table_, std::make_shared<host_payload>(host_payload{std::move(function)}));
  const auto* const payload = static_cast<const host_payload*>(made.get());
  std::shared_ptr<const void> owner = made;
  const std::lock_guard lock(mutex_);
  require_open();
  const std::size_t next = matches_at_calls() ? matched_ : notes_.size();
  if (client_ && next < client_->expected().size()) {
    // Where the graph's own function is as good, it stays: then nothing changed for the driver.
    const std::shared_ptr<const void>& old = client_->expected().owner(next);
    const host_payload* former = payload_of(client_->expected(), next);
    if (former != nullptr && same_host_function(former->function, payload->function)) owner = old;
  }
  void* const data = const_cast<void*>(owner.get());
  if (comparer_ != nullptr) return compare_host_call(lane_of(stream), std::move(owner));
  add_node(stream, node_kind::host, {.owner = std::move(owner)}, [&] {
    return call_result{table_->launch_host_func(stream.get(), &run_host_payload, data),
                       "cuLaunchHostFunc"};
  });
}

void session_state::record_event(lane& where, CUevent event) {
  events_[event] = {&where, where.added, where.at, where.front};
}

void session_state::wait_event(lane& where, CUevent event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  event_note& note = found->second;
  if (note.source != &where && note.source->added == note.added) note.source->joined = true;
  if (!tracks_calls()) return;
  for (const model::dependency& each : note.front)
    if (std::find(where.front.begin(), where.front.end(), each) == where.front.end())
      where.front.push_back(each);
}

void session_state::record(stream_ref stream, event_ref event, bool external) {
  const std::lock_guard lock(mutex_);
  require_open();
  if (external && comparer_ != nullptr)
    return compare_event(lane_of(stream), node_kind::event_record, event);
  if (external)
    return add_node(stream, node_kind::event_record, {}, [&] {
      return call_result{
          table_->event_record_with_flags(event.get(), stream.get(), CU_EVENT_RECORD_EXTERNAL),
          "cuEventRecordWithFlags"};
    });
  lane& where = lane_of(stream);
  if (comparer_ != nullptr) return record_held(where, event);
  if (!failure_ && refresh(where))
    keeps_going(where, {table_->event_record(event.get(), stream.get()), "cuEventRecord"});
  record_event(where, event.get());
  note_event(shared_from_this(), event);
}

void session_state::wait(stream_ref stream, event_ref event, bool external) {
  const std::lock_guard lock(mutex_);
  require_open();
  if (external && comparer_ != nullptr)
    return compare_event(lane_of(stream), node_kind::event_wait, event);
  if (external)
    return add_node(stream, node_kind::event_wait, {}, [&] {
      return call_result{
          table_->stream_wait_event(stream.get(), event.get(), CU_EVENT_WAIT_EXTERNAL),
          "cuStreamWaitEvent"};
    });
  if (comparer_ != nullptr) return wait_held(stream, event);
  lane* const known = find_lane(stream);
  lane& where = known != nullptr ? *known : bring_in(stream);
  wait_or_take_out(where, known == nullptr, event.get());
  wait_event(where, event.get());
  if (known == nullptr) return;
  ++where.added;
  where.joined = false;
}

// Lets `where` wait. If that throws, the session is as before: a stream that came in for it is out.
void session_state::wait_or_take_out(lane& where, bool is_new, CUevent event) {
  if (failure_) return;
  try {
    if (!is_new && !refresh(where)) return;
    lane& asked = is_new ? lanes_.front() : where;
    if (is_new && !refresh(asked)) return;
    const call_result result{table_->stream_wait_event(where.stream.get(), event, 0),
                             "cuStreamWaitEvent"};
    if (keeps_going(asked, result)) refresh(where);
  } catch (...) {
    if (is_new) take_out_last();
    throw;
  }
}

// Forks and joins use an event of the session's own: its meaning does not outlast the two calls.
CUevent session_state::link_event(CUcontext context) {
  auto found = link_events_.find(context);
  if (found == link_events_.end())
    found =
        link_events_.emplace(context, event(context::borrow(driver_of(*table_), context))).first;
  return found->second.get();
}

void session_state::link(lane& from, lane& to, bool is_new) {
  if (is_eager_) return link_eager(from, to);
  if (comparer_ != nullptr) return link_held(from, to, is_new);
  const CUevent event = link_event(from.context);
  if (!failure_ && refresh(from) &&
      keeps_going(from, {table_->event_record(event, from.stream.get()), "cuEventRecord"}))
    wait_or_take_out(to, is_new, event);
  record_event(from, event);
  wait_event(to, event);
  if (is_new) return;
  ++to.added;
  to.joined = false;
}

std::uint32_t session_state::add_builder(const lane& where) {
  const auto index =
      static_cast<std::uint32_t>(std::find_if(lanes_.begin(), lanes_.end(),
                                              [&](const lane& each) { return &each == &where; }) -
                                 lanes_.begin());
  builders_.push_back({index, true});
  return static_cast<std::uint32_t>(builders_.size() - 1);
}

const session_state::builder_entry& session_state::require_building(std::uint32_t builder) const {
  require_open();
  const auto& found = builders_[builder];
  if (found.open) return found;
  throw usage_error("the builder of " + identify(lanes_[found.lane].stream.get()) +
                    " was joined: fork again for more work beside this one");
}

// Without the lock, since every launch asks: builders are used by one thread at a time.
stream_ref session_state::stream_of(std::uint32_t builder) const {
  if (phase_ == phase::open && builders_[builder].open) {
    const stream_ref& plain = lanes_[builders_[builder].lane].stream;
    if (plain.get() != CU_STREAM_PER_THREAD) return plain;
  }
  const lane& where = lanes_[require_building(builder).lane];
  require_own_thread(where);
  return where.stream;
}

bool session_state::is_building(std::uint32_t builder) const noexcept {
  const std::lock_guard lock(mutex_);
  return phase_ == phase::open && builders_[builder].open;
}

stream_ref session_state::take_fork_stream(const lane& like) {
  if (parent_ != nullptr) return root().take_fork_stream(like);
  const stream_options wanted{.blocking = like.blocking, .priority = like.priority};
  const auto unused = fork_streams_.begin() + static_cast<std::ptrdiff_t>(fork_streams_used_);
  auto found = std::find_if(unused, fork_streams_.end(), [&](const fork_stream& each) {
    return each.options.blocking == wanted.blocking && each.options.priority == wanted.priority &&
           each.context == like.context;
  });
  if (found == fork_streams_.end()) {
    fork_streams_.push_back(
        {stream(context::borrow(driver_of(*table_), like.context), wanted), wanted, like.context});
    found = std::prev(fork_streams_.end());
  }
  std::iter_swap(found, fork_streams_.begin() + static_cast<std::ptrdiff_t>(fork_streams_used_));
  return fork_streams_[fork_streams_used_++].handle;
}

std::vector<std::uint32_t> session_state::fork(std::uint32_t builder, std::size_t count) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t from = require_building(builder).lane;
  std::vector<std::uint32_t> forks;
  for (std::size_t i = 0; i < count; ++i) {
    lane& made = bring_in(take_fork_stream(lanes_[from]));
    link(lanes_[from], made, true);
    forks.push_back(add_builder(made));
  }
  return forks;
}

std::uint32_t session_state::fork(std::uint32_t builder, stream_ref onto) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t from = require_building(builder).lane;
  if (&table_of(onto) != table_)
    throw usage_error("fork onto " + identify(onto.get()) +
                      " of another driver: all streams of a session are of one driver");
  lane* const known = find_lane(onto);
  lane& where = known != nullptr ? *known : bring_in(onto);
  link(lanes_[from], where, known == nullptr);
  return add_builder(where);
}

void session_state::join(std::uint32_t builder, std::span<const std::uint32_t> forks) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t into = require_building(builder).lane;
  for (const std::uint32_t fork : forks) {
    if (builder == fork)
      throw usage_error("a builder cannot be joined into itself (" +
                        identify(lanes_[into].stream.get()) + ")");
    if (fork == 0)
      throw usage_error("the builder on which " + describe() + " cannot be joined into another");
    require_building(fork);
  }
  for (const std::uint32_t fork : forks) {
    const std::uint32_t from = builders_[fork].lane;
    if (into != from) link(lanes_[from], lanes_[into], false);
    builders_[fork].open = false;
  }
}

void session_state::keep(std::uint32_t builder, std::shared_ptr<const void> owner) {
  const std::lock_guard lock(mutex_);
  require_building(builder);
  kept_.push_back(released_relaxed(*table_, std::move(owner)));
}

void session_state::tag(std::uint32_t builder, std::string_view name) {
  const std::lock_guard lock(mutex_);
  require_building(builder);
  tree_->tags.emplace_back(name);
  tree_->tag = static_cast<std::uint32_t>(tree_->tags.size() - 1);
  tree_->tag_text = &tree_->tags.back();
}

std::vector<std::string> session_state::open_forks() const {
  std::vector<std::string> forks;
  for (const lane& each : lanes_)
    if (each.stream != origin_ && !each.joined) forks.push_back(identify(each.stream.get()));
  return forks;
}

}  // namespace detail
}  // namespace cugraft
