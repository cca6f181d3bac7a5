// SPDX-License-Identifier: Apache-2.0
#include "later_forms.hpp"

#include <array>

#include "calls.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "library.hpp"

// Forms that a base name resolves to at a high version although their signature, or what they
// check, differs from that of the form in the list (driver-rules 1.1, 6). Whoever asks for too high
// a version gets them here as on a real driver, with the wrong number of arguments.

namespace cugraft_sim {
namespace {

bool driver_has(int version) noexcept { return the_state().version >= version; }

CUresult synchronize_context(CUcontext which) {
  if (!driver_has(13000)) return error_requires_newer_driver;
  if (!which) return impl::ctx_synchronize();
  std::shared_ptr<context> found;
  if (const CUresult result = find_context(which, found)) return result;
  if (const CUresult result = capture_guard_context(*found)) return result;
  if (const CUresult result = capture_guard_unsafe()) return result;
  return synchronize(found);
}

CUresult get_device_of_context(CUdevice* device, CUcontext which) {
  if (!driver_has(13000)) return error_requires_newer_driver;
  if (!which) return impl::ctx_get_device(device);
  std::shared_ptr<context> found;
  if (const CUresult result = find_context(which, found)) return result;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = found->device;
  return CUDA_SUCCESS;
}

CUresult launch_host_function(CUstream on, CUhostFn run, void* user_data, unsigned mode) {
  if (!driver_has(13020)) return error_requires_newer_driver;
  constexpr unsigned spin_wait = 1;  // CU_HOST_TASK_SYNC_SPINWAIT, the highest mode
  if (mode > spin_wait) return CUDA_ERROR_INVALID_VALUE;
  return impl::launch_host_func(on, run, user_data);
}

// A stream of this driver never belongs to a green context.
CUresult get_contexts_of_stream(CUstream of, CUcontext* of_device, CUgreenCtx* green) {
  if (!driver_has(12050)) return error_requires_newer_driver;
  if (green) *green = nullptr;
  return impl::stream_get_ctx(of, of_device);
}

// Shares of a device's multiprocessors need a service that is not there.
CUresult create_context_with_share(CUcontext* made, CUexecAffinityParam* shares, int count,
                                   unsigned flags, CUdevice on) {
  if (!driver_has(11040)) return error_requires_newer_driver;
  if (count < 0 || (count > 0 && !shares)) return CUDA_ERROR_INVALID_VALUE;
  return count > 0 ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : impl::ctx_create(made, flags, on);
}

// CUctxCreateParams (12.5).
struct context_parameters {
  CUexecAffinityParam* shares;
  int share_count;
  void* graphics;
};

// Null parameters ask for nothing.
CUresult create_context_with_parameters(CUcontext* made, context_parameters* parameters,
                                        unsigned flags, CUdevice on) {
  if (!driver_has(12050)) return error_requires_newer_driver;
  if (!parameters) return impl::ctx_create(made, flags, on);
  if (parameters->graphics)
    return parameters->shares ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
  return create_context_with_share(made, parameters->shares, parameters->share_count, flags, on);
}

// The context of a kernel has to be that of its function, where both are named (driver-rules 12).
CUresult check_context_of_kernel(const CUgraphNodeParams* parameters) {
  if (!driver_has(13040)) return error_requires_newer_driver;
  if (!parameters || parameters->type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_SUCCESS;
  const CUcontext given = parameters->kernel.ctx;
  if (!parameters->kernel.func || !given) return CUDA_SUCCESS;
  const auto found = the_state().functions.find(parameters->kernel.func);
  return !found || found->owner->handle == given ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult add_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                  const CUgraphEdgeData* data, std::size_t count, CUgraphNodeParams* parameters) {
  const CUresult result = check_context_of_kernel(parameters);
  return result != CUDA_SUCCESS ? result
                                : impl::graph_add_node(made, to, nodes, data, count, parameters);
}

CUresult set_node(CUgraphNode which, CUgraphNodeParams* parameters) {
  const CUresult result = check_context_of_kernel(parameters);
  return result != CUDA_SUCCESS ? result : impl::graph_node_set_params(which, parameters);
}

}  // namespace

namespace exported {

#define CUGRAFT_EXPORT(symbol) __asm__(symbol) __attribute__((visibility("default")))

CUresult ctx_synchronize_v2(CUcontext which) CUGRAFT_EXPORT("cuCtxSynchronize_v2");
CUresult ctx_synchronize_v2(CUcontext which) {
  return enter(function_id::ctx_synchronize, &synchronize_context, which);
}

CUresult ctx_get_device_v2(CUdevice* device, CUcontext which) CUGRAFT_EXPORT("cuCtxGetDevice_v2");
CUresult ctx_get_device_v2(CUdevice* device, CUcontext which) {
  return enter(function_id::ctx_get_device, &get_device_of_context, device, which);
}

CUresult launch_host_func_v2(CUstream on, CUhostFn run, void* user_data, unsigned mode)
    CUGRAFT_EXPORT("cuLaunchHostFunc_v2");
CUresult launch_host_func_v2(CUstream on, CUhostFn run, void* user_data, unsigned mode) {
  return enter(function_id::launch_host_func, &launch_host_function, on, run, user_data, mode);
}

CUresult stream_get_ctx_v2(CUstream of, CUcontext* of_device, CUgreenCtx* green)
    CUGRAFT_EXPORT("cuStreamGetCtx_v2");
CUresult stream_get_ctx_v2(CUstream of, CUcontext* of_device, CUgreenCtx* green) {
  return enter(function_id::stream_get_ctx, &get_contexts_of_stream, of, of_device, green);
}

CUresult ctx_create_v3(CUcontext* made, CUexecAffinityParam* shares, int count, unsigned flags,
                       CUdevice on) CUGRAFT_EXPORT("cuCtxCreate_v3");
CUresult ctx_create_v3(CUcontext* made, CUexecAffinityParam* shares, int count, unsigned flags,
                       CUdevice on) {
  return enter(function_id::ctx_create, &create_context_with_share, made, shares, count, flags, on);
}

CUresult ctx_create_v4(CUcontext* made, context_parameters* parameters, unsigned flags, CUdevice on)
    CUGRAFT_EXPORT("cuCtxCreate_v4");
CUresult ctx_create_v4(CUcontext* made, context_parameters* parameters, unsigned flags,
                       CUdevice on) {
  return enter(function_id::ctx_create, &create_context_with_parameters, made, parameters, flags,
               on);
}

CUresult graph_add_node_v3(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                           const CUgraphEdgeData* data, std::size_t count,
                           CUgraphNodeParams* parameters) CUGRAFT_EXPORT("cuGraphAddNode_v3");
CUresult graph_add_node_v3(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                           const CUgraphEdgeData* data, std::size_t count,
                           CUgraphNodeParams* parameters) {
  return enter(function_id::graph_add_node, &add_node, made, to, nodes, data, count, parameters);
}

CUresult graph_node_set_params_v2(CUgraphNode which, CUgraphNodeParams* parameters)
    CUGRAFT_EXPORT("cuGraphNodeSetParams_v2");
CUresult graph_node_set_params_v2(CUgraphNode which, CUgraphNodeParams* parameters) {
  return enter(function_id::graph_node_set_params, &set_node, which, parameters);
}

#undef CUGRAFT_EXPORT

}  // namespace exported

void* find_later_form(function_id id, int version) noexcept {
  struct later_form {
    function_id id;
    int version;
    void* address;
  };
  static const std::array forms{
      later_form{function_id::ctx_synchronize, 13000,
                 reinterpret_cast<void*>(&exported::ctx_synchronize_v2)},
      later_form{function_id::ctx_get_device, 13000,
                 reinterpret_cast<void*>(&exported::ctx_get_device_v2)},
      later_form{function_id::launch_host_func, 13020,
                 reinterpret_cast<void*>(&exported::launch_host_func_v2)},
      later_form{function_id::stream_get_ctx, 12050,
                 reinterpret_cast<void*>(&exported::stream_get_ctx_v2)},
      later_form{function_id::graph_add_node, 13040,
                 reinterpret_cast<void*>(&exported::graph_add_node_v3)},
      later_form{function_id::graph_node_set_params, 13040,
                 reinterpret_cast<void*>(&exported::graph_node_set_params_v2)},
      later_form{function_id::ctx_create, 12050, reinterpret_cast<void*>(&exported::ctx_create_v4)},
      later_form{function_id::ctx_create, 11040, reinterpret_cast<void*>(&exported::ctx_create_v3)},
  };
  for (const later_form& form : forms)
    if (form.id == id && version >= form.version) return form.address;
  return nullptr;
}

}  // namespace cugraft_sim
