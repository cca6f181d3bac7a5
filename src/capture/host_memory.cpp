// SPDX-License-Identifier: Apache-2.0
#include "capture/host_memory.hpp"

#include "driver/call.hpp"

namespace cugraft {

// A driver knows nothing of pageable memory, and says so by the error.
memory_place place_of(const driver_table& table, std::uintptr_t address) {
  unsigned kind = 0;
  const CUresult result = table.pointer_get_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                      static_cast<CUdeviceptr>(address));
  if (result == CUDA_ERROR_INVALID_VALUE) return memory_place::pageable;
  check(result, "cuPointerGetAttribute", object("memory", reinterpret_cast<void*>(address)));
  return kind == CU_MEMORYTYPE_HOST ? memory_place::pinned : memory_place::device;
}

}  // namespace cugraft
