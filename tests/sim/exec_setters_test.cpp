// SPDX-License-Identifier: Apache-2.0
#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

void add_to(void* counter) { ++*static_cast<unsigned*>(counter); }

class SetterRules : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    device_memory_ = make_memory(4096);
  }

  void TearDown() override {
    EXPECT_EQ(cu().mem_free(device_memory_), CUDA_SUCCESS);
    GraphTest::TearDown();
  }

  CUresult patch(CUgraphExec exec, CUgraphNode node, unsigned value) {
    const add_parameters changed(add_, address(0), value);
    return cu().graph_exec_kernel_node_set_params(exec, node, &changed.all);
  }

  CUDA_MEMCPY3D copy(CUgraphNode of) {
    CUDA_MEMCPY3D found{};
    EXPECT_EQ(cu().graph_memcpy_node_get_params(of, &found), CUDA_SUCCESS);
    return found;
  }

  CUDA_MEMSET_NODE_PARAMS filled(CUgraphNode of) {
    CUDA_MEMSET_NODE_PARAMS found{};
    EXPECT_EQ(cu().graph_memset_node_get_params(of, &found), CUDA_SUCCESS);
    return found;
  }

  CUdeviceptr device_memory_ = 0;
};

TEST_F(SetterRules, R5_2_AKernelChangesInTheExecutableAlone) {
  const CUgraph graph = chain(2);
  const CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(patch(exec, nodes(graph).at(1), 40), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 41U);
  EXPECT_EQ(added_by(nodes(graph).at(1)), 2U);
}

TEST_F(SetterRules, R5_2_ExecutablesOfOneGraphAreIndependent) {
  const CUgraph graph = chain(1);
  const CUgraphExec one = instantiate(graph);
  const CUgraphExec two = instantiate(graph);
  ASSERT_EQ(patch(one, nodes(graph).at(0), 30), CUDA_SUCCESS);
  EXPECT_EQ(run(two), 1U);
  EXPECT_EQ(run(one), 30U);
}

TEST_F(Facts, AKernelOfAnExecutableTakesAnotherFunction) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  CUDA_KERNEL_NODE_PARAMS changed = kernel(nodes(graph).at(0));
  changed.func = nothing_;
  changed.kern = nullptr;
  changed.kernelParams = nullptr;
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, nodes(graph).at(0), &changed),
            CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 0U);
}

TEST_F(SetterRules, R5_2_OnlyNodesOfTheOriginAreTaken) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  CUgraph clone = nullptr;
  ASSERT_EQ(cu().graph_clone(&clone, graph), CUDA_SUCCESS);
  keep(clone);
  EXPECT_EQ(patch(exec, nodes(clone).at(0), 2), CUDA_ERROR_INVALID_VALUE);
  const CUgraph later = chain(1);
  EXPECT_EQ(patch(exec, nodes(later).at(0), 2), CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info{};
  ASSERT_EQ(cu().graph_exec_update(exec, later, &info), CUDA_SUCCESS);
  EXPECT_EQ(patch(exec, nodes(later).at(0), 2), CUDA_ERROR_INVALID_VALUE)
      << "facts: also after a whole-graph update from that graph";
  EXPECT_EQ(patch(exec, nodes(graph).at(0), 2), CUDA_SUCCESS);
}

TEST_F(SetterRules, R5_2_ANodeAddedLaterIsNotTheExecutables) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  const std::vector<CUgraphNode> before = nodes(graph);
  ASSERT_EQ(cu().stream_begin_capture_to_graph(first(), graph, before.data(), nullptr, 1,
                                               CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  CUgraph made = nullptr;
  ASSERT_EQ(cu().stream_end_capture(first(), &made), CUDA_SUCCESS);
  EXPECT_EQ(patch(exec, nodes(graph).at(1), 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(patch(exec, before[0], 2), CUDA_SUCCESS);
}

TEST_F(Facts, NodesOfADestroyedOriginAreInvalidAndTheExecutableLaunches) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph).at(0);
  destroy(graph);
  const add_parameters changed(add_, address(0), 9);
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, node, &changed.all),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(exec), 1U);
}

