// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>

#include "cugraft/cugraft.hpp"

namespace cugraft::bench {

/// The driver's functions as programs without cugraft call them.
struct raw_driver {
  /// @throws error  if the driver lacks one
  explicit raw_driver(const driver& driver);

  decltype(&::cuCtxSetCurrent) ctx_set_current;
  decltype(&::cuDeviceGetName) device_get_name;
  decltype(&::cuLaunchKernel) launch_kernel;
  decltype(&::cuMemcpyDtoDAsync) memcpy_dtod_async;
  decltype(&::cuMemcpy2DAsync) memcpy_2d_async;
  decltype(&::cuMemsetD32Async) memset_d32_async;
  decltype(&::cuMemAllocAsync) mem_alloc_async;
  decltype(&::cuMemFreeAsync) mem_free_async;
  decltype(&::cuEventRecord) event_record;
  decltype(&::cuStreamWaitEvent) stream_wait_event;
  decltype(&::cuStreamBeginCapture) stream_begin_capture;
  decltype(&::cuStreamEndCapture) stream_end_capture;
  decltype(&::cuGraphInstantiateWithFlags) graph_instantiate;
  decltype(&::cuGraphExecUpdate) graph_exec_update;
  decltype(&::cuGraphLaunch) graph_launch;
  decltype(&::cuGraphDestroy) graph_destroy;
  decltype(&::cuGraphExecDestroy) graph_exec_destroy;
};

/// Those of `measured_driver`.
const raw_driver& measured_raw_driver();

/// @throws error  if the call did not succeed
inline void check(CUresult result, const char* function) {
  if (result != CUDA_SUCCESS)
    throw error(std::string(function) + " gave " + std::to_string(result));
}

}  // namespace cugraft::bench
