// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "device_facts.hpp"
#include "entry.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

constexpr char device_name[] = "cugraft simulated device";

struct attribute_facts {
  CUdevice_attribute attribute;
  int value;
};

// Those of the H200 of driver-facts where the simulator does what they say; attributes that are not
// listed are 0.
constexpr std::array attributes{
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device_facts::max_block_threads},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device_facts::max_block.x},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, device_facts::max_block.y},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, device_facts::max_block.z},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device_facts::max_grid.x},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, device_facts::max_grid.y},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, device_facts::max_grid.z},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
                    device_facts::default_shared_bytes},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                    device_facts::opt_in_shared_bytes},
    attribute_facts{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_facts::multiprocessors},
    attribute_facts{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    attribute_facts{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                    device_facts::max_multiprocessor_threads},
    attribute_facts{CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    attribute_facts{CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    attribute_facts{CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    attribute_facts{CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    attribute_facts{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    attribute_facts{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    attribute_facts{CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
};

}  // namespace

CUresult impl::init(unsigned flags) {
  state& all = the_state();
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (all.misconfigured) return CUDA_ERROR_SYSTEM_NOT_READY;
  if (all.initialised) return CUDA_SUCCESS;
  if (all.device_count == 0) return CUDA_ERROR_NO_DEVICE;
  all.devices.resize(static_cast<std::size_t>(all.device_count));
  all.initialised = true;
  return CUDA_SUCCESS;
}

CUresult impl::driver_get_version(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = the_state().version;
  return CUDA_SUCCESS;
}

CUresult impl::device_get(CUdevice* device, int ordinal) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult impl::device_get_count(int* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(the_state().devices.size());
  return CUDA_SUCCESS;
}

CUresult impl::device_get_name(char* name, int size, CUdevice device) {
  if (!name || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::size_t copied = std::min(sizeof device_name, static_cast<std::size_t>(size)) - 1;
  std::memcpy(name, device_name, copied);
  name[copied] = '\0';
  return CUDA_SUCCESS;
}

CUresult impl::device_get_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (!value || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto found = std::ranges::find(attributes, attribute, &attribute_facts::attribute);
  *value = found == attributes.end() ? 0 : found->value;
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
