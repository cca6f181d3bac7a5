// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cuda_api.hpp"
#include "operation.hpp"
#include "work_queue.hpp"

namespace cugraft_sim {

struct stream_capture;
struct context;

struct stream {
  stream() = default;
  ~stream() { queue->close(); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  CUstream handle = nullptr;
  std::shared_ptr<context> owner;
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<work_queue> queue = std::make_shared<work_queue>();

  /// The capture that the stream is part of, active or invalidated; null where it is in none.
  std::shared_ptr<stream_capture> capture;

  bool is_legacy() const noexcept { return handle == CU_STREAM_LEGACY; }
  /// Whether its work and that of the legacy stream wait for each other.
  bool is_blocking() const noexcept { return !is_legacy() && !(flags & CU_STREAM_NON_BLOCKING); }
};

/// The stream of this handle: CU_STREAM_LEGACY is the legacy stream of the current context,
/// CU_STREAM_PER_THREAD the calling thread's, null what it is to the present call. INVALID_HANDLE
/// where there never was one or its context is gone, CONTEXT_IS_DESTROYED for a destroyed one, and
/// the failure of its context's work. A stream that is still there is found in all cases.
CUresult find_stream(CUstream handle, std::shared_ptr<stream>& found);

/// Before a use of `used`, if it is a legacy stream: 906 where a blocking stream captures.
CUresult guard_legacy(const stream& used);

/// What every call that gives a stream work ends in: adds a node if the stream is capturing, else
/// enqueues the operation.
CUresult submit(CUstream on, operation work, const launch_extras& extras = {});
CUresult submit(stream& on, operation work, const launch_extras& extras = {});

/// Gives the stream's worker a task, after earlier work of the stream, what the legacy stream's
/// rules ask for, and `after`. The task runs without the driver's lock. It is dropped unrun if the
/// context's work has failed before; what it returns, if not success, becomes that failure.
CUresult enqueue(stream& on, std::function<CUresult()> task, std::vector<ticket> after = {});

/// Everything that the stream's work so far has to wait for, with itself: one ticket for most
/// streams, those of the blocking streams too for the legacy stream.
std::vector<ticket> work_so_far(stream& of);

/// Waits for that work, with the driver's lock given up meanwhile, and tells what it failed with.
CUresult wait_for_stream(stream& which);

}  // namespace cugraft_sim