TEST_F(SetterRules, R5_2_KernelSetterChecksTheLaunch) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph).at(0);
  add_parameters changed(add_, address(0), 9);
  changed.all.gridDimX = 0;
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, node, &changed.all),
            CUDA_ERROR_INVALID_VALUE);
  changed.all.gridDimX = 1;
  changed.all.kernelParams = nullptr;
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, node, &changed.all),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(patch(nullptr, node, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(patch(exec, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(exec), 1U);
}

TEST_F(SetterRules, R5_2_ARowChangesItsAddressesAndItsLength) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(cu().memcpy_async(device_memory_, device_memory_ + 64, 16, first()), CUDA_SUCCESS);
  });
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph).at(0);
  const auto set = [&](const CUDA_MEMCPY3D& to, CUcontext context) {
    return cu().graph_exec_memcpy_node_set_params(exec, node, &to, context);
  };
  CUDA_MEMCPY3D to = copy(node);
  to.srcDevice = device_memory_ + 1024;
  to.srcXInBytes = 16;
  to.WidthInBytes = 512;
  EXPECT_EQ(set(to, context_), CUDA_SUCCESS);
  EXPECT_EQ(set(to, nullptr), CUDA_SUCCESS) << "facts: the context does not matter";
  to.srcPitch = to.dstPitch = 512;
  to.Height = 2;
  EXPECT_EQ(set(to, context_), CUDA_ERROR_INVALID_VALUE) << "both have to be one row";
  to = copy(node);
  to.WidthInBytes = 0;
  EXPECT_EQ(set(to, context_), CUDA_ERROR_INVALID_VALUE) << "zero sizes are not supported";
}

// The row becomes one from host memory.
TEST_F(SetterRules, R5_2_ACopyKeepsItsKindsOfMemory) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(cu().memcpy_async(device_memory_, device_memory_ + 64, 16, first()), CUDA_SUCCESS);
  });
  const CUgraphNode node = nodes(graph).at(0);
  CUDA_MEMCPY3D from_device = copy(node);
  from_device.srcMemoryType = from_device.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  ASSERT_EQ(cu().graph_memcpy_node_set_params(node, &from_device), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate(graph);
  CUDA_MEMCPY3D from_host = from_device;
  from_host.srcMemoryType = CU_MEMORYTYPE_HOST;
  from_host.srcDevice = 0;
  from_host.srcHost = values_;
  EXPECT_EQ(cu().graph_exec_memcpy_node_set_params(exec, node, &from_host, context_),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_exec_memcpy_node_set_params(exec, node, &from_device, context_),
            CUDA_SUCCESS);
}

