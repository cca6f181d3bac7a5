// SPDX-License-Identifier: Apache-2.0
#include "event.hpp"

#include <utility>

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "state.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned known_event_flags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

// What queries and synchronisations ask first.
CUresult begin_wait(CUevent handle, std::shared_ptr<event>& found) {
  if (const CUresult result = find_event(handle, found)) return result;
  if (const CUresult result = capture_guard_event(*found)) return result;
  return capture_guard_unsafe();
}

CUresult record(CUevent handle, CUstream on, unsigned flags) {
  std::shared_ptr<stream> where;
  if (const CUresult result = find_stream(on, where)) return result;
  std::shared_ptr<event> which;
  if (const CUresult result = find_event(handle, which)) return result;
  if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  if (where->owner != which->owner) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = guard_legacy(*where)) return result;
  if (is_capturing(*where)) return capture_event_record(*where, *which, flags);
  if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;  // as an H200
  which->captured.reset();
  return submit(*where, {where->owner->handle, event_record_operation{handle, nullptr}});
}

bool has_timing(const event& of) noexcept { return !(of.flags & CU_EVENT_DISABLE_TIMING); }

}  // namespace

void event_record::complete() {
  const std::scoped_lock lock(mutex_);
  if (time_) return;
  time_ = clock::now();
  changed_.notify_all();
}

bool event_record::is_done() const {
  const std::scoped_lock lock(mutex_);
  return time_.has_value();
}

void event_record::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return time_.has_value(); });
}

std::optional<event_record::clock::time_point> event_record::time() const {
  const std::scoped_lock lock(mutex_);
  return time_;
}

CUresult find_event(CUevent handle, std::shared_ptr<event>& found) {
  found = the_state().events.find(handle);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  return found->owner->destroyed ? CUDA_ERROR_INVALID_CONTEXT : found->owner->failure.load();
}

std::shared_ptr<pending_record> start_record(event& of) {
  of.last = std::make_shared<event_record>();
  return std::make_shared<pending_record>(of.last);
}

CUresult impl::event_create(CUevent* made, unsigned flags) {
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  const bool untimed_if_shared =
      !(flags & CU_EVENT_INTERPROCESS) || (flags & CU_EVENT_DISABLE_TIMING);
  if (!made || (flags & ~known_event_flags) != 0 || !untimed_if_shared)
    return CUDA_ERROR_INVALID_VALUE;
  auto created = std::make_shared<event>();
  created->owner = std::move(current);
  created->flags = flags;
  *made = created->handle = the_state().events.add(created);
  return CUDA_SUCCESS;
}

CUresult impl::event_destroy(CUevent handle) {
  std::shared_ptr<event> found;
  const CUresult result = find_event(handle, found);
  the_state().events.remove(handle);
  return result;
}

CUresult impl::event_record(CUevent which, CUstream on) {
  return record(which, on, CU_EVENT_RECORD_DEFAULT);
}

CUresult impl::event_record_with_flags(CUevent which, CUstream on, unsigned flags) {
  return record(which, on, flags);
}

CUresult impl::stream_wait_event(CUstream on, CUevent handle, unsigned flags) {
  std::shared_ptr<stream> where;
  if (const CUresult result = find_stream(on, where)) return result;
  std::shared_ptr<event> which;
  if (const CUresult result = find_event(handle, which)) return result;
  if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = guard_legacy(*where)) return result;
  if (is_capturing(*where) || which->captured) return capture_stream_wait(*where, *which, flags);
  if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;  // as an H200
  return submit(*where, {where->owner->handle, event_wait_operation{handle, nullptr}});
}

CUresult impl::event_query(CUevent handle) {
  std::shared_ptr<event> found;
  if (const CUresult result = begin_wait(handle, found)) return result;
  return !found->last || found->last->is_done() ? found->owner->failure.load()
                                                : CUDA_ERROR_NOT_READY;
}

CUresult impl::event_synchronize(CUevent handle) {
  std::shared_ptr<event> found;
  if (const CUresult result = begin_wait(handle, found)) return result;
  if (const auto last = found->last) {
    const unlock_guard unlocked;
    last->wait();
  }
  return found->owner->failure;
}

CUresult impl::event_elapsed_time(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  std::shared_ptr<event> start;
  if (const CUresult result = find_event(start_handle, start)) return result;
  std::shared_ptr<event> end;
  if (const CUresult result = find_event(end_handle, end)) return result;
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  if (start->captured || end->captured) return CUDA_ERROR_CAPTURED_EVENT;  // harms no capture
  const bool comparable = start->owner == end->owner && has_timing(*start) && has_timing(*end);
  if (!comparable || !start->last || !end->last) return CUDA_ERROR_INVALID_HANDLE;
  const auto started = start->last->time();
  const auto ended = end->last->time();
  if (!started || !ended) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(*ended - *started).count();
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
