// SPDX-License-Identifier: Apache-2.0
#include "memory_pool.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "entry.hpp"
#include "graph_memory.hpp"
#include "handle_table.hpp"
#include "memory.hpp"
#include "put_value.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

struct device_pools {
  std::shared_ptr<memory_pool> standard;
  std::shared_ptr<memory_pool> current;
};

struct pool_tables {
  handle_table<CUmemoryPool, memory_pool> pools;
  std::map<CUdevice, device_pools> of_devices;
};

pool_tables& tables() noexcept {
  static auto* const instance = new pool_tables;
  return *instance;
}

std::shared_ptr<memory_pool> make_pool(const CUmemPoolProps& properties) {
  auto made = std::make_shared<memory_pool>(properties);
  made->handle = tables().pools.add(made);
  return made;
}

// Made when it is first asked for.
device_pools& pools_of(CUdevice device) {
  device_pools& of = tables().of_devices[device];
  if (of.standard) return of;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  of.standard = of.current = make_pool(properties);
  return of;
}

bool is_standard(const memory_pool& which) {
  const auto of = tables().of_devices.find(which.device());
  return of != tables().of_devices.end() && of->second.standard.get() == &which;
}

template <class Value>
Value taken(const void* from) noexcept {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A highest value can only be set to 0, and is then what the present one is.
CUresult reset(std::uint64_t& high, std::uint64_t present, const void* value) noexcept {
  if (taken<cuuint64_t>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
  high = present;
  return CUDA_SUCCESS;
}

}  // namespace

std::shared_ptr<const pool_share> memory_pool::take(std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t bytes = pages_of(size);
  if (bytes < size || (properties.maxSize != 0 && used_ + bytes > properties.maxSize))
    return nullptr;
  auto share = std::make_shared<const pool_share>(shared_from_this(), bytes);
  used_ += bytes;
  used_high_ = std::max(used_high_, used_);
  reserved_ = std::max(reserved_, used_);
  reserved_high_ = std::max(reserved_high_, reserved_);
  return share;
}

// Needs the mutex.
void memory_pool::keep(std::uint64_t bytes) {
  reserved_ = std::max(used_, std::min(reserved_, bytes));
}

void memory_pool::give_back(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  used_ -= bytes;
  keep(threshold_);
}

void memory_pool::trim_to(std::uint64_t kept) {
  const std::scoped_lock lock(mutex_);
  keep(kept);
}

CUresult memory_pool::get(CUmemPool_attribute attribute, void* value) const {
  const std::scoped_lock lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return put(value, follows_events_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return put(value, is_opportunistic_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return put(value, adds_dependencies_);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return put(value, threshold_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return put(value, reserved_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return put(value, reserved_high_);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return put(value, used_);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return put(value, used_high_);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult memory_pool::set(CUmemPool_attribute attribute, const void* value) {
  const std::scoped_lock lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return put(&follows_events_, taken<int>(value));
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return put(&is_opportunistic_, taken<int>(value));
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return put(&adds_dependencies_, taken<int>(value));
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      threshold_ = taken<cuuint64_t>(value);
      keep(threshold_);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return reset(reserved_high_, reserved_, value);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return reset(used_high_, used_, value);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

std::shared_ptr<memory_pool> find_pool(CUmemoryPool handle) { return tables().pools.find(handle); }

std::shared_ptr<memory_pool> current_pool(CUdevice of) { return pools_of(of).current; }

std::size_t count_pools() { return tables().pools.size() - tables().of_devices.size(); }

CUresult impl::device_get_default_mem_pool(CUmemoryPool* pool, CUdevice of) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(of)) return CUDA_ERROR_INVALID_DEVICE;
  *pool = pools_of(of).standard->handle;
  return CUDA_SUCCESS;
}

CUresult impl::device_get_mem_pool(CUmemoryPool* pool, CUdevice of) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(of)) return CUDA_ERROR_INVALID_DEVICE;
  *pool = current_pool(of)->handle;
  return CUDA_SUCCESS;
}

CUresult impl::device_set_mem_pool(CUdevice of, CUmemoryPool pool) {
  if (!is_device(of)) return CUDA_ERROR_INVALID_DEVICE;
  auto found = find_pool(pool);
  if (!found || found->device() != of) return CUDA_ERROR_INVALID_VALUE;
  pools_of(of).current = std::move(found);
  return CUDA_SUCCESS;
}

// Memory for other processes is not modelled.
CUresult impl::mem_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (!pool || !properties) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_properties(*properties)) return result;
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  *pool = make_pool(*properties)->handle;
  return CUDA_SUCCESS;
}

// Memory that is out stays valid, and the pool goes with the last of it.
CUresult impl::mem_pool_destroy(CUmemoryPool which) {
  const auto found = find_pool(which);
  if (!found || is_standard(*found)) return CUDA_ERROR_INVALID_VALUE;
  device_pools& of = pools_of(found->device());
  if (of.current == found) of.current = of.standard;
  tables().pools.remove(which);
  return CUDA_SUCCESS;
}

CUresult impl::mem_pool_get_attribute(CUmemoryPool of, CUmemPool_attribute attribute, void* value) {
  const auto found = find_pool(of);
  return found && value ? found->get(attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::mem_pool_set_attribute(CUmemoryPool of, CUmemPool_attribute attribute, void* value) {
  const auto found = find_pool(of);
  return found && value ? found->set(attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::mem_pool_trim_to(CUmemoryPool which, std::size_t kept) {
  const auto found = find_pool(which);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  found->trim_to(kept);
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
