// SPDX-License-Identifier: Apache-2.0
#include "cugraft/stream.hpp"
#include "driver/call.hpp"
#include "handles/open_sessions.hpp"

// Events between streams: seen by the open session that has the stream or the event.

namespace cugraft {
namespace {

[[noreturn]] void refuse_external(stream_ref stream, const char* what) {
  throw usage_error(identify(stream.get()) + " is not capturing: " + what +
                    " is for event nodes; use the ordinary call outside a capture");
}

void require_same_driver(stream_ref stream, event_ref event) {
  if (&table_of(event) != &table_of(stream))
    throw usage_error(identify(event.get()) + " and " + identify(stream.get()) +
                      " are of two drivers: use an event of the stream's driver");
}

}  // namespace

void stream_ref::record(event_ref event) const {
  require_same_driver(*this, event);
  if (const auto session = recorder_of(*this)) return session->record(*this, event, false);
  call(*this, &driver_table::event_record, event.get(), handle_);
  forget_event(event);
}

void stream_ref::wait(event_ref event) const {
  require_same_driver(*this, event);
  auto session = recorder_of(*this);
  if (!session) session = recorder_of_event(event);  // brings this stream into that session
  if (session) return session->wait(*this, event, false);
  call(*this, &driver_table::stream_wait_event, handle_, event.get(), 0U);
}

void stream_ref::wait(stream_ref other) const {
  const event mark(other.get_context());
  other.record(mark);
  wait(mark);
}

void stream_ref::record_external(event_ref event) const {
  require_same_driver(*this, event);
  if (const auto session = recorder_of(*this)) return session->record(*this, event, true);
  if (!is_capturing()) refuse_external(*this, "record_external");
  call(*this, &driver_table::event_record_with_flags, event.get(), handle_,
       unsigned{CU_EVENT_RECORD_EXTERNAL});
}

void stream_ref::wait_external(event_ref event) const {
  require_same_driver(*this, event);
  if (const auto session = recorder_of(*this)) return session->wait(*this, event, true);
  if (!is_capturing()) refuse_external(*this, "wait_external");
  call(*this, &driver_table::stream_wait_event, handle_, event.get(),
       unsigned{CU_EVENT_WAIT_EXTERNAL});
}

}  // namespace cugraft
