// SPDX-License-Identifier: Apache-2.0
#include "base/result_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cugraft {
namespace {

// In the order of the numbers, for the search.
constexpr result_name names[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "an argument is out of its range"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "not enough memory or another resource"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "the driver is not initialised"},
    {4, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down"},
    {5, "CUDA_ERROR_PROFILER_DISABLED", "the profiler is not initialised for this run"},
    {6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", "the profiler is not initialised"},
    {7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", "the profiler runs already"},
    {8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", "the profiler does not run"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "this library is the toolkit's stub, not a driver"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the call needs a newer driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the device is in use by somebody else"},
    {47, "CUDA_ERROR_MULTICAST_RESOURCE_FULL",
     "no hardware resource is left for the multicast object"},
    {100, "CUDA_ERROR_NO_DEVICE", "there is no CUDA device"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "there is no such device, or it cannot do this"},
    {102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "the device has no licence"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "the kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "no context is current, or the context is invalid"},
    {202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "the context is current already"},
    {205, "CUDA_ERROR_MAP_FAILED", "mapping or registering failed"},
    {206, "CUDA_ERROR_UNMAP_FAILED", "unmapping or unregistering failed"},
    {207, "CUDA_ERROR_ARRAY_IS_MAPPED", "the array is mapped"},
    {208, "CUDA_ERROR_ALREADY_MAPPED", "the resource is mapped already"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the image holds no kernel for this device"},
    {210, "CUDA_ERROR_ALREADY_ACQUIRED", "the resource is acquired already"},
    {211, "CUDA_ERROR_NOT_MAPPED", "the resource is not mapped"},
    {212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "the resource is not mapped as an array"},
    {213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "the resource is not mapped as a pointer"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "the device found a memory error that it could not correct"},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "the device does not support this limit"},
    {216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", "the context is current on another thread"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "the devices cannot access each other"},
    {218, "CUDA_ERROR_INVALID_PTX", "the PTX does not compile"},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "the graphics context is invalid"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE",
     "the device found an NVLink error that it could not correct"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "the driver's PTX compiler is not installed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the PTX is newer than the driver"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "compiling PTX is disabled"},
    {224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "the device does not support this affinity"},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
     "the PTX synchronises on the device, which is not supported"},
    {226, "CUDA_ERROR_CONTAINED", "an error on the device was contained"},
    {227, "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION", "the fatbin is newer than the loader"},
    {300, "CUDA_ERROR_INVALID_SOURCE", "the kernel source is invalid"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", "there is no such file"},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "a shared library lacks a symbol"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "a shared library did not initialise"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "a call of the operating system failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "a handle is invalid"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "an object is not in the state that the call needs"},
    {402, "CUDA_ERROR_LOSSY_QUERY", "the query would drop information that matters"},
    {500, "CUDA_ERROR_NOT_FOUND", "there is nothing of that name"},
    {600, "CUDA_ERROR_NOT_READY", "earlier work is not done yet"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel used an invalid address; the context is lost"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "the launch needs more registers or shared memory than there are"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel ran too long; the context is lost"},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "the kernel uses another texturing mode"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is enabled already"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access is not enabled"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the primary context is active already"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context was destroyed"},
    {710, "CUDA_ERROR_ASSERT", "an assertion in a kernel failed; the context is lost"},
    {711, "CUDA_ERROR_TOO_MANY_PEERS", "no peer access is left"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "the host memory is registered already"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "the host memory is not registered"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "a kernel broke its stack; the context is lost"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "a kernel met an illegal instruction; the context is lost"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "a kernel used a misaligned address; the context is lost"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "a kernel used an address of the wrong space; the context is lost"},
    {718, "CUDA_ERROR_INVALID_PC", "a kernel left its code; the context is lost"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed on the device; the context is lost"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "the cooperative grid is too large to run at once"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK",
     "a kernel left tensor memory allocated; the context is lost"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "the call is not permitted here"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "the driver or the device does not support this"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready yet"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "the display driver and the CUDA driver do not fit"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "the device does not support forward compatibility"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS server cannot be reached"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", "a call to the MPS server failed"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server is not ready"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the MPS server takes no more clients"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "the device takes no more connections"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS server ended this process's connection"},
    {811, "CUDA_ERROR_CDP_NOT_SUPPORTED", "kernels cannot launch kernels in this configuration"},
    {812, "CUDA_ERROR_CDP_VERSION_MISMATCH", "the module mixes versions of launches from kernels"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "the call is not permitted during a stream capture"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "an earlier error ended this stream capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "two stream captures would merge"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture began on another stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "a stream of the capture was not joined"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "captured work would depend on work outside the capture"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "the legacy stream cannot be used during the capture of a blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "the event was last recorded in a stream capture"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "the capture began on another thread"},
    {909, "CUDA_ERROR_TIMEOUT", "the time for the wait is over"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the executable graph cannot take this change"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE", "an error in a device that is not the GPU"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "the cluster size is invalid"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "the function is not loaded"},
    {914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", "a resource is of the wrong type"},
    {915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "the resources do not suffice"},
    {916, "CUDA_ERROR_KEY_ROTATION", "the rotation of keys failed"},
    {917, "CUDA_ERROR_STREAM_DETACHED", "the stream is detached"},
    {918, "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE", "the re-capture of a graph failed"},
    {919, "CUDA_ERROR_FABRIC_NOT_READY", "the fabric between the GPUs is not ready"},
    {999, "CUDA_ERROR_UNKNOWN", "an internal error of the driver"},
};

constexpr bool less(const result_name& a, const result_name& b) { return a.code < b.code; }

static_assert(std::is_sorted(std::begin(names), std::end(names), less));

}  // namespace

const result_name* find_result_name(int code) noexcept {
  const result_name* found =
      std::lower_bound(std::begin(names), std::end(names), result_name{code, {}, {}}, less);
  return found != std::end(names) && found->code == code ? found : nullptr;
}

std::string result_text(int code) {
  const result_name* known = find_result_name(code);
  return known != nullptr ? fmt::format("{} {}", code, known->name)
                          : fmt::format("CUresult {}", code);
}

}  // namespace cugraft
