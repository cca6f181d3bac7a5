// SPDX-License-Identifier: Apache-2.0
#include "cugraft/event.hpp"

#include <utility>

#include "cugraft/error.hpp"
#include "handles/context_scope.hpp"
#include "handles/open_sessions.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

unsigned native_flags(const event_options& options) noexcept {
  unsigned flags = CU_EVENT_DEFAULT;
  if (!options.timing) flags |= CU_EVENT_DISABLE_TIMING;
  if (options.blocking_wait) flags |= CU_EVENT_BLOCKING_SYNC;
  return flags;
}

CUevent create(const context& context, const event_options& options) {
  const context_scope current(context);  // where the event belongs is said in no other way
  return make_handle(context.get_driver(), &driver_table::event_create,
                     &driver_table::event_destroy, native_flags(options));
}

[[noreturn]] void refuse_untimed(CUevent start, CUevent end) {
  throw usage_error("no time between " + identify(start) + " and " + identify(end) +
                    ": both must be made with event_options::timing, be recorded, and be done");
}

}  // namespace

event_ref::event_ref(const driver& driver, CUevent event) noexcept
    : table_(&table_of(driver)), handle_(event) {}

bool event_ref::is_done() const {
  refuse_if_captured(*this);             // asking the driver would end the capture (driver-facts)
  const relaxed_scope relaxed(*table_);  // and other captures of this thread
  const CUresult result = table_->event_query(handle_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuEventQuery", handle_);
  return true;
}

void event_ref::synchronize() const {
  refuse_if_captured(*this);
  const relaxed_scope relaxed(*table_);
  check(table_->event_synchronize(handle_), "cuEventSynchronize", handle_);
}

float event_ref::milliseconds_since(event_ref start) const {
  refuse_if_captured(*this);
  refuse_if_captured(start);
  float milliseconds = 0;
  const CUresult result = table_->event_elapsed_time(&milliseconds, start.handle_, handle_);
  if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_NOT_READY)
    refuse_untimed(start.handle_, handle_);
  check(result, "cuEventElapsedTime", handle_);
  return milliseconds;
}

event::event(const context& context, const event_options& options)
    : event_ref(context.get_driver(), create(context, options)), context_(state_of(context)) {}

event::event(event&& other) noexcept : event_ref(other), context_(std::move(other.context_)) {
  other.handle_ = nullptr;
}

event& event::operator=(event&& other) noexcept {
  if (this != &other) {
    reset();
    event_ref::operator=(other);
    other.handle_ = nullptr;
    context_ = std::move(other.context_);
  }
  return *this;
}

event event::from_native_handle(const driver& driver, CUevent handle) noexcept {
  event result;
  static_cast<event_ref&>(result) = event_ref(driver, handle);
  return result;
}

event::~event() { reset(); }

void event::reset() noexcept {
  forget_event(*this);  // the driver may give the handle to another event
  if (const CUevent handle = release())
    release_or_report(*table_, handle, &driver_table::event_destroy, handle);
  context_.reset();  // last: the driver destroys the event in its context
}

void event::close() {
  forget_event(*this);
  const auto context = std::move(context_);
  if (const CUevent handle = release())
    release_or_throw(*table_, handle, &driver_table::event_destroy, handle);
}

CUevent event::release() noexcept { return std::exchange(handle_, nullptr); }

}  // namespace cugraft
