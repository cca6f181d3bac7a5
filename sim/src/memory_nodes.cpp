// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <memory>

#include "capture.hpp"
#include "capture_sequence.hpp"
#include "context.hpp"
#include "graph.hpp"
#include "graph_memory.hpp"
#include "memory_capture.hpp"
#include "memory_pool.hpp"
#include "state.hpp"
#include "stream.hpp"

// How allocation and free nodes come to be (driver-rules 6.1 and 6.2).

namespace cugraft_sim {
namespace {

bool is_on_device(const CUmemLocation& where) noexcept {
  return where.type == CU_MEM_LOCATION_TYPE_DEVICE && is_device(where.id);
}

// What newer drivers keep behind `maxSize` has to be zero here.
bool has_clean_end(const CUmemPoolProps& properties) noexcept {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&properties);
  constexpr std::size_t used = offsetof(CUmemPoolProps, maxSize) + sizeof properties.maxSize;
  return std::all_of(bytes + used, bytes + sizeof properties,
                     [](std::byte each) { return each == std::byte{0}; });
}

// Codes: H200.
CUresult check_access(std::span<const CUmemAccessDesc> all) noexcept {
  if (all.size() > the_state().devices.size()) return CUDA_ERROR_INVALID_VALUE;
  for (const CUmemAccessDesc& each : all) {
    if (each.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_NOT_SUPPORTED;
    if (!is_on_device(each.location)) return CUDA_ERROR_INVALID_DEVICE;
  }
  return CUDA_SUCCESS;
}

// Not both in the graph of the allocation and elsewhere, and not twice in one graph.
bool can_free(const graph& in, const graph_allocation& which) {
  if (which.freed_in.contains(in.id)) return false;
  return in.id == which.owner ? which.freed_in.empty() : !which.freed_in.contains(which.owner);
}

// The capture that `on` is part of, if a memory node can be added there.
CUresult find_target(const stream& on, graph*& target) {
  const capture_sequence& sequence = *on.capture->sequence;
  if (!sequence.active) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  target = sequence.target.get();
  return target->is_child ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

}  // namespace

CUresult check_properties(const CUmemPoolProps& properties) {
  const bool fits = properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                    is_on_device(properties.location) && !properties.win32SecurityAttributes &&
                    has_clean_end(properties);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult make_alloc(const CUmemPoolProps& properties, std::span<const CUmemAccessDesc> access,
                    std::uint64_t size, CUcontext context, operation& made) {
  if (const CUresult result = check_properties(properties)) return result;
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  if (const CUresult result = check_access(access)) return result;
  const auto allocation = std::make_shared<graph_allocation>();
  allocation->size = size;
  allocation->properties = properties;
  allocation->access.assign(access.begin(), access.end());
  if (!register_graph_allocation(allocation)) return CUDA_ERROR_OUT_OF_MEMORY;
  made = operation{context, alloc_operation{allocation}};
  return CUDA_SUCCESS;
}

// A re-capture names what its graph frees already.
CUresult make_free(const graph& in, CUdeviceptr address, CUcontext context, operation& made) {
  const auto found = find_graph_allocation_at(address);
  if (!found || (!in.recapturing && !can_free(in, *found))) return CUDA_ERROR_INVALID_VALUE;
  made = operation{context, free_operation{found}};
  return CUDA_SUCCESS;
}

void note_memory_node(graph& in, const operation& work) {
  in.has_memory = true;
  if (const auto* const alloc = std::get_if<alloc_operation>(&work.what))
    alloc->allocation->owner = in.id;
  if (const auto* const freed = std::get_if<free_operation>(&work.what))
    freed->allocation->freed_in.insert(in.id);
}

bool is_memory_node(const operation& work) noexcept {
  return std::holds_alternative<alloc_operation>(work.what) ||
         std::holds_alternative<free_operation>(work.what);
}

bool has_memory_nodes(const graph& which) noexcept { return which.has_memory; }

// In a re-capture the address is that of the node that is there.
CUresult capture_alloc(stream& on, const memory_pool& pool, std::size_t size,
                       CUdeviceptr* address) {
  graph* target = nullptr;
  if (const CUresult result = find_target(on, target)) return result;
  operation work;
  if (const CUresult result = make_alloc(pool.properties, {}, size, on.owner->handle, work))
    return result;
  *address = std::get<alloc_operation>(work.what).allocation->begin;
  if (const CUresult result = capture_operation(on, work, {})) return result;
  if (on.capture->own.empty()) return CUDA_SUCCESS;
  const operation& placed = on.capture->own.front()->work;
  *address = std::get<alloc_operation>(placed.what).allocation->begin;
  note_memory_node(*target, placed);
  return CUDA_SUCCESS;
}

CUresult capture_free(stream& on, CUdeviceptr address) {
  graph* target = nullptr;
  if (const CUresult result = find_target(on, target)) return result;
  operation work;
  if (const CUresult result = make_free(*target, address, on.owner->handle, work)) return result;
  if (const CUresult result = capture_operation(on, work, {})) return result;
  note_memory_node(*target, work);
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
