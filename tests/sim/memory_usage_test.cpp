// SPDX-License-Identifier: Apache-2.0
#include "sim/memory_fixture.hpp"

// What a device tells of the memory of its graphs.

namespace cugraft_sim {
namespace {

class MemoryUsage : public MemoryGraphTest {};

TEST_F(MemoryUsage, R6_1_UsageIsCounted) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cu().device_graph_mem_trim(device_), CUDA_SUCCESS);
  const cuuint64_t before = graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  const CUgraph graph = open_ended(memory);
  const CUgraphExec exec = instantiate(graph);
  launch_and_wait(exec);
  const cuuint64_t used = graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  EXPECT_GE(used, before + bytes);
  EXPECT_GE(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), used);
  EXPECT_GE(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), used);
  EXPECT_GE(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), used);
  ASSERT_EQ(cu().device_graph_mem_trim(device_), CUDA_SUCCESS);
  EXPECT_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), used);  // it is in use
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  destroy(exec);
  destroy(graph);
  ASSERT_EQ(cu().device_graph_mem_trim(device_), CUDA_SUCCESS);
  EXPECT_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), before);
}

TEST_F(MemoryUsage, R6_1_WhatIsFreedIsKeptUntilATrim) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUgraphExec exec = instantiate(whole());
  ASSERT_EQ(cu().device_graph_mem_trim(device_), CUDA_SUCCESS);
  EXPECT_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_EQ(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0U);
  launch_and_wait(exec);
  control().settle();
  EXPECT_GT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0U);
  ASSERT_EQ(cu().device_graph_mem_trim(device_), CUDA_SUCCESS);
  EXPECT_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_EQ(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0U);
  launch_and_wait(exec);
  EXPECT_EQ(values_[0], 7U);
}

TEST_F(MemoryUsage, R6_3_AnUploadBindsMemory) {
  const CUgraph graph = whole();
  const CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(cu().device_graph_mem_trim(device_), CUDA_SUCCESS);
  const cuuint64_t before = graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
  EXPECT_EQ(cu().graph_upload(exec, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  const cuuint64_t uploaded = graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
  EXPECT_GE(uploaded, before + bytes);
  launch_and_wait(exec);
  EXPECT_EQ(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), uploaded) << "the launch has it";
  EXPECT_EQ(values_[0], 7U);
  destroy(exec);
  ASSERT_EQ(cu().device_graph_mem_trim(device_), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  parameters.hUploadStream = first();
  CUgraphExec at_once = nullptr;
  ASSERT_EQ(cu().graph_instantiate_with_params(&at_once, graph, &parameters), CUDA_SUCCESS);
  execs_.push_back(at_once);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_GE(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), before + bytes)
      << "uploaded with the instantiation";
}

TEST_F(MemoryUsage, R6_1_HighestUsesAreReset) {
  launch_and_wait(instantiate(whole()));
  cuuint64_t zero = 0, one = 1;
  for (const auto high : {CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH}) {
    EXPECT_EQ(cu().device_set_graph_mem_attribute(device_, high, &one), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cu().device_set_graph_mem_attribute(device_, high, &zero), CUDA_SUCCESS);
  }
  EXPECT_EQ(cu().device_set_graph_mem_attribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryUsage, R1_2B_GraphMemoryIsOfADevice) {
  cuuint64_t value = 0;
  EXPECT_EQ(cu().device_graph_mem_trim(4711), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu().device_get_graph_mem_attribute(4711, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value),
            CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu().device_set_graph_mem_attribute(4711, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value),
            CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(
      cu().device_get_graph_mem_attribute(device_, static_cast<CUgraphMem_attribute>(99), &value),
      CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
