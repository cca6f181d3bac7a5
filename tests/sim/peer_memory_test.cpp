// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "sim/peer_fixture.hpp"

// Memory that a graph allocates on another device than that of its stream.

namespace cugraft_sim {
namespace {

class PeerMemoryRules : public PeerTest {
 protected:
  void TearDown() override {
    for (const CUgraph each : graphs_) EXPECT_EQ(cu().graph_destroy(each), CUDA_SUCCESS);
    PeerTest::TearDown();
  }

  static CUmemPoolProps on_device(CUdevice device) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
  }

  std::size_t used_by_graphs(CUdevice device) {
    cuuint64_t found = 0;
    EXPECT_EQ(
        cu().device_get_graph_mem_attribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &found),
        CUDA_SUCCESS);
    return found;
  }

  /// A graph that allocates on the second device, uses the memory by a kernel of the first, and
  /// frees it.
  CUgraph graph_with(const std::vector<CUmemAccessDesc>& access) {
    CUgraph graph = nullptr;
    EXPECT_EQ(cu().graph_create(&graph, 0), CUDA_SUCCESS);
    graphs_.push_back(graph);
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps = on_device(1);
    parameters.bytesize = bytes;
    parameters.accessDescs = access.data();
    parameters.accessDescCount = access.size();
    CUgraphNode alloc = nullptr, use = nullptr, free = nullptr;
    EXPECT_EQ(cu().graph_add_mem_alloc_node(&alloc, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
    CUDA_KERNEL_NODE_PARAMS kernel{};
    CUkernel add = nullptr;
    EXPECT_EQ(cu().library_get_kernel(&add, library_, "add"), CUDA_SUCCESS);
    EXPECT_EQ(cu().kernel_get_function(&kernel.func, add), CUDA_SUCCESS);
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    unsigned one = 1;
    void* arguments[] = {&parameters.dptr, &one};
    kernel.kernelParams = arguments;
    EXPECT_EQ(cu().graph_add_kernel_node(&use, graph, &alloc, 1, &kernel), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_add_mem_free_node(&free, graph, &use, 1, parameters.dptr), CUDA_SUCCESS);
    return graph;
  }

  CUresult launch(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cu().graph_instantiate_with_flags(&exec, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_launch(exec, streams_[0]), CUDA_SUCCESS);
    const CUresult result = cu().stream_synchronize(streams_[0]);
    cu().graph_exec_destroy(exec);
    return result;
  }

  std::vector<CUgraph> graphs_;
};

TEST_F(PeerMemoryRules, R6_1_TheNodesAccessReachesThePeer) {
  CUmemAccessDesc access{};
  access.location = on_device(0).location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT_EQ(launch(graph_with({access})), CUDA_SUCCESS);
}

TEST_F(PeerMemoryRules, R6_1_WithoutAccessAKernelDoesNotReachIt) {
  CUGRAFT_NEEDS_SIMULATOR();  // the context is lost
  EXPECT_EQ(launch(graph_with({})), CUDA_ERROR_ILLEGAL_ADDRESS);
  graphs_.clear();
}

TEST_F(PeerMemoryRules, R6_1_PeersOfContextsAreNotAsked) {
  CUGRAFT_NEEDS_SIMULATOR();  // the context is lost
  const CUgraph graph = graph_with({});
  ASSERT_EQ(cu().ctx_enable_peer_access(contexts_[1], 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(graph), CUDA_ERROR_ILLEGAL_ADDRESS);
  graphs_.clear();
}

TEST_F(PeerMemoryRules, R2_2_APoolOfAnotherDeviceSaysWhereTheMemoryIs) {
  CUmemoryPool pool = nullptr;
  const CUmemPoolProps properties = on_device(1);
  ASSERT_EQ(cu().mem_pool_create(&pool, &properties), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_begin_capture(streams_[0], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cu().mem_alloc_from_pool_async(&memory, bytes, pool, streams_[0]), CUDA_SUCCESS);
  ASSERT_EQ(cu().memcpy_dtod_async(memory, memory_[0], bytes, streams_[0]), CUDA_SUCCESS);
  ASSERT_EQ(cu().memcpy_dtod_async(memory_[1], memory, bytes, streams_[0]), CUDA_SUCCESS);
  const CUgraph graph = end_capture();
  graphs_.push_back(graph);

  std::size_t count = 3;
  CUgraphNode nodes[3]{};
  ASSERT_EQ(cu().graph_get_nodes(graph, nodes, &count), CUDA_SUCCESS);
  CUDA_MEM_ALLOC_NODE_PARAMS found{};
  ASSERT_EQ(cu().graph_mem_alloc_node_get_params(nodes[0], &found), CUDA_SUCCESS);
  EXPECT_EQ(found.poolProps.location.id, 1);

  ASSERT_EQ(add(streams_[0], memory_[0], 9), CUDA_SUCCESS);
  const std::size_t before = used_by_graphs(0);
  EXPECT_EQ(launch(graph), CUDA_SUCCESS);
  EXPECT_EQ(read(1), 9U);
  EXPECT_GT(used_by_graphs(1), 0U) << "it is not freed by the graph";
  EXPECT_EQ(used_by_graphs(0), before);
  EXPECT_EQ(cu().mem_free_async(memory, streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_pool_destroy(pool), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
