// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/driver_under_test.hpp"
#include "sim/gate.hpp"

// Memory pools, as far as stream-ordered allocation needs them.

namespace cugraft_sim {
namespace {

class PoolRules : public Rules {
 protected:
  static constexpr std::size_t size = 1 << 20;

  void SetUp() override {
    Rules::SetUp();
    stream_ = make_stream();
    ASSERT_EQ(cu().device_get_default_mem_pool(&standard_, device_), CUDA_SUCCESS);
  }

  void TearDown() override {
    EXPECT_EQ(cu().stream_destroy(stream_), CUDA_SUCCESS);
    Rules::TearDown();
  }

  CUmemPoolProps properties() const {
    CUmemPoolProps made{};
    made.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    made.location.id = device_;
    return made;
  }

  CUmemoryPool make_pool() { return make_pool(properties()); }

  CUmemoryPool make_pool(const CUmemPoolProps& of) {
    CUmemoryPool made = nullptr;
    EXPECT_EQ(cu().mem_pool_create(&made, &of), CUDA_SUCCESS);
    return made;
  }

  CUdeviceptr alloc(CUmemoryPool from) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cu().mem_alloc_from_pool_async(&made, size, from, stream_), CUDA_SUCCESS);
    return made;
  }

  void free(CUdeviceptr memory) {
    EXPECT_EQ(cu().mem_free_async(memory, stream_), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  }

  cuuint64_t get(CUmemoryPool of, CUmemPool_attribute attribute) {
    cuuint64_t value = 0;
    EXPECT_EQ(cu().mem_pool_get_attribute(of, attribute, &value), CUDA_SUCCESS);
    return value;
  }

  CUresult set(CUmemoryPool of, CUmemPool_attribute attribute, cuuint64_t value) {
    return cu().mem_pool_set_attribute(of, attribute, &value);
  }

  cuuint64_t used(CUmemoryPool of) { return get(of, CU_MEMPOOL_ATTR_USED_MEM_CURRENT); }
  cuuint64_t reserved(CUmemoryPool of) { return get(of, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT); }

  CUmemoryPool current() {
    CUmemoryPool found = nullptr;
    EXPECT_EQ(cu().device_get_mem_pool(&found, device_), CUDA_SUCCESS);
    return found;
  }

  CUstream stream_ = nullptr;
  CUmemoryPool standard_ = nullptr;
};

TEST_F(PoolRules, R1_2B_ADeviceHasAPoolFromTheStart) {
  EXPECT_NE(standard_, nullptr);
  EXPECT_EQ(current(), standard_);
  CUmemoryPool again = nullptr;
  EXPECT_EQ(cu().device_get_default_mem_pool(&again, device_), CUDA_SUCCESS);
  EXPECT_EQ(again, standard_);
}

TEST_F(PoolRules, R1_2B_AnotherPoolCanTakeItsPlace) {
  const CUmemoryPool pool = make_pool();
  ASSERT_EQ(cu().device_set_mem_pool(device_, pool), CUDA_SUCCESS);
  EXPECT_EQ(current(), pool);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc_async(&memory, size, stream_), CUDA_SUCCESS);
  EXPECT_GE(used(pool), size);
  free(memory);
  ASSERT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(current(), standard_);
}

