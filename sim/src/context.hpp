// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "cuda_api.hpp"
#include "work_queue.hpp"

namespace cugraft_sim {

struct stream;

/// A primary context. It stays in memory after the last release, for what still refers to it.
struct context {
  CUcontext handle = nullptr;
  CUdevice device = 0;
  bool destroyed = false;

  /// What asynchronous work failed with; every later call returns it, as on a real driver after an
  /// illegal address. Set by worker threads.
  std::atomic<CUresult> failure{CUDA_SUCCESS};

  /// The legacy stream, `CU_STREAM_LEGACY` or null.
  std::shared_ptr<stream> legacy;
  /// `CU_STREAM_PER_THREAD` of each thread that used it.
  std::map<std::thread::id, std::shared_ptr<stream>> per_thread;
  /// Work of streams that were destroyed before it was done.
  std::vector<ticket> left_work;

  /// Keeps the first failure.
  void fail(CUresult result) noexcept {
    CUresult none = CUDA_SUCCESS;
    failure.compare_exchange_strong(none, result);
  }
};

/// The context of this handle: INVALID_CONTEXT where there never was one, CONTEXT_IS_DESTROYED, or
/// the failure of its work. It is found in the last two cases too.
CUresult find_context(CUcontext handle, std::shared_ptr<context>& found);

/// The calling thread's current context, with the same errors.
CUresult current_context(std::shared_ptr<context>& found);

/// The handle on top of the calling thread's stack; null where it is empty.
CUcontext current_context_handle() noexcept;

/// Depth of the calling thread's context stack.
std::size_t context_stack_depth() noexcept;

/// Waits for all work of a context that was enqueued so far. Gives the driver's lock up meanwhile.
void wait_for_work(const context& of);

/// `wait_for_work`, and what the work failed with.
CUresult synchronize(const std::shared_ptr<context>& which);

}  // namespace cugraft_sim
