// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cuda_api.hpp"

namespace cugraft_sim {

struct context;
struct event;
struct launch_extras;
struct operation;
struct stream;

/// What a stream is to an open capture. Every stream has a `std::shared_ptr<stream_capture>
/// capture`, null while it does not capture.
struct stream_capture;

/// The nodes that a record in a capture stands for. Every event has a
/// `std::shared_ptr<captured_record> captured`, null unless its last record was captured; a plain
/// record resets it.
struct captured_record;

// What stream, event and memory calls ask before they do anything. All of them are called with the
// driver's lock held, return what the call has to return, and do to open captures what the rules
// say (driver-rules 2.3 and 2.4). Where several apply, the order is: stream, event, legacy,
// context, unsafe.

/// Before a call that a capturing stream does not allow (synchronise, query): 900 or success.
CUresult capture_guard_stream(stream& of);

/// Before a query or synchronisation of an event: 907 while the capture is active, INVALID_VALUE
/// once it is not (the record is lost), or success.
CUresult capture_guard_event(event& of);

/// Before a use of the legacy stream of the current context: 906 or success.
CUresult capture_guard_legacy();

/// Before a use of a whole context: 900 (in every thread mode) where a stream of it captures.
CUresult capture_guard_context(const context& used);

/// Before a call that is unsafe during captures: 900 or success. An H200 with driver 580 treats so:
/// allocation and release of memory (stream-ordered ones outside of the capture too),
/// synchronisation and queries of streams and events, library unload, instantiation and destruction
/// of executables. Safe there: loading, making and destroying streams and events, event record and
/// wait, launches and copies elsewhere, all other graph calls, user objects, primary contexts.
CUresult capture_guard_unsafe();

/// Whether `of` is part of a capture, active or invalidated.
bool is_capturing(const stream& of);

/// In place of enqueueing, where `is_capturing`: makes a node.
CUresult capture_operation(stream& on, operation what, const launch_extras& extras);

/// All of `cuEventRecord(WithFlags)` where `on` is capturing. With the external flag it makes a
/// node.
CUresult capture_event_record(stream& on, event& which, unsigned flags);

/// All of `cuStreamWaitEvent` where `on` is capturing or `which` holds a captured record. With the
/// external flag it makes a node.
CUresult capture_stream_wait(stream& on, event& which, unsigned flags);

/// Before a stream is destroyed: its capture goes on without it, or is over if it began there.
void capture_forget_stream(stream& gone);

/// How many streams are part of a capture, active or invalidated.
std::size_t count_capturing_streams();

}  // namespace cugraft_sim