TEST_F(PoolRules, R1_2B_PoolsOfADeviceHaveErrors) {
  CUmemoryPool found = nullptr;
  EXPECT_EQ(cu().device_get_default_mem_pool(&found, 4711), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu().device_get_default_mem_pool(nullptr, device_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().device_get_mem_pool(nullptr, device_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().device_set_mem_pool(device_, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PoolRules, R1_2H_AllocationsComeFromThePool) {
  const CUmemoryPool pool = make_pool();
  EXPECT_EQ(used(pool), 0U);
  const CUdeviceptr memory = alloc(pool);
  EXPECT_GE(used(pool), size);
  EXPECT_GE(reserved(pool), used(pool));
  EXPECT_EQ(cu().memset_d8_async(memory, 1, size, stream_), CUDA_SUCCESS);
  free(memory);
  EXPECT_EQ(used(pool), 0U);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_MemoryGoesBackWithItsFree) {
  CUGRAFT_NEEDS_SIMULATOR();  // a real driver may count from the call on
  const CUmemoryPool pool = make_pool();
  const CUdeviceptr memory = alloc(pool);
  gate gate;
  EXPECT_EQ(cu().launch_host_func(stream_, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(memory, stream_), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), size);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 0U);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_FreeTakesPoolMemoryToo) {
  const CUmemoryPool pool = make_pool();
  EXPECT_EQ(cu().mem_free(alloc(pool)), CUDA_SUCCESS);
  if (driver().is_simulator()) {
    EXPECT_EQ(used(pool), 0U);  // an H200 counts it still, after a synchronisation too
  }
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_WithoutAThresholdNothingIsKept) {
  const CUmemoryPool pool = make_pool();
  EXPECT_EQ(get(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0U);
  free(alloc(pool));
  EXPECT_EQ(reserved(pool), 0U);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_TheThresholdIsKeptUntilATrim) {
  const CUmemoryPool pool = make_pool();
  ASSERT_EQ(set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, ~cuuint64_t{0}), CUDA_SUCCESS);
  free(alloc(pool));
  EXPECT_GE(reserved(pool), size);
  EXPECT_EQ(cu().mem_pool_trim_to(pool, size / 2), CUDA_SUCCESS);
  EXPECT_GE(reserved(pool), size / 2);
  EXPECT_EQ(cu().mem_pool_trim_to(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(reserved(pool), 0U);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_ATrimLeavesWhatIsInUse) {
  const CUmemoryPool pool = make_pool();
  const CUdeviceptr memory = alloc(pool);
  EXPECT_EQ(cu().mem_pool_trim_to(pool, 0), CUDA_SUCCESS);
  EXPECT_GE(reserved(pool), size);
  EXPECT_EQ(cu().memset_d8_async(memory, 1, size, stream_), CUDA_SUCCESS);
  free(memory);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_HighestUsesAreReset) {
  const CUmemoryPool pool = make_pool();
  free(alloc(pool));
  for (const auto high : {CU_MEMPOOL_ATTR_USED_MEM_HIGH, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH}) {
    EXPECT_GE(get(pool, high), size);
    EXPECT_EQ(set(pool, high, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(set(pool, high, 0), CUDA_SUCCESS);
    EXPECT_EQ(get(pool, high), 0U);
  }
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_ReuseCanBeChosen) {
  const CUmemoryPool pool = make_pool();
  for (const auto reuse :
       {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
    int value = 0;
    EXPECT_EQ(cu().mem_pool_get_attribute(pool, reuse, &value), CUDA_SUCCESS);
    EXPECT_EQ(value, 1);
    value = 0;
    EXPECT_EQ(cu().mem_pool_set_attribute(pool, reuse, &value), CUDA_SUCCESS);
    value = 1;
    EXPECT_EQ(cu().mem_pool_get_attribute(pool, reuse, &value), CUDA_SUCCESS);
    EXPECT_EQ(value, 0);
  }
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_WhatCannotBeSet) {
  EXPECT_EQ(set(standard_, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set(standard_, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set(standard_, static_cast<CUmemPool_attribute>(99), 0), CUDA_ERROR_INVALID_VALUE);
  cuuint64_t value = 0;
  EXPECT_EQ(cu().mem_pool_get_attribute(standard_, static_cast<CUmemPool_attribute>(99), &value),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PoolRules, R1_2H_APoolHasAHighestSize) {
  CUGRAFT_NEEDS_SIMULATOR();  // a GPU rounds up
  CUmemPoolProps limited = properties();
  limited.maxSize = size;
  const CUmemoryPool pool = make_pool(limited);
  const CUdeviceptr memory = alloc(pool);
  CUdeviceptr more = 1;
  EXPECT_EQ(cu().mem_alloc_from_pool_async(&more, 1, pool, stream_), CUDA_ERROR_OUT_OF_MEMORY);
  free(memory);
  free(alloc(pool));
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_ARefusedAllocationTakesNothing) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUmemoryPool pool = make_pool();
  CUdeviceptr memory = 1;
  EXPECT_EQ(cu().mem_alloc_from_pool_async(&memory, std::size_t{1} << 50, pool, stream_),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(memory, 0U);
  EXPECT_EQ(used(pool), 0U);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(PoolRules, R1_2H_PropertiesAreChecked) {
  CUmemoryPool made = nullptr;
  EXPECT_EQ(cu().mem_pool_create(&made, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUmemPoolProps wrong = properties();
  EXPECT_EQ(cu().mem_pool_create(nullptr, &wrong), CUDA_ERROR_INVALID_VALUE);
  wrong.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_EQ(cu().mem_pool_create(&made, &wrong), CUDA_ERROR_INVALID_VALUE);
  wrong = properties();
  wrong.reserved[sizeof wrong.reserved - 1] = 1;
  EXPECT_EQ(cu().mem_pool_create(&made, &wrong), CUDA_ERROR_INVALID_VALUE);
  if (!driver().is_simulator()) return;  // the codes are its choice
  wrong = properties();
  wrong.location.id = 4711;
  EXPECT_EQ(cu().mem_pool_create(&made, &wrong), CUDA_ERROR_INVALID_VALUE);
  wrong = properties();
  wrong.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  EXPECT_EQ(cu().mem_pool_create(&made, &wrong), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(PoolRules, R1_2H_ADevicesOwnPoolStays) {
  EXPECT_EQ(cu().mem_pool_destroy(standard_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PoolRules, R1_2H_MemoryOutlivesItsPool) {
  const CUmemoryPool pool = make_pool();
  const CUdeviceptr memory = alloc(pool);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cu().memset_d8_async(memory, 1, size, stream_), CUDA_SUCCESS);
  free(memory);
}

TEST_F(PoolRules, R1_2H_ADestroyedPoolIsRecognised) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUmemoryPool pool = make_pool();
  EXPECT_EQ(control().live().memory_pools, 1U);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(control().live().memory_pools, 0U);
  CUdeviceptr memory = 0;
  cuuint64_t value = 0;
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_alloc_from_pool_async(&memory, size, pool, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().device_set_mem_pool(device_, pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_pool_trim_to(pool, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_pool_get_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PoolRules, R1_2H_APoolIsOfOneDevice) {
  CUGRAFT_NEEDS_SIMULATOR();
  driver_under_test two = driver_under_test::fresh_simulator();
  two.control().set_device_count(2);
  ASSERT_EQ(two->init(0), CUDA_SUCCESS);
  CUmemoryPool first = nullptr, second = nullptr;
  ASSERT_EQ(two->device_get_default_mem_pool(&first, 0), CUDA_SUCCESS);
  ASSERT_EQ(two->device_get_default_mem_pool(&second, 1), CUDA_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(two->device_set_mem_pool(0, second), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
