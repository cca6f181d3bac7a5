// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"
#include "entry.hpp"
#include "stream.hpp"

namespace cugraft_sim {

CUresult impl::launch_host_func(CUstream on, CUhostFn run, void* user_data) {
  std::shared_ptr<stream> where;
  if (const CUresult result = find_stream(on, where)) return result;
  if (!run) return CUDA_ERROR_INVALID_VALUE;
  return submit(*where, {where->owner->handle, host_operation{run, user_data}});
}

}  // namespace cugraft_sim
