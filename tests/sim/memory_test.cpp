// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "sim/driver_under_test.hpp"
#include "sim/gate.hpp"

namespace cugraft_sim {
namespace {

CUdeviceptr as_device(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

TEST_F(Rules, R1_2G_AllocationOfNothingIsRefused) {
  CUdeviceptr memory = 0;
  void* host = nullptr;
  EXPECT_EQ(cu().mem_alloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_alloc(nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_host_alloc(&host, 16, 0x1000), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Rules, R1_2G_OtherAllocationsOfNothingAreNull) {
  const CUstream stream = make_stream();
  CUdeviceptr memory = 1;
  void* host = &memory;
  EXPECT_EQ(cu().mem_host_alloc(&host, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(host, nullptr);
  EXPECT_EQ(cu().mem_alloc_async(&memory, 0, stream), CUDA_SUCCESS);
  EXPECT_EQ(memory, 0U);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_NullCanBeFreed) {
  const CUstream stream = make_stream();
  EXPECT_EQ(cu().mem_free(0), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_host(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(0, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_TooMuchIsOutOfMemory) {
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc(&memory, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Rules, R1_2G_FreeTakesTheBeginOfALiveAllocation) {
  const CUdeviceptr memory = make_memory(4096);
  EXPECT_EQ(cu().mem_free(memory + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Rules, R1_2G_HostMemoryIsNotDeviceMemory) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUdeviceptr memory = make_memory(64);
  auto* const host = make_host_memory<char>(64);
  EXPECT_EQ(cu().mem_free(as_device(host)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free_host(reinterpret_cast<void*>(memory)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(control().live().device_allocations, 1U);
  EXPECT_EQ(control().live().host_allocations, 1U);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_host(host), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_FreeWaitsForTheWork) {
  const CUstream stream = make_stream();
  const CUdeviceptr memory = make_memory(1 << 20);
  auto* const host = make_host_memory<unsigned char>(1 << 20);
  EXPECT_EQ(cu().memset_d8_async(memory, 7, 1 << 20, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memcpy_async(as_device(host), memory, 1 << 20, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(stream), CUDA_SUCCESS);
  EXPECT_EQ(host[(1 << 20) - 1], 7);
  EXPECT_EQ(cu().mem_free_host(host), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2H_StreamOrderedMemoryLivesUntilItsFreeRuns) {
  const CUstream stream = make_stream();
  auto* const host = make_host_memory<unsigned>(16);
  CUdeviceptr memory = 0;
  gate gate;
  EXPECT_EQ(cu().mem_alloc_async(&memory, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(stream, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().memset_d32_async(memory, 5, 16, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memcpy_async(as_device(host), memory, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(memory, stream), CUDA_SUCCESS);
  if (driver().is_simulator()) {
    EXPECT_EQ(control().live().device_allocations, 1U);
    EXPECT_EQ(cu().mem_free_async(memory, stream), CUDA_ERROR_INVALID_VALUE);
  }
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(host[15], 5U);
  EXPECT_EQ(cu().mem_free_host(host), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_CopiesGoEveryWay) {
  const CUstream stream = make_stream();
  const CUdeviceptr first = make_memory(400);
  const CUdeviceptr second = make_memory(400);
  std::vector<int> sent(100);
  std::iota(sent.begin(), sent.end(), 1);
  std::vector<int> received(100);
  EXPECT_EQ(cu().memcpy_async(first, as_device(sent.data()), 400, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memcpy_async(second, first, 400, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memcpy_async(as_device(received.data()), second, 400, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(cu().mem_free(first), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(second), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_FillsOfThreeSizes) {
  const CUstream stream = make_stream();
  const CUdeviceptr memory = make_memory(16);
  std::vector<unsigned char> read(16);
  EXPECT_EQ(cu().memset_d8_async(memory, 0x11, 16, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memset_d16_async(memory + 2, 0x2233, 2, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memset_d32_async(memory + 8, 0x44556677, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memcpy_async(as_device(read.data()), memory, 16, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(read, (std::vector<unsigned char>{0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x11, 0x11, 0x77,
                                              0x66, 0x55, 0x44, 0x11, 0x11, 0x11, 0x11}));
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_FillsAreAligned) {
  const CUstream stream = make_stream();
  const CUdeviceptr memory = make_memory(16);
  EXPECT_EQ(cu().memset_d32_async(memory + 2, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().memset_d16_async(memory + 1, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_RangesStayInTheirAllocation) {
  const CUstream stream = make_stream();
  const CUdeviceptr memory = make_memory(1 << 22);
  auto* const host = make_host_memory<char>(1 << 23);
  EXPECT_EQ(cu().memset_d8_async(memory, 0, (1 << 22) + 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().memcpy_async(memory + 1, as_device(host), 1 << 22, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().memcpy_async(0, memory, 16, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_host(host), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_FillOfPageableMemoryIsRefused) {
  const CUstream stream = make_stream();
  static unsigned pageable[4];
  EXPECT_EQ(cu().memset_d32_async(as_device(pageable), 1, 4, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2G_NoByteIsNoWork) {
  const CUstream stream = make_stream();
  const CUdeviceptr memory = make_memory(16);
  EXPECT_EQ(cu().memset_d8_async(memory, 0, 0, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().memcpy_async(memory, memory + 8, 0, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

// A real driver may take a freed address for another allocation's, or crash.
TEST_F(Rules, R1_2G_FreedMemoryIsRecognised) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUstream stream = make_stream();
  const CUdeviceptr memory = make_memory(64);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  const CUdeviceptr other = make_memory(64);
  EXPECT_NE(other, memory);
  EXPECT_EQ(cu().memset_d8_async(memory, 0, 64, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().memcpy_async(other, memory, 64, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free(other), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
