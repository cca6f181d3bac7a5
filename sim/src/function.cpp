// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "device_facts.hpp"
#include "entry.hpp"
#include "library.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

int max_threads_of(const ptx::entry& entry) noexcept {
  const ptx::dimensions none;
  const ptx::dimensions limit = entry.required_threads.value_or(entry.max_threads.value_or(none));
  const auto threads = static_cast<int>(limit.x * limit.y * limit.z);
  return limit == none ? device_facts::max_block_threads : threads;
}

// What the image says of a kernel; nothing for an attribute that is unknown.
std::optional<int> built_in_attribute(const function& of, CUfunction_attribute attribute) {
  const ptx::entry& entry = *of.code->entry;
  const ptx::dimensions cluster = entry.required_cluster.value_or(ptx::dimensions{0, 0, 0});
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return max_threads_of(entry);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(entry.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(entry.local_bytes);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return static_cast<int>(of.code->module->target());
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 90;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return of.max_dynamic_shared_bytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return -1;  // no preference
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return static_cast<int>(cluster.x);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return static_cast<int>(cluster.y);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return static_cast<int>(cluster.z);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return !entry.required_cluster && entry.explicit_cluster ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return 0;
    default:
      return std::nullopt;
  }
}

bool is_settable(CUfunction_attribute attribute) noexcept {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return true;
    default:
      return false;
  }
}

CUresult set_max_dynamic_shared_bytes(function& of, int value) {
  const int most =
      device_facts::opt_in_shared_bytes - static_cast<int>(of.code->entry->static_shared_bytes);
  if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
  of.max_dynamic_shared_bytes = value;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult impl::func_get_name(const char** name, CUfunction handle) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  const auto found = the_state().functions.find(handle);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  *name = found->code->name.c_str();
  return CUDA_SUCCESS;
}

CUresult impl::func_get_param_info(CUfunction handle, std::size_t index, std::size_t* offset,
                                   std::size_t* size) {
  const auto found = the_state().functions.find(handle);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  const auto& parameters = found->code->entry->parameters;
  if (!offset || index >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].offset;
  if (size) *size = parameters[index].size;
  return CUDA_SUCCESS;
}

CUresult impl::func_get_attribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  const auto found = the_state().functions.find(handle);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  const auto built_in = built_in_attribute(*found, attribute);
  if (!built_in) return CUDA_ERROR_INVALID_VALUE;
  const auto set = found->set_attributes.find(attribute);
  *value = set == found->set_attributes.end() ? *built_in : set->second;
  return CUDA_SUCCESS;
}

CUresult impl::func_set_attribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  const auto found = the_state().functions.find(handle);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return set_max_dynamic_shared_bytes(*found, value);
  if (!is_settable(attribute)) return CUDA_ERROR_INVALID_VALUE;
  found->set_attributes[attribute] = value;
  return CUDA_SUCCESS;
}

// Loading is never lazy here.
CUresult impl::func_load(CUfunction handle) {
  return the_state().functions.find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace cugraft_sim
