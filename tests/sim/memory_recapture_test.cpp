// SPDX-License-Identifier: Apache-2.0
#include "sim/recapture_fixture.hpp"

// Re-capture of graphs with allocation and free nodes.

namespace cugraft_sim {
namespace {

class MemoryRecapture : public RecaptureTest {
 protected:
  static constexpr std::size_t bytes = 64;

  CUdeviceptr alloc(std::size_t size = bytes) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cu().mem_alloc_async(&made, size, first()), CUDA_SUCCESS);
    return made;
  }

  CUresult free(CUdeviceptr memory) { return cu().mem_free_async(memory, first()); }

  // Allocates two pieces, adds to a slot, frees both.
  void body(unsigned value = 1) {
    first_ = alloc();
    second_ = alloc(2 * bytes);
    EXPECT_EQ(cu().memset_d32_async(second_, 0, 1, first()), CUDA_SUCCESS);
    EXPECT_EQ(launch(first(), value), CUDA_SUCCESS);
    EXPECT_EQ(free(first_), CUDA_SUCCESS);
    EXPECT_EQ(free(second_), CUDA_SUCCESS);
  }

  CUdeviceptr first_ = 0, second_ = 0;
};

TEST_F(MemoryRecapture, R3_1_TheAddressesAreTheSameAgain) {
  const CUgraph graph = capture([&] { body(); });
  const CUdeviceptr one = first_, other = second_;
  recapture(graph, [&] { body(); });
  EXPECT_EQ(first_, one);
  EXPECT_EQ(second_, other);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(run(instantiate(graph)), 1U);
}

TEST_F(MemoryRecapture, R3_1_R5_OtherChangesAreReported) {
  const CUgraph graph = capture([&] { body(1); });
  const CUgraphExec exec = instantiate(graph);
  recapture(graph, [&] { body(5); });
  ASSERT_EQ(calls_.size(), 1U);
  EXPECT_EQ(calls_[0], (recapture_call{nodes(graph)[3], 1, 5, eligible}));
  EXPECT_EQ(run(exec), 1U);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cu().graph_exec_update(exec, graph, &info), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 5U);
}

TEST_F(MemoryRecapture, R3_1_R4_AnotherSizeFailsAtOnce) {
  const CUgraph graph = capture([&] { body(); });
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc_async(&memory, bytes + 1, first()), graph_recapture_failure);
  EXPECT_EQ(launch(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_TRUE(calls_.empty());
  expect_lost(graph);
}

TEST_F(MemoryRecapture, R3_1_R4_AnotherPoolFailsAtOnce) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.maxSize = 1 << 20;
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cu().mem_pool_create(&pool, &properties), CUDA_SUCCESS);
  const CUgraph graph = capture([&] { alloc(); });
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc_from_pool_async(&memory, bytes, pool, first()), graph_recapture_failure);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(MemoryRecapture, R3_1_R4_AnotherFreeFailsAtOnce) {
  const CUgraph graph = capture([&] { body(); });
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  first_ = alloc();
  second_ = alloc(2 * bytes);
  EXPECT_EQ(cu().memset_d32_async(second_, 0, 1, first()), CUDA_SUCCESS);
  EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(free(second_), graph_recapture_failure);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(MemoryRecapture, R3_1_R3_AnotherKindFailsAtOnce) {
  const CUgraph graph = capture([&] { body(); });
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  EXPECT_EQ(launch(first()), graph_recapture_failure);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(MemoryRecapture, R3_1_R3_OneAllocationMoreFails) {
  const CUgraph graph = capture([&] { body(); });
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  body();
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc_async(&memory, bytes, first()), graph_recapture_failure);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(MemoryRecapture, R3_1_AFailureThatShowsAtTheEndOnly) {
  const CUgraph graph = capture([&] { body(); });
  control().set(choice::recapture_failure_shows, 1);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  const CUdeviceptr memory = alloc(3 * bytes);
  EXPECT_NE(memory, 0U);
  const CUdeviceptr more = alloc(3 * bytes);
  EXPECT_NE(more, memory);
  EXPECT_EQ(cu().memcpy_async(memory, more, 3 * bytes, first()), CUDA_SUCCESS);
  EXPECT_EQ(free(memory), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), graph_recapture_failure);
  expect_lost(graph);
}

TEST_F(MemoryRecapture, R3_3_WhatIsLiveStaysLive) {
  CUdeviceptr memory = 0;
  const auto open_ended = [&] { memory = alloc(); };
  const CUgraph graph = capture(open_ended);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  recapture(graph, open_ended);
  EXPECT_EQ(control().live().device_allocations, 1U);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(MemoryRecapture, R3_1_R9_ALostGraphGivesItsAddressesBack) {
  const CUgraph graph = capture([&] { body(); });
  const CUdeviceptr one = first_;
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  EXPECT_EQ(launch(first()), graph_recapture_failure);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  destroy(graph);
  capture([&] { body(); });
  EXPECT_EQ(first_, one);
}

}  // namespace
}  // namespace cugraft_sim
