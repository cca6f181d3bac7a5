// SPDX-License-Identifier: Apache-2.0
#include "sim/memory_fixture.hpp"

// Making allocation and free nodes, and what they tell of themselves.

namespace cugraft_sim {
namespace {

class MemoryNodes : public MemoryGraphTest {
 protected:
  void expect_refused(const char* what, CUDA_MEM_ALLOC_NODE_PARAMS parameters,
                      CUresult code = CUDA_ERROR_INVALID_VALUE) {
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_mem_alloc_node(&made, graph_, nullptr, 0, &parameters), code) << what;
  }

  void SetUp() override {
    MemoryGraphTest::SetUp();
    graph_ = empty_graph();
  }

  CUgraph graph_ = nullptr;
};

class MemoryFacts : public MemoryGraphTest {};

TEST_F(MemoryNodes, R2_2_CapturedAllocationsAndFreesAreNodes) {
  CUdeviceptr memory = 0;
  const std::vector<CUgraphNode> all = nodes(whole(&memory));
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(type(all[0]), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  EXPECT_EQ(type(all[4]), CU_GRAPH_NODE_TYPE_MEM_FREE);
  EXPECT_EQ(dependencies(all[1]).nodes, std::vector{all[0]});
  EXPECT_EQ(dependencies(all[4]).nodes, std::vector{all[3]});
  CUDA_MEM_ALLOC_NODE_PARAMS shown{};
  ASSERT_EQ(cu().graph_mem_alloc_node_get_params(all[0], &shown), CUDA_SUCCESS);
  EXPECT_EQ(shown.dptr, memory);
  EXPECT_GE(shown.bytesize, bytes);
  EXPECT_EQ(shown.poolProps.allocType, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(shown.poolProps.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(shown.poolProps.location.id, device_);
  CUdeviceptr freed = 0;
  ASSERT_EQ(cu().graph_mem_free_node_get_params(all[4], &freed), CUDA_SUCCESS);
  EXPECT_EQ(freed, memory);
}

TEST_F(MemoryNodes, R2_2_AllocationsFromAPoolAreNodesToo) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cu().device_get_default_mem_pool(&pool, device_), CUDA_SUCCESS);
  const CUgraph graph = capture([&] {
    CUdeviceptr memory = 0;
    EXPECT_EQ(cu().mem_alloc_from_pool_async(&memory, bytes, pool, first()), CUDA_SUCCESS);
    EXPECT_NE(memory, 0U);
  });
  ASSERT_EQ(nodes(graph).size(), 1U);
  EXPECT_EQ(type(nodes(graph)[0]), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
}

TEST_F(MemoryNodes, R2_2_TheMemoryIsTheGraphsAndNotThePools) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cu().device_get_default_mem_pool(&pool, device_), CUDA_SUCCESS);
  const auto used = [&] {
    cuuint64_t value = 0;
    EXPECT_EQ(cu().mem_pool_get_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value),
              CUDA_SUCCESS);
    return value;
  };
  const cuuint64_t before = used();
  const CUgraphExec exec = instantiate(whole());
  launch_and_wait(exec);
  EXPECT_EQ(used(), before);
}

TEST_F(MemoryNodes, R2_3_ACapturedAllocationIsNoUnsafeCall) {
  begin(first(), CU_STREAM_CAPTURE_MODE_GLOBAL);
  const CUdeviceptr memory = alloc(first());
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(first())).size(), 2U);
}

