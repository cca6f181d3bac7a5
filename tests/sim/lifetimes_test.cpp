// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "sim/condition_fixture.hpp"
#include "sim/gate.hpp"

// What belongs to whom and when it is read: work around captures, nodes, executables.

namespace cugraft_sim {
namespace {

class LifetimeRules : public GraphTest {};

TEST_F(LifetimeRules, R2_1_RealWorkOfAStreamIsLinkedOverACapture) {
  gate held;
  ASSERT_EQ(cu().launch_host_func(first(), gate::wait, &held), CUDA_SUCCESS);
  const CUgraph graph = capture([&] { EXPECT_EQ(launch(first(), 10), CUDA_SUCCESS); });
  EXPECT_TRUE(dependencies(nodes(graph).at(0)).nodes.empty());
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(first()), CUDA_ERROR_NOT_READY)
      << "the work after the capture waits for the work before it";
  held.open();
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 1U);
}

TEST_F(LifetimeRules, R8_ACopyNodeReadsItsMemoryWhenItRuns) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(cu().memcpy_async(address(1), address(0), sizeof(unsigned), first()), CUDA_SUCCESS);
  });
  const CUgraphExec exec = instantiate(graph);
  values_[0] = 7;
  run(exec);
  EXPECT_EQ(values_[1], 7U);
}

TEST_F(LifetimeRules, R8_AHostNodeKeepsThePointerAndNotWhatItPointsTo) {
  struct numbers {
    int given = 1;
    int seen = 0;
  } data;
  const auto read = [](void* given) {
    auto& from = *static_cast<numbers*>(given);
    from.seen = from.given;
  };
  const CUgraph graph =
      capture([&] { EXPECT_EQ(cu().launch_host_func(first(), read, &data), CUDA_SUCCESS); });
  const CUgraphExec exec = instantiate(graph);
  data.given = 2;
  run(exec);
  EXPECT_EQ(data.seen, 2);
}

TEST_F(LifetimeRules, R8_NodesOutliveTheArrayThatACaptureShowsThemIn) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const CUgraphNode early = info(first()).nodes.at(0);
  ASSERT_EQ(fill(first()), CUDA_SUCCESS);
  end(first());
  EXPECT_EQ(type(early), CU_GRAPH_NODE_TYPE_KERNEL);
}

TEST_F(LifetimeRules, R5_2_NothingOfNoSizeIsPatchedIn) {
  const CUgraph graph = capture([&] { EXPECT_EQ(fill(first(), 3), CUDA_SUCCESS); });
  const CUgraphExec exec = instantiate(graph);
  CUDA_MEMSET_NODE_PARAMS none{};
  none.dst = address(0);
  none.elementSize = sizeof(unsigned);
  none.height = 1;
  EXPECT_EQ(
      cu().graph_exec_memset_node_set_params(exec, nodes(graph).at(0), &none, current_context()),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(exec), 3U);
}

TEST_F(LifetimeRules, R4_3_EmptyNodesAreTopologyOnly) {
  const auto with_empty_nodes = [&](unsigned count) {
    const CUgraph graph = empty_graph();
    CUgraphNode before = nullptr;
    for (unsigned i = 0; i < count; ++i)
      EXPECT_EQ(cu().graph_add_empty_node(&before, graph, &before, i == 0 ? 0 : 1), CUDA_SUCCESS);
    return graph;
  };
  const CUgraphExec exec = instantiate(with_empty_nodes(2));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cu().graph_exec_update(exec, with_empty_nodes(2), &info), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_exec_update(exec, with_empty_nodes(3), &info),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

TEST_F(LifetimeRules, R1_3_LoadingAFunctionTwiceIsLoadingItOnce) {
  EXPECT_EQ(cu().func_load(add_), CUDA_SUCCESS);
  EXPECT_EQ(cu().func_load(add_), CUDA_SUCCESS);
}

class LifetimeConditions : public ConditionTest {};

// The driver may wait for the running work in each of the calls, so another thread lets it go on.
TEST_F(LifetimeConditions, Facts_AnotherExecutableIsMadeWhileTheLastOneRuns) {
  gate held;
  const CUgraph graph = empty_graph();
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = gate::wait;
  host.userData = &held;
  CUgraphNode before = nullptr;
  ASSERT_EQ(cu().graph_add_host_node(&before, graph, nullptr, 0, &host), CUDA_SUCCESS);
  const conditional made = add_conditional(graph, condition(graph, 1), if_kind, 1, {before});
  add_kernel(made.bodies.at(0), 5);
  const CUgraphExec running = instantiate(graph);
  ASSERT_EQ(cu().graph_launch(running, first()), CUDA_SUCCESS);
  std::jthread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held.open();
  });
  destroy(running);
  const CUgraphExec next = instantiate(graph);
  ASSERT_EQ(cu().graph_launch(next, first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 10U);
}

TEST_F(LifetimeConditions, R7_AGraphInsideAChildNodeIsPutIntoNoBody) {
  const CUgraph parent = empty_graph(), graph = empty_graph();
  CUgraphNode child = nullptr, made = nullptr;
  ASSERT_EQ(cu().graph_add_child_graph_node(&child, parent, nullptr, 0, chain(1)), CUDA_SUCCESS);
  CUgraph inside = nullptr;
  ASSERT_EQ(cu().graph_child_graph_node_get_graph(child, &inside), CUDA_SUCCESS);
  const CUgraph body = add_conditional(graph, condition(graph, 1), if_kind, 1).bodies.at(0);
  EXPECT_EQ(cu().graph_add_child_graph_node(&made, body, nullptr, 0, inside),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cu().graph_add_child_graph_node(&made, body, nullptr, 0, parent), CUDA_SUCCESS)
      << "but the graph around it is";
}

}  // namespace
}  // namespace cugraft_sim
