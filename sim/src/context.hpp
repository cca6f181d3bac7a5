// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "cuda_api.hpp"
#include "work_queue.hpp"

namespace cugraft_sim {

struct stream;

/// A context. It stays in memory after its end, for what still refers to it.
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
  /// What records and waits of the whole context run on; made by the first of them.
  std::shared_ptr<stream> whole;
  /// What all later work of the context waits for.
  std::vector<ticket> barrier;
  /// Contexts whose memory its kernels may use.
  std::set<CUcontext> peers;

  /// Keeps the first failure.
  void fail(CUresult result) noexcept {
    CUresult none = CUDA_SUCCESS;
    failure.compare_exchange_strong(none, result);
  }
};

/// Makes a context, under the handle of one that is gone if `known` is not null.
std::shared_ptr<context> make_context(CUdevice on, CUcontext known);

/// Ends a context: waits for its work, with the driver's lock given up meanwhile.
void end_context(context& which);

/// Whether it is, or was, its device's primary context.
bool is_primary(const context& which) noexcept;

/// The context of this handle: INVALID_CONTEXT where there never was one, CONTEXT_IS_DESTROYED, or
/// the failure of its work. It is found in the last two cases too.
CUresult find_context(CUcontext handle, std::shared_ptr<context>& found);

/// The calling thread's current context, with the same errors.
CUresult current_context(std::shared_ptr<context>& found);

/// The handle on top of the calling thread's stack; null where it is empty.
CUcontext current_context_handle() noexcept;

/// Depth of the calling thread's context stack.
std::size_t context_stack_depth() noexcept;

/// All work of a context that was enqueued so far.
std::vector<ticket> all_work(const context& of);

/// Waits for all work of a context that was enqueued so far. Gives the driver's lock up meanwhile.
void wait_for_work(const context& of);

/// `wait_for_work`, and what the work failed with.
CUresult synchronize(const std::shared_ptr<context>& which);

}  // namespace cugraft_sim