TEST_F(MemoryNodes, R2_3_AllocationOnAnotherStreamIsUnsafe) {
  begin(first());
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc_async(&memory, bytes, second()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu().mem_alloc_async(&memory, bytes, first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cu().mem_free_async(64, first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(MemoryNodes, R2_2_CapturedFreesAreOfGraphAllocations) {
  const CUdeviceptr streams = alloc(first()), plain = make_memory(bytes);
  begin(first());
  EXPECT_EQ(cu().mem_free_async(streams, first()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free_async(plain, first()), CUDA_ERROR_INVALID_VALUE);
  if (driver().is_simulator()) {
    EXPECT_EQ(nodes(end(first())).size(), 0U);  // the simulator's choice
  } else {
    end_left_capture(first());
  }
  EXPECT_EQ(cu().mem_free(plain), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(streams, first()), CUDA_SUCCESS);
}

TEST_F(MemoryNodes, R2_2_NothingIsNoNode) {
  CUGRAFT_NEEDS_SIMULATOR();  // its choice
  const CUgraph graph = capture([&] {
    CUdeviceptr memory = 1;
    EXPECT_EQ(cu().mem_alloc_async(&memory, 0, first()), CUDA_SUCCESS);
    EXPECT_EQ(memory, 0U);
    EXPECT_EQ(cu().mem_free_async(0, first()), CUDA_SUCCESS);
  });
  EXPECT_EQ(nodes(graph).size(), 0U);
}

TEST_F(MemoryNodes, R2_2_CapturedAllocationChecksItsArguments) {
  CUGRAFT_NEEDS_SIMULATOR();
  begin(first());
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc_async(nullptr, bytes, first()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_alloc_from_pool_async(&memory, bytes, nullptr, first()),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_alloc_async(&memory, std::size_t{1} << 50, first()), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(nodes(end(first())).size(), 0U);
}

TEST_F(MemoryFacts, TwoCapturesOfTheSameAllocationGiveTwoAddresses) {
  CUdeviceptr one = 0, other = 0;
  whole(&one);
  whole(&other);
  EXPECT_NE(one, other);
}

TEST_F(MemoryFacts, TheAddressComesAgainWhenItsGraphIsDestroyed) {
  CUdeviceptr one = 0, other = 0, again = 0;
  whole(&one);
  destroy(whole(&other));
  whole(&again);
  EXPECT_EQ(again, other);
}

TEST_F(MemoryNodes, R6_1_TheAddressIsKeptForAnExecutable) {
  CUdeviceptr one = 0, other = 0;
  const CUgraph graph = whole(&one);
  const CUgraphExec exec = instantiate(graph);
  destroy(graph);
  whole(&other);
  EXPECT_NE(one, other);
  EXPECT_EQ(run(exec), 7U);
}

TEST_F(MemoryNodes, R6_1_TheAddressIsGivenWithTheNode) {
  CUgraphNode node = nullptr;
  const CUdeviceptr memory = add_alloc(graph_, &node);
  EXPECT_NE(memory, 0U);
  EXPECT_EQ(type(node), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  CUDA_MEM_ALLOC_NODE_PARAMS shown{};
  ASSERT_EQ(cu().graph_mem_alloc_node_get_params(node, &shown), CUDA_SUCCESS);
  EXPECT_EQ(shown.dptr, memory);
}

TEST_F(MemoryNodes, R6_1_AccessIsReadBack) {
  CUmemAccessDesc access{};
  access.location = on_device(device_).location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = alloc_parameters(), shown{};
  parameters.accessDescs = &access;
  parameters.accessDescCount = 1;
  CUgraphNode node = nullptr;
  ASSERT_EQ(cu().graph_add_mem_alloc_node(&node, graph_, nullptr, 0, &parameters), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_mem_alloc_node_get_params(node, &shown), CUDA_SUCCESS);
  ASSERT_EQ(shown.accessDescCount, 1U);
  EXPECT_NE(shown.accessDescs, &access);
  EXPECT_EQ(shown.accessDescs[0].location.id, device_);
}

TEST_F(MemoryNodes, R6_1_AllocationsHaveLimits) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = alloc_parameters();
  parameters.bytesize = 0;
  expect_refused("no size", parameters);
  parameters = alloc_parameters();
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
  expect_refused("kind of memory", parameters);
  parameters = alloc_parameters();
  parameters.poolProps.location.id = 4711;
  expect_refused("device", parameters);
  parameters = alloc_parameters();
  parameters.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  expect_refused("for other processes", parameters, CUDA_ERROR_NOT_SUPPORTED);
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_mem_alloc_node(&made, graph_, nullptr, 0, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryNodes, R6_1_AccessHasLimits) {
  CUmemAccessDesc access{};
  access.location = on_device(device_).location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = alloc_parameters();
  parameters.accessDescs = &access;
  parameters.accessDescCount = 1;
  expect_refused("reading only", parameters, CUDA_ERROR_NOT_SUPPORTED);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  access.location.id = 4711;
  expect_refused("device", parameters, CUDA_ERROR_INVALID_DEVICE);
  if (!driver().is_simulator()) return;  // a real driver crashes
  parameters.accessDescs = nullptr;
  expect_refused("no array", parameters);
}

TEST_F(MemoryNodes, R6_1_WithoutAddressesThereIsNoNode) {
  CUGRAFT_NEEDS_SIMULATOR();  // a GPU has more
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = alloc_parameters(std::size_t{1} << 50);
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_mem_alloc_node(&made, graph_, nullptr, 0, &parameters),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(made, nullptr);
}

TEST_F(MemoryNodes, R6_1_AFreeNodeFreesAnAllocationOnce) {
  const CUdeviceptr memory = add_alloc(graph_), plain = make_memory(bytes);
  EXPECT_EQ(add_free(graph_, plain), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add_free(graph_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add_free(graph_, address(0)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add_free(graph_, memory), CUDA_SUCCESS);
  EXPECT_EQ(add_free(graph_, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(nodes(graph_).size(), 2U);
  EXPECT_EQ(cu().mem_free(plain), CUDA_SUCCESS);
}

TEST_F(MemoryNodes, R6_1_CapturedFreesAreCheckedToo) {
  begin(first());
  const CUdeviceptr memory = alloc(first());
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_ERROR_INVALID_VALUE);
  end_left_capture(first());
}

TEST_F(MemoryNodes, R6_1_TheOwnerFreesOrOthersDo) {
  const CUgraph other = empty_graph();
  const CUdeviceptr owners = add_alloc(graph_), others = add_alloc(graph_);
  EXPECT_EQ(add_free(graph_, owners), CUDA_SUCCESS);
  EXPECT_EQ(add_free(other, owners), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add_free(other, others), CUDA_SUCCESS);
  EXPECT_EQ(add_free(graph_, others), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryNodes, R6_1_ARefusedFreeNodeLeavesTheAllocationFree) {
  const CUdeviceptr memory = add_alloc(graph_);
  CUgraphNode made = nullptr;
  const CUgraphNode foreign = nodes(chain(1))[0];
  EXPECT_EQ(cu().graph_add_mem_free_node(&made, graph_, &foreign, 1, memory),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_mem_free_node(nullptr, graph_, nullptr, 0, memory),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add_free(graph_, memory), CUDA_SUCCESS);
}

TEST_F(MemoryNodes, R9_1_TheGenericCallMakesThemToo) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  parameters.alloc.poolProps = on_device(device_);
  parameters.alloc.bytesize = bytes;
  CUgraphNode made = nullptr, freed = nullptr;
  ASSERT_EQ(cu().graph_add_node(&made, graph_, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  const CUdeviceptr memory = parameters.alloc.dptr;
  EXPECT_NE(memory, 0U);
  CUgraphNodeParams free_parameters{};
  free_parameters.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  free_parameters.free.dptr = memory;
  ASSERT_EQ(cu().graph_add_node(&freed, graph_, &made, nullptr, 1, &free_parameters), CUDA_SUCCESS);
  EXPECT_EQ(type(freed), CU_GRAPH_NODE_TYPE_MEM_FREE);
  if (!cu().graph_node_get_params) return;  // 13.2
  CUgraphNodeParams shown{};
  ASSERT_EQ(cu().graph_node_get_params(made, &shown), CUDA_SUCCESS);
  EXPECT_EQ(shown.type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  EXPECT_EQ(shown.alloc.dptr, memory);
  ASSERT_EQ(cu().graph_node_get_params(freed, &shown), CUDA_SUCCESS);
  EXPECT_EQ(shown.free.dptr, memory);
}

TEST_F(MemoryNodes, R9_1_UnusedBytesAreZero) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  parameters.free.dptr = add_alloc(graph_);
  reinterpret_cast<unsigned char*>(&parameters)[16 + 8] = 1;
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_node(&made, graph_, nullptr, nullptr, 0, &parameters),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryNodes, R5_1_GettersAreOfTheirKind) {
  const std::vector<CUgraphNode> all = nodes(whole());
  CUDA_MEM_ALLOC_NODE_PARAMS shown{};
  CUdeviceptr freed = 0;
  EXPECT_EQ(cu().graph_mem_alloc_node_get_params(all[4], &shown), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_mem_free_node_get_params(all[0], &freed), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_mem_alloc_node_get_params(all[0], nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_mem_free_node_get_params(all[4], nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_mem_free_node_get_params(nullptr, &freed), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryNodes, R5_1_TheirParametersAreFixed) {
  const CUgraph graph = whole();
  const CUgraphExec exec = instantiate(graph);
  const std::vector<CUgraphNode> all = nodes(graph);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  ASSERT_EQ(cu().graph_mem_free_node_get_params(all[4], &parameters.free.dptr), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_node_set_params(all[4], &parameters), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cu().graph_exec_node_set_params(exec, all[4], &parameters), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cu().graph_node_set_enabled(exec, all[0], 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
