// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <utility>

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "graph_memory.hpp"
#include "memory_capture.hpp"
#include "memory_pool.hpp"
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

// What stream-ordered calls ask first of a stream that does not capture.
CUresult begin_stream_ordered(const stream& on) {
  if (const CUresult result = guard_legacy(on)) return result;
  return capture_guard_unsafe();
}

CUresult allocate_async(CUdeviceptr* address, std::size_t size,
                        const std::shared_ptr<memory_pool>& pool, stream& on) {
  const bool captured = is_capturing(on);
  if (!captured)
    if (const CUresult result = begin_stream_ordered(on)) return result;
  if (!address || !pool) return CUDA_ERROR_INVALID_VALUE;
  *address = 0;
  if (size == 0) return CUDA_SUCCESS;  // unlike cuMemAlloc (H200)
  if (captured) return capture_alloc(on, *pool, size, address);
  memory_origin origin{nullptr, pool->device(), pool->take(size)};
  if (!origin.share) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto allocated = the_memory().allocate(size, memory_kind::device, std::move(origin));
  if (!allocated) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = *allocated;
  return CUDA_SUCCESS;
}

// A graph's allocation that no node frees is freed as any other memory (driver-rules 6.1).
CUresult free_graph_memory(graph_allocation& which, stream& on) {
  if (!which.live) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(on, [memory = std::exchange(which.live, nullptr)] {
    memory->end();
    return CUDA_SUCCESS;
  });
}

// The same, when the work of the context is done.
CUresult free_graph_memory(graph_allocation& which, const context& current) {
  if (!which.live) return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<graph_memory> freed = std::exchange(which.live, nullptr);
  wait_for_work(current);
  freed->end();
  return current.failure;
}

// A release waits for all work of the context, as the driver's does. The memory goes back also
// where that work failed.
CUresult release(std::uint64_t address, memory_kind kind) {
  std::shared_ptr<context> current;
  const CUresult result = begin_unsafe(current);
  if (!current) return result;  // a failed context is found all the same
  if (result != CUDA_SUCCESS && result != current->failure) return result;
  if (address == 0) return CUDA_SUCCESS;
  if (const auto of_graph = find_graph_allocation_at(address);
      of_graph && kind == memory_kind::device)
    return free_graph_memory(*of_graph, *current);
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
  const auto allocated =
      the_memory().allocate(size, memory_kind::device, {current->handle, current->device});
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
  const auto allocated =
      the_memory().allocate(size, memory_kind::pinned_host, {current->handle, current->device});
  if (!allocated) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<void*>(*allocated);
  return CUDA_SUCCESS;
}

CUresult impl::mem_free_host(void* address) {
  return release(reinterpret_cast<std::uint64_t>(address), memory_kind::pinned_host);
}

CUresult impl::mem_alloc_async(CUdeviceptr* address, std::size_t size, CUstream on) {
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(on, found)) return result;
  return allocate_async(address, size, current_pool(found->owner->device), *found);
}

CUresult impl::mem_alloc_from_pool_async(CUdeviceptr* address, std::size_t size, CUmemoryPool pool,
                                         CUstream on) {
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(on, found)) return result;
  return allocate_async(address, size, find_pool(pool), *found);
}

CUresult impl::mem_free_async(CUdeviceptr address, CUstream on) {
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(on, found)) return result;
  const bool captured = is_capturing(*found);
  if (!captured)
    if (const CUresult result = begin_stream_ordered(*found)) return result;
  if (address == 0) return CUDA_SUCCESS;
  if (captured) return capture_free(*found, address);
  if (const auto of_graph = find_graph_allocation_at(address))
    return free_graph_memory(*of_graph, *found);
  if (!the_memory().start_release(address)) return CUDA_ERROR_INVALID_VALUE;
  // Runs when the task goes, whether it ran or was dropped because the context has failed.
  const std::shared_ptr<void> release(
      nullptr, [address](void*) { the_memory().release(address, memory_kind::device); });
  return enqueue(*found, [release] { return CUDA_SUCCESS; });
}

}  // namespace cugraft_sim
