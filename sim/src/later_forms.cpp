// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "forms.hpp"
#include "library.hpp"

// Forms that a base name resolves to at a high version although their signature, or what they
// check, differs from that of the form in the list (driver-rules 1.1, 6). Whoever asks for too high
// a version gets them here as on a real driver, with the wrong number of arguments.

namespace cugraft_sim {
namespace {

// The context of a kernel has to be that of its function, where both are named (driver-rules 12).
CUresult check_context_of_kernel(const CUgraphNodeParams* parameters) {
  if (!parameters || parameters->type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_SUCCESS;
  const CUcontext given = parameters->kernel.ctx;
  if (!parameters->kernel.func || !given) return CUDA_SUCCESS;
  const auto found = the_state().functions.find(parameters->kernel.func);
  return !found || found->owner->handle == given ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

CUresult impl::ctx_synchronize_v2(CUcontext which) {
  if (!which) return ctx_synchronize();
  std::shared_ptr<context> found;
  if (const CUresult result = find_context(which, found)) return result;
  if (const CUresult result = capture_guard_context(*found)) return result;
  if (const CUresult result = capture_guard_unsafe()) return result;
  return synchronize(found);
}

CUresult impl::ctx_get_device_v2(CUdevice* device, CUcontext which) {
  if (!which) return ctx_get_device(device);
  std::shared_ptr<context> found;
  if (const CUresult result = find_context(which, found)) return result;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = found->device;
  return CUDA_SUCCESS;
}

CUresult impl::launch_host_func_v2(CUstream on, CUhostFn run, void* user_data, unsigned mode) {
  constexpr unsigned spin_wait = 1;  // CU_HOST_TASK_SYNC_SPINWAIT, the highest mode
  if (mode > spin_wait) return CUDA_ERROR_INVALID_VALUE;
  return launch_host_func(on, run, user_data);
}

// A stream of this driver never belongs to a green context.
CUresult impl::stream_get_ctx_v2(CUstream of, CUcontext* of_device, CUgreenCtx* green) {
  if (green) *green = nullptr;
  return stream_get_ctx(of, of_device);
}

// It tells of no failure of work that is not done yet; here neither does the first form.
CUresult impl::event_elapsed_time_v2(float* milliseconds, CUevent begin, CUevent end) {
  return event_elapsed_time(milliseconds, begin, end);
}

// Shares of a device's multiprocessors need a service that is not there.
CUresult impl::ctx_create_v3(CUcontext* made, CUexecAffinityParam* shares, int count,
                             unsigned flags, CUdevice on) {
  if (count < 0 || (count > 0 && !shares)) return CUDA_ERROR_INVALID_VALUE;
  return count > 0 ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : ctx_create(made, flags, on);
}

// Null parameters ask for nothing.
CUresult impl::ctx_create_v4(CUcontext* made, context_parameters* parameters, unsigned flags,
                             CUdevice on) {
  if (!parameters) return ctx_create(made, flags, on);
  if (parameters->graphics)
    return parameters->shares ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
  return ctx_create_v3(made, parameters->shares, parameters->share_count, flags, on);
}

CUresult impl::graph_add_node_v3(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                 const CUgraphEdgeData* data, std::size_t count,
                                 CUgraphNodeParams* parameters) {
  const CUresult result = check_context_of_kernel(parameters);
  return result != CUDA_SUCCESS ? result : graph_add_node(made, to, nodes, data, count, parameters);
}

CUresult impl::graph_node_set_params_v2(CUgraphNode which, CUgraphNodeParams* parameters) {
  const CUresult result = check_context_of_kernel(parameters);
  return result != CUDA_SUCCESS ? result : graph_node_set_params(which, parameters);
}

}  // namespace cugraft_sim
