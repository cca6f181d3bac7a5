// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "entry.hpp"

namespace cugraft_sim {
namespace {

struct error_facts {
  int code;
  const char* name;
  const char* text;
};

// In the order of the codes. Written as numbers because the newer ones are in no older header.
constexpr std::array all_errors{
    error_facts{0, "CUDA_SUCCESS", "no error"},
    error_facts{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    error_facts{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    error_facts{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    error_facts{4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    error_facts{5, "CUDA_ERROR_PROFILER_DISABLED",
                "profiler disabled while using external profiling tool"},
    error_facts{6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED",
                "profiler not initialized: call cudaProfilerInitialize()"},
    error_facts{7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", "profiler already started"},
    error_facts{8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", "profiler already stopped"},
    error_facts{34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    error_facts{36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
                "API call is not supported in the installed CUDA driver"},
    error_facts{46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
                "CUDA-capable device(s) is/are busy or unavailable"},
    error_facts{47, "CUDA_ERROR_MULTICAST_RESOURCE_FULL", "multicast resources are exhausted"},
    error_facts{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    error_facts{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    error_facts{102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "device doesn't have valid Grid license"},
    error_facts{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    error_facts{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    error_facts{202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "context already current"},
    error_facts{205, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    error_facts{206, "CUDA_ERROR_UNMAP_FAILED", "unmapping of buffer object failed"},
    error_facts{207, "CUDA_ERROR_ARRAY_IS_MAPPED", "array is mapped"},
    error_facts{208, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
    error_facts{209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
                "no kernel image is available for execution on the device"},
    error_facts{210, "CUDA_ERROR_ALREADY_ACQUIRED", "resource already acquired"},
    error_facts{211, "CUDA_ERROR_NOT_MAPPED", "resource not mapped"},
    error_facts{212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "resource not mapped as array"},
    error_facts{213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "resource not mapped as pointer"},
    error_facts{214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    error_facts{215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture"},
    error_facts{216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE",
                "exclusive-thread device already in use by a different thread"},
    error_facts{217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
                "peer access is not supported between these two devices"},
    error_facts{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    error_facts{219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "invalid OpenGL or DirectX context"},
    error_facts{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE",
                "uncorrectable NVLink error detected during the execution"},
    error_facts{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    error_facts{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                "the provided PTX was compiled with an unsupported toolchain."},
    error_facts{223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"},
    error_facts{224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY",
                "the provided execution affinity is not supported"},
    error_facts{225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
                "the provided PTX contains unsupported call to cudaDeviceSynchronize"},
    error_facts{226, "CUDA_ERROR_CONTAINED",
                "Invalid access of peer GPU memory over nvlink or a hardware error"},
    error_facts{227, "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION", "loader version is insufficient"},
    error_facts{300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    error_facts{301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    error_facts{302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "shared object symbol not found"},
    error_facts{303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "shared object initialization failed"},
    error_facts{304, "CUDA_ERROR_OPERATING_SYSTEM",
                "OS call failed or operation not supported on this OS"},
    error_facts{400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    error_facts{401, "CUDA_ERROR_ILLEGAL_STATE",
                "the operation cannot be performed in the present state"},
    error_facts{402, "CUDA_ERROR_LOSSY_QUERY",
                "attempted introspection would be semantically lossy"},
    error_facts{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    error_facts{600, "CUDA_ERROR_NOT_READY", "device not ready"},
    error_facts{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    error_facts{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                "too many resources requested for launch"},
    error_facts{702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    error_facts{703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING",
                "launch uses incompatible texturing mode"},
    error_facts{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    error_facts{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    error_facts{708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
                "cannot set while device is active in this process"},
    error_facts{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    error_facts{710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    error_facts{711, "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"},
    error_facts{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
                "part or all of the requested memory range is already mapped"},
    error_facts{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
                "pointer does not correspond to a registered memory region"},
    error_facts{714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    error_facts{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    error_facts{716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    error_facts{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
                "operation not supported on global/shared address space"},
    error_facts{718, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    error_facts{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    error_facts{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
                "too many blocks in cooperative launch"},
    error_facts{721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory not completely freed"},
    error_facts{800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    error_facts{801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    error_facts{802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    error_facts{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
                "system has unsupported display driver / cuda driver combination"},
    error_facts{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
                "forward compatibility was attempted on non supported HW"},
    error_facts{805, "CUDA_ERROR_MPS_CONNECTION_FAILED",
                "MPS client failed to connect to the MPS control daemon or the MPS server"},
    error_facts{806, "CUDA_ERROR_MPS_RPC_FAILURE",
                "the remote procedural call between the MPS server and the MPS client failed"},
    error_facts{807, "CUDA_ERROR_MPS_SERVER_NOT_READY",
                "MPS server is not ready to accept new MPS client requests"},
    error_facts{808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
                "the hardware resources required to create MPS client have been exhausted"},
    error_facts{
        809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
        "the hardware resources required to support device connections have been exhausted"},
    error_facts{810, "CUDA_ERROR_MPS_CLIENT_TERMINATED",
                "the MPS client has been terminated by the server"},
    error_facts{811, "CUDA_ERROR_CDP_NOT_SUPPORTED",
                "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does "
                "not support it"},
    error_facts{812, "CUDA_ERROR_CDP_VERSION_MISMATCH",
                "unsupported interaction between different versions of CUDA Dynamic Parallelism"},
    error_facts{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
                "operation not permitted when stream is capturing"},
    error_facts{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
                "operation failed due to a previous error during capture"},
    error_facts{902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
                "operation would result in a merge of separate capture sequences"},
    error_facts{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
                "capture was not ended in the same stream as it began"},
    error_facts{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    error_facts{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
                "dependency created on uncaptured work in another stream"},
    error_facts{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
                "operation would make the legacy stream depend on a capturing blocking stream"},
    error_facts{907, "CUDA_ERROR_CAPTURED_EVENT",
                "operation not permitted on an event last recorded in a capturing stream"},
    error_facts{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
                "attempt to terminate a thread-local capture sequence from another thread"},
    error_facts{909, "CUDA_ERROR_TIMEOUT", "wait operation timed out"},
    error_facts{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
                "the graph update was not performed because it included changes which violated "
                "constraints specific to instantiated graph update"},
    error_facts{911, "CUDA_ERROR_EXTERNAL_DEVICE",
                "an async error has occured in external entity outside of CUDA"},
    error_facts{912, "CUDA_ERROR_INVALID_CLUSTER_SIZE",
                "a kernel launch error has occurred due to cluster misconfiguration"},
    error_facts{
        913, "CUDA_ERROR_FUNCTION_NOT_LOADED",
        "the function handle is not loaded when calling an API that requires a loaded function"},
    error_facts{914, "CUDA_ERROR_INVALID_RESOURCE_TYPE",
                "one or more resources passed in are not valid resource types for the operation"},
    error_facts{915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
                "one or more resources are insufficient or non-applicable for the operation"},
    error_facts{916, "CUDA_ERROR_KEY_ROTATION", "key rotation is in progress"},
    error_facts{917, "CUDA_ERROR_STREAM_DETACHED", "stream has been detached"},
    error_facts{918, "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE",
                "a graph recapture failed and had to be terminated"},
    error_facts{999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const error_facts* find(CUresult error) noexcept {
  const auto found = std::ranges::find(all_errors, static_cast<int>(error), &error_facts::code);
  return found == all_errors.end() ? nullptr : &*found;
}

}  // namespace

CUresult impl::get_error_name(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  const error_facts* const facts = find(error);
  *name = facts ? facts->name : nullptr;
  return facts ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::get_error_string(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  const error_facts* const facts = find(error);
  *text = facts ? facts->text : nullptr;
  return facts ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cugraft_sim
