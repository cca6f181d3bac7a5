// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sim/memory_fixture.hpp"

// What the driver tells of a pointer.

namespace cugraft_sim {
namespace {

class PointerRules : public MemoryGraphTest {
 protected:
  template <class Value>
  Value get(CUdeviceptr of, CUpointer_attribute attribute) {
    Value value{};
    EXPECT_EQ(cu().pointer_get_attribute(&value, attribute, of), CUDA_SUCCESS);
    return value;
  }

  CUmemoryPool standard_pool() {
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(cu().device_get_default_mem_pool(&pool, device_), CUDA_SUCCESS);
    return pool;
  }
};

TEST_F(PointerRules, R1_2G_OfDeviceMemory) {
  const CUdeviceptr memory = make_memory(4096);
  EXPECT_EQ(get<CUcontext>(memory + 8, CU_POINTER_ATTRIBUTE_CONTEXT), context_);
  EXPECT_EQ(get<unsigned>(memory + 8, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(get<CUdeviceptr>(memory + 8, CU_POINTER_ATTRIBUTE_DEVICE_POINTER), memory + 8);
  EXPECT_EQ(get<unsigned>(memory + 8, CU_POINTER_ATTRIBUTE_IS_MANAGED), 0U);
  EXPECT_EQ(get<int>(memory + 8, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), device_);
  EXPECT_EQ(get<CUdeviceptr>(memory + 8, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR), memory);
  EXPECT_EQ(get<std::size_t>(memory + 8, CU_POINTER_ATTRIBUTE_RANGE_SIZE), 4096U);
  EXPECT_EQ(get<CUmemoryPool>(memory + 8, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), nullptr);
  void* host = nullptr;
  EXPECT_EQ(cu().pointer_get_attribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(PointerRules, R1_2G_OfPinnedMemory) {
  EXPECT_EQ(get<unsigned>(address(1), CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_HOST);
  EXPECT_EQ(get<CUdeviceptr>(address(1), CU_POINTER_ATTRIBUTE_DEVICE_POINTER), address(1));
  EXPECT_EQ(get<void*>(address(1), CU_POINTER_ATTRIBUTE_HOST_POINTER), values_ + 1);
  EXPECT_EQ(get<CUcontext>(address(1), CU_POINTER_ATTRIBUTE_CONTEXT), context_);
}

TEST_F(PointerRules, R1_2G_OfStreamOrderedMemory) {
  const CUdeviceptr memory = alloc(first());
  EXPECT_EQ(get<unsigned>(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(get<int>(memory, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), device_);
  EXPECT_EQ(get<CUmemoryPool>(memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), standard_pool());
  if (driver().is_simulator()) {
    EXPECT_EQ(get<CUcontext>(memory, CU_POINTER_ATTRIBUTE_CONTEXT), nullptr);  // its choice
  }
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(PointerRules, R6_1_OfAGraphsMemory) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate(open_ended(memory));
  if (driver().is_simulator()) {
    EXPECT_EQ(get<unsigned>(memory, CU_POINTER_ATTRIBUTE_MAPPED), 0U);
  }
  launch_and_wait(exec);
  EXPECT_EQ(get<unsigned>(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(get<int>(memory, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), device_);
  if (driver().is_simulator()) {
    EXPECT_EQ(get<unsigned>(memory, CU_POINTER_ATTRIBUTE_MAPPED), 1U);
    EXPECT_EQ(get<CUmemoryPool>(memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), nullptr);
    EXPECT_EQ(get<CUdeviceptr>(memory + 4, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR), memory);
  }
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(PointerRules, R1_2G_OfNothing) {
  static unsigned pageable = 0;
  unsigned kind = 0;
  const auto of = [&](CUdeviceptr pointer) {
    return cu().pointer_get_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
  };
  EXPECT_EQ(of(reinterpret_cast<CUdeviceptr>(&pageable)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(of(0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().pointer_get_attribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(0)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PointerRules, R1_2G_SeveralAtOnce) {
  const CUdeviceptr memory = make_memory(4096);
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                        CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  unsigned kind = 9;
  int ordinal = 9;
  void* host = values_;
  CUdeviceptr start = 9;
  std::array<void*, 4> data{&kind, &ordinal, &host, &start};
  ASSERT_EQ(cu().pointer_get_attributes(4, attributes.data(), data.data(), memory), CUDA_SUCCESS);
  EXPECT_EQ(kind, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(ordinal, device_);
  EXPECT_EQ(host, nullptr);
  EXPECT_EQ(start, memory);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(PointerRules, R1_2G_SeveralAtOnceOfNothingAreNull) {
  static unsigned pageable = 0;
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT,
                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  unsigned kind = 9;
  CUcontext context = context_;
  int ordinal = 9;
  std::array<void*, 3> data{&kind, &context, &ordinal};
  ASSERT_EQ(cu().pointer_get_attributes(3, attributes.data(), data.data(),
                                        reinterpret_cast<CUdeviceptr>(&pageable)),
            CUDA_SUCCESS);
  EXPECT_EQ(kind, 0U);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(ordinal, CU_DEVICE_INVALID);
  EXPECT_EQ(cu().pointer_get_attributes(3, nullptr, data.data(), address(0)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PointerRules, R1_2G_TheRangeOfAnAllocation) {
  const CUdeviceptr memory = make_memory(4096);
  CUdeviceptr begin = 0;
  std::size_t size = 0;
  EXPECT_EQ(cu().mem_get_address_range(&begin, &size, memory + 100), CUDA_SUCCESS);
  EXPECT_EQ(begin, memory);
  EXPECT_EQ(size, 4096U);
  EXPECT_EQ(cu().mem_get_address_range(nullptr, nullptr, memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_get_address_range(&begin, &size, 64), CUDA_ERROR_NOT_FOUND);
}

TEST_F(PointerRules, R1_2G_FreedMemoryIsNone) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUdeviceptr memory = make_memory(4096);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_get_address_range(nullptr, nullptr, memory), CUDA_ERROR_NOT_FOUND);
  unsigned kind = 0;
  EXPECT_EQ(cu().pointer_get_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
