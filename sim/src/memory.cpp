// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned host_alloc_flags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;

// What allocations and releases ask first.
CUresult begin_unsafe(std::shared_ptr<context>& current) {
  if (const CUresult result = current_context(current)) return result;
  return capture_guard_unsafe();
}

// What stream-ordered calls ask first. Allocation nodes are not modelled yet, so a capturing stream
// refuses them as it does any call that it does not support (driver-rules 2.4).
CUresult begin_stream_ordered(CUstream on, std::shared_ptr<stream>& found) {
  if (const CUresult result = find_stream(on, found)) return result;
  if (const CUresult result = capture_guard_stream(*found)) return result;
  if (const CUresult result = guard_legacy(*found)) return result;
  return capture_guard_unsafe();
}

// A release waits for all work of the context, as the driver's does. The memory goes back also
// where that work failed.
CUresult release(std::uint64_t address, memory_kind kind) {
  std::shared_ptr<context> current;
  const CUresult result = begin_unsafe(current);
  if (!current) return result;  // a failed context is found all the same
  if (result != CUDA_SUCCESS && result != current->failure) return result;
  if (address == 0) return CUDA_SUCCESS;
  const auto found = the_memory().find_allocation(address);
  if (!found || found->begin != address || found->kind != kind) return CUDA_ERROR_INVALID_VALUE;
  wait_for_work(*current);
  return the_memory().release(address, kind) ? current->failure.load() : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult impl::mem_alloc(CUdeviceptr* address, std::size_t size) {
  std::shared_ptr<context> current;
  if (const CUresult result = begin_unsafe(current)) return result;
  if (!address || size == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto allocated = the_memory().allocate(size, memory_kind::device);
  if (!allocated) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = *allocated;
  return CUDA_SUCCESS;
}

CUresult impl::mem_free(CUdeviceptr address) { return release(address, memory_kind::device); }

CUresult impl::mem_host_alloc(void** address, std::size_t size, unsigned flags) {
  std::shared_ptr<context> current;
  if (const CUresult result = begin_unsafe(current)) return result;
  if (!address || (flags & ~host_alloc_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
  *address = nullptr;
  if (size == 0) return CUDA_SUCCESS;  // unlike cuMemAlloc (H200)
  const auto allocated = the_memory().allocate(size, memory_kind::pinned_host);
  if (!allocated) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<void*>(*allocated);
  return CUDA_SUCCESS;
}

CUresult impl::mem_free_host(void* address) {
  return release(reinterpret_cast<std::uint64_t>(address), memory_kind::pinned_host);
}

CUresult impl::mem_alloc_async(CUdeviceptr* address, std::size_t size, CUstream on) {
  std::shared_ptr<stream> found;
  if (const CUresult result = begin_stream_ordered(on, found)) return result;
  if (!address) return CUDA_ERROR_INVALID_VALUE;
  *address = 0;
  if (size == 0) return CUDA_SUCCESS;  // unlike cuMemAlloc (H200)
  const auto allocated = the_memory().allocate(size, memory_kind::device);
  if (!allocated) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = *allocated;
  return CUDA_SUCCESS;
}

CUresult impl::mem_free_async(CUdeviceptr address, CUstream on) {
  std::shared_ptr<stream> found;
  if (const CUresult result = begin_stream_ordered(on, found)) return result;
  if (address == 0) return CUDA_SUCCESS;
  if (!the_memory().start_release(address)) return CUDA_ERROR_INVALID_VALUE;
  // Runs when the task goes, whether it ran or was dropped because the context has failed.
  const std::shared_ptr<void> release(
      nullptr, [address](void*) { the_memory().release(address, memory_kind::device); });
  return enqueue(*found, [release] { return CUDA_SUCCESS; });
}

}  // namespace cugraft_sim
