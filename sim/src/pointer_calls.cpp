// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "context.hpp"
#include "entry.hpp"
#include "graph_memory.hpp"
#include "memory.hpp"
#include "memory_pool.hpp"
#include "put_value.hpp"

// What the driver tells of a pointer.

namespace cugraft_sim {
namespace {

struct pointer_facts {
  allocation in;
  bool is_mapped = true;
};

// An address of a graph is known for as long as its node, with or without memory behind it.
std::optional<pointer_facts> look_at(CUdeviceptr pointer) {
  if (const auto of_graph = find_graph_allocation(pointer)) {
    allocation in{of_graph->begin, of_graph->size};
    in.origin.device = of_graph->properties.location.id;
    return pointer_facts{in, of_graph->live != nullptr};
  }
  const auto found = the_memory().find_allocation(pointer);
  return found ? std::optional(pointer_facts{*found}) : std::nullopt;
}

CUmemoryPool pool_of(const allocation& which) noexcept {
  return which.origin.share ? which.origin.share->pool().handle : nullptr;
}

CUresult tell(void* data, CUpointer_attribute attribute, CUdeviceptr pointer,
              const pointer_facts& facts) {
  const bool is_host = facts.in.kind == memory_kind::pinned_host;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(data, facts.in.origin.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(data, is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return is_host ? put(data, pointer) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(data, facts.in.origin.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put<CUdeviceptr>(data, facts.in.begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put<std::size_t>(data, facts.in.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<unsigned>(data, facts.is_mapped ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(data, pool_of(facts.in));
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// What several attributes at once say of what is no memory of the driver's, or lacks one.
CUresult tell_nothing(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(data, CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put<void*>(data, nullptr);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

CUresult impl::pointer_get_attribute(void* data, CUpointer_attribute attribute,
                                     CUdeviceptr pointer) {
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  const auto facts = look_at(pointer);
  if (!data || !facts) return CUDA_ERROR_INVALID_VALUE;
  return tell(data, attribute, pointer, *facts);
}

CUresult impl::pointer_get_attributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                      CUdeviceptr pointer) {
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  if (count == 0 || !attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  const auto facts = look_at(pointer);
  for (unsigned i = 0; i < count; ++i) {
    if (!data[i]) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = tell_nothing(data[i], attributes[i])) return result;
    if (facts) static_cast<void>(tell(data[i], attributes[i], pointer, *facts));
  }
  return CUDA_SUCCESS;
}

CUresult impl::mem_get_address_range(CUdeviceptr* begin, std::size_t* size, CUdeviceptr pointer) {
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  const auto facts = look_at(pointer);
  if (!facts) return CUDA_ERROR_NOT_FOUND;
  if (begin) *begin = facts->in.begin;
  if (size) *size = facts->in.size;
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
