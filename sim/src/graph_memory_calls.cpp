// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "entry.hpp"
#include "graph_memory.hpp"
#include "put_value.hpp"
#include "state.hpp"

// What a device tells of the memory of its graphs.

namespace cugraft_sim {

CUresult impl::device_graph_mem_trim(CUdevice on) {
  if (!is_device(on)) return CUDA_ERROR_INVALID_DEVICE;
  trim_graph_memory(on);
  return CUDA_SUCCESS;
}

CUresult impl::device_get_graph_mem_attribute(CUdevice on, CUgraphMem_attribute attribute,
                                              void* value) {
  if (!is_device(on)) return CUDA_ERROR_INVALID_DEVICE;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  const graph_memory_usage usage = usage_of_graphs(on);
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      return put(value, usage.used);
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return put(value, usage.used_high);
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return put(value, usage.reserved);
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      return put(value, usage.reserved_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// The highest values can be reset, to 0 alone.
CUresult impl::device_set_graph_mem_attribute(CUdevice on, CUgraphMem_attribute attribute,
                                              void* value) {
  if (!is_device(on)) return CUDA_ERROR_INVALID_DEVICE;
  cuuint64_t given = 1;
  if (value) std::memcpy(&given, value, sizeof given);
  if (given != 0) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      reset_used_high(on);
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      reset_reserved_high(on);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace cugraft_sim