TEST_F(Facts, ACopyOfSeveralRowsIsTakenUnchangedOnly) {
  const CUdeviceptr memory = make_memory(1024);
  const CUgraph graph = capture(
      [&] { EXPECT_EQ(cu().memcpy_async(memory, memory + 512, 16, first()), CUDA_SUCCESS); });
  const CUgraphNode node = nodes(graph).at(0);
  CUDA_MEMCPY3D to{};
  ASSERT_EQ(cu().graph_memcpy_node_get_params(node, &to), CUDA_SUCCESS);
  to.srcMemoryType = to.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  to.srcPitch = to.dstPitch = 64;
  to.Height = 4;
  ASSERT_EQ(cu().graph_memcpy_node_set_params(node, &to), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate(graph);
  const auto set = [&] {
    return cu().graph_exec_memcpy_node_set_params(exec, node, &to, context_);
  };
  EXPECT_EQ(set(), CUDA_SUCCESS);
  to.srcDevice += 64;
  EXPECT_EQ(set(), CUDA_ERROR_INVALID_VALUE);
  to.srcDevice -= 64;
  to.WidthInBytes = 8;
  EXPECT_EQ(set(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(SetterRules, R5_2_AFillOfARowKeepsItsHeightOnly) {
  const CUgraph graph = capture([&] { EXPECT_EQ(fill(first(), 7, 0, 4), CUDA_SUCCESS); });
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph).at(0);
  CUDA_MEMSET_NODE_PARAMS to = filled(node);
  to.value = 9;
  to.dst = address(8);
  to.width = 8;
  ASSERT_EQ(cu().graph_exec_memset_node_set_params(exec, node, &to, context_), CUDA_SUCCESS);
  run(exec);
  EXPECT_EQ(values_[0], 0U);
  EXPECT_EQ(values_[15], 9U);
  to.elementSize = 1;
  EXPECT_EQ(cu().graph_exec_memset_node_set_params(exec, node, &to, nullptr), CUDA_SUCCESS);
  to.height = 2;
  to.pitch = 64;
  EXPECT_EQ(cu().graph_exec_memset_node_set_params(exec, node, &to, context_),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(SetterRules, R5_2_AFillOfSeveralRowsKeepsItsShape) {
  const CUgraph graph = capture(
      [&] { EXPECT_EQ(cu().memset_d32_async(device_memory_, 7, 4, first()), CUDA_SUCCESS); });
  const CUgraphNode node = nodes(graph).at(0);
  CUDA_MEMSET_NODE_PARAMS to = filled(node);
  to.height = 2;
  to.pitch = 64;
  ASSERT_EQ(cu().graph_memset_node_set_params(node, &to), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate(graph);
  to.value = 8;
  to.dst += 256;
  EXPECT_EQ(cu().graph_exec_memset_node_set_params(exec, node, &to, context_), CUDA_SUCCESS);
  to.width = 2;
  EXPECT_EQ(cu().graph_exec_memset_node_set_params(exec, node, &to, context_),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(SetterRules, R5_2_HostFunctionsAreFree) {
  unsigned first_count = 0;
  unsigned second_count = 0;
  const CUgraph graph = capture(
      [&] { EXPECT_EQ(cu().launch_host_func(first(), add_to, &first_count), CUDA_SUCCESS); });
  const CUgraphExec exec = instantiate(graph);
  const CUDA_HOST_NODE_PARAMS to{add_to, &second_count};
  ASSERT_EQ(cu().graph_exec_host_node_set_params(exec, nodes(graph).at(0), &to), CUDA_SUCCESS);
  run(exec);
  EXPECT_EQ(first_count, 0U);
  EXPECT_EQ(second_count, 1U);
  const CUDA_HOST_NODE_PARAMS none{};
  EXPECT_EQ(cu().graph_exec_host_node_set_params(exec, nodes(graph).at(0), &none),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(SetterRules, R5_2_EventsAreFree) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(cu().event_record_with_flags(events_[0], first(), CU_EVENT_RECORD_EXTERNAL),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[0], CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
  });
  const CUgraphExec exec = instantiate(graph);
  const std::vector<CUgraphNode> all = nodes(graph);
  EXPECT_EQ(cu().graph_exec_event_record_node_set_event(exec, all[0], events_[1]), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_exec_event_wait_node_set_event(exec, all[1], events_[1]), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_exec_event_record_node_set_event(exec, all[1], events_[1]),
            CUDA_ERROR_INVALID_VALUE)
      << "the other kind of node";
  EXPECT_EQ(cu().graph_exec_event_wait_node_set_event(exec, all[1], nullptr),
            CUDA_ERROR_INVALID_VALUE);
  run(exec);
  CUevent of_graph = nullptr;
  ASSERT_EQ(cu().graph_event_record_node_get_event(all[0], &of_graph), CUDA_SUCCESS);
  EXPECT_EQ(of_graph, events_[0]) << "the graph's node is left alone";
}

}  // namespace
}  // namespace cugraft_sim
