// SPDX-License-Identifier: Apache-2.0

#include "sim/gate.hpp"
#include "sim/memory_fixture.hpp"

// When the memory of a graph is there, and who may free it.

namespace cugraft_sim {
namespace {

class MemoryLaunches : public MemoryGraphTest {
 protected:
  std::size_t live() { return control().live().device_allocations; }

  // What the memory holds, read after all work of the first stream.
  unsigned shown(CUdeviceptr memory) {
    EXPECT_EQ(show(first(), memory, 1), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
    return values_[1];
  }
};

TEST_F(MemoryLaunches, R6_1_MemoryIsThereBetweenAllocationAndFree) {
  const CUgraphExec exec = instantiate(whole());
  for (int i = 0; i < 3; ++i) {
    values_[0] = 0;
    launch_and_wait(exec);
    EXPECT_EQ(values_[0], 7U);
  }
  if (driver().is_simulator()) {
    EXPECT_EQ(live(), 0U);
  }
}

TEST_F(MemoryLaunches, R6_1_LaunchesFollowEachOther) {
  const CUgraphExec exec = instantiate(whole());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_launch(exec, second()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(second()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 7U);
}

TEST_F(MemoryLaunches, R6_1_WhatIsNotFreedCanBeUsedAfterwards) {
  CUdeviceptr memory = 0;
  launch_and_wait(instantiate(open_ended(memory)));
  EXPECT_EQ(shown(memory), 7U);
  use(first(), memory, 20);
  EXPECT_EQ(shown(memory), 21U);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(MemoryLaunches, R6_1_FreeEndsItAtOnce) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate(open_ended(memory));
  EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  if (driver().is_simulator()) {
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(MemoryLaunches, R6_1_FreeAsyncEndsItInOrder) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate(open_ended(memory));
  gate gate;
  EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(first(), &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(show(first(), memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);  // it has memory of its own
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 7U);
  if (driver().is_simulator()) {
    EXPECT_EQ(live(), 0U);
  }
}

TEST_F(MemoryLaunches, R6_1_AnotherGraphCanFree) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate(open_ended(memory));
  const CUgraphExec freeing = instantiate(capture([&] {
    EXPECT_EQ(show(first(), memory), CUDA_SUCCESS);
    EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  }));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
    EXPECT_EQ(launch_graph(freeing), CUDA_SUCCESS);
  }
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 7U);
  if (driver().is_simulator()) {
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(launch_graph(freeing), CUDA_ERROR_INVALID_VALUE);  // there is nothing to free
  }
}

TEST_F(MemoryLaunches, R6_1_WhatTheGraphFreesNobodyElseFrees) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate(whole(&memory));
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
  launch_and_wait(exec);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryLaunches, R6_1_FreeTakesTheBeginning) {
  CUdeviceptr memory = 0;
  launch_and_wait(instantiate(open_ended(memory)));
  EXPECT_EQ(cu().mem_free(memory + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free_async(memory + 4, first()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(MemoryLaunches, R6_1_BeforeALaunchThereIsNoMemory) {
  CUGRAFT_NEEDS_SIMULATOR();
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate(open_ended(memory));
  EXPECT_EQ(show(first(), memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().memset_d32_async(memory, 1, 1, first()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
  EXPECT_EQ(show(first(), memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  EXPECT_EQ(show(first(), memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryLaunches, R6_1_RangesStayInTheirAllocation) {
  CUdeviceptr memory = 0;
  launch_and_wait(instantiate(open_ended(memory)));
  if (driver().is_simulator()) {
    EXPECT_EQ(cu().memset_d8_async(memory, 0, bytes + 1, first()), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cu().memcpy_async(address(0), memory + 4, bytes, first()), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(cu().memset_d8_async(memory + 4, 0, bytes - 4, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(MemoryLaunches, R6_3_WhatIsLeftForbidsTheNextLaunch) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate(open_ended(memory));
  launch_and_wait(exec);
  EXPECT_EQ(launch_graph(exec), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(shown(memory), 7U);
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  launch_and_wait(exec);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(MemoryLaunches, R6_3_AutoFreeFreesItFirst) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec =
      instantiate(open_ended(memory), CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
  EXPECT_EQ(shown(memory), 7U);
  cuuint64_t flags = 0;
  EXPECT_EQ(cu().graph_exec_get_flags(exec, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH});
  if (driver().is_simulator()) {
    EXPECT_EQ(live(), 1U);
  }
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(MemoryLaunches, R6_3_AutoFreeIsNotForDeviceLaunch) {
  CUGRAFT_NEEDS_SIMULATOR();  // the code is its choice
  EXPECT_EQ(try_instantiate(chain(1), CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                          CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryLaunches, R6_1_DestroyingDoesNotFree) {
  for (const unsigned long long flags : {0, 1}) {  // 1: free on launch
    CUdeviceptr memory = 0;
    const CUgraph graph = open_ended(memory);
    const CUgraphExec exec = instantiate(graph, flags);
    EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
    destroy(exec);
    destroy(graph);
    EXPECT_EQ(shown(memory), 7U);
    if (driver().is_simulator()) {
      EXPECT_EQ(live(), 1U);
    }
    EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
    if (driver().is_simulator()) {
      EXPECT_EQ(live(), 0U);
      EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
    }
  }
}

TEST_F(MemoryLaunches, R6_1_WhatIsLeftBelongsToTheNextExecutableToo) {
  CUdeviceptr memory = 0;
  const CUgraph graph = open_ended(memory);
  const CUgraphExec before = instantiate(graph);
  launch_and_wait(before);
  destroy(before);
  const CUgraphExec exec = instantiate(graph);
  if (driver().is_simulator()) {
    EXPECT_EQ(launch_graph(exec), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  launch_and_wait(exec);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(MemoryLaunches, R6_3_ALaunchThatFailsChangesNothing) {
  CUGRAFT_NEEDS_SIMULATOR();
  CUdeviceptr memory = 0;
  const CUevent event = make_event();
  const CUgraphExec exec = instantiate(capture([&] {
    memory = alloc(first());
    EXPECT_EQ(cu().event_record_with_flags(event, first(), CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
  }));
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(launch_graph(exec), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(live(), 0U);
}

TEST_F(MemoryLaunches, R6_3_ALaunchNeedsTheMemory) {
  CUGRAFT_NEEDS_SIMULATOR();
  constexpr std::size_t half = 600 << 10;
  CUdeviceptr memory = 0, other = 0;
  const CUgraph graph = capture([&] {
    memory = alloc(first(), half);
    other = alloc(first(), half);
  });
  const CUgraphExec exec = instantiate(graph);
  control().set_device_memory(1 << 20);
  EXPECT_EQ(launch_graph(exec), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
  control().set_device_memory(std::uint64_t{16} << 30);
  launch_and_wait(exec);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(other), CUDA_SUCCESS);
}

TEST_F(MemoryLaunches, R6_1_LaunchesOfAGraphTakeItsMemoryOnce) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUgraphExec exec = instantiate(capture([&] {
    const CUdeviceptr memory = alloc(first(), 600 << 10);
    EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  }));
  control().set_device_memory(1 << 20);
  gate gate;
  EXPECT_EQ(cu().launch_host_func(first(), &gate::wait, &gate), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
  CUdeviceptr plain = 0;
  EXPECT_EQ(cu().mem_alloc(&plain, 600 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_alloc(&plain, 600 << 10), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(plain), CUDA_SUCCESS);
  control().set_device_memory(std::uint64_t{16} << 30);
}

TEST_F(MemoryLaunches, R6_1_ForkedBranchesShareTheMemory) {
  const CUgraphExec exec = instantiate(capture([&] {
    const CUdeviceptr memory = alloc(first(), 128);
    depend(first(), second(), events_[0]);
    use(second(), memory + 64, 30);
    use(first(), memory);
    depend(second(), first(), events_[1]);
    EXPECT_EQ(show(first(), memory + 64), CUDA_SUCCESS);
    EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  }));
  EXPECT_EQ(run(exec), 31U);
}

TEST_F(MemoryLaunches, R6_1_ChildrenAllocateAndParentsFree) {
  if (driver().version() < 12090) GTEST_SKIP() << "the driver is older than 12.9";
  CUdeviceptr memory = 0;
  const CUgraph content = open_ended(memory), parent = empty_graph();
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = content;
  const int moved = 1;
  std::memcpy(reinterpret_cast<unsigned char*>(&parameters) + 24, &moved, sizeof moved);
  CUgraphNode child = nullptr;
  ASSERT_EQ(cu().graph_add_node(&child, parent, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  forget(content);
  EXPECT_EQ(add_free(parent, memory, {child}), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate(parent);
  launch_and_wait(exec);
  launch_and_wait(exec);
}

}  // namespace
}  // namespace cugraft_sim
