// SPDX-License-Identifier: Apache-2.0
#include "later_forms.hpp"

#include <array>

#include "calls.hpp"
#include "context.hpp"

// Forms that a base name resolves to at a high version although their signature differs from the
// one that the list asks for (driver-rules 1.1, 6). Whoever asks for too high a version gets them
// here as on a real driver, with the wrong number of arguments.

namespace cugraft_sim {
namespace {

bool driver_has(int version) noexcept { return the_state().version >= version; }

CUresult synchronize_context(CUcontext which) {
  if (!driver_has(13000)) return error_requires_newer_driver;
  if (!which) return impl::ctx_synchronize();
  std::shared_ptr<context> found;
  if (const CUresult result = find_context(which, found)) return result;
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
  };
  for (const later_form& form : forms)
    if (form.id == id && version >= form.version) return form.address;
  return nullptr;
}

}  // namespace cugraft_sim
