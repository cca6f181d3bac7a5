// SPDX-License-Identifier: Apache-2.0
#include "sim/memory_fixture.hpp"

// What cannot be done to graphs with allocation and free nodes.

namespace cugraft_sim {
namespace {

class MemoryLimits : public MemoryGraphTest {
 protected:
  CUresult add_child(CUgraph to, CUgraph content, int ownership, CUgraphNode* node = nullptr) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
    parameters.graph.graph = content;
    std::memcpy(reinterpret_cast<unsigned char*>(&parameters) + 24, &ownership, sizeof ownership);
    CUgraphNode made = nullptr;
    const CUresult result = cu().graph_add_node(&made, to, nullptr, nullptr, 0, &parameters);
    if (node) *node = made;
    return result;
  }

  // A parent that `content` was moved into.
  CUgraph parent_of(CUgraph content) {
    const CUgraph parent = empty_graph();
    EXPECT_EQ(add_child(parent, content, moved), CUDA_SUCCESS);
    forget(content);
    return parent;
  }

  bool can_move() { return driver().version() >= 12090; }

  static constexpr int cloned = 0, moved = 1;
};

class MemoryUpdates : public MemoryGraphTest {
 protected:
  CUresult update(CUgraphExec exec, CUgraph from) {
    return cu().graph_exec_update(exec, from, &info_);
  }

  CUgraphExecUpdateResultInfo info_{};
};

TEST_F(MemoryLimits, R6_2_NoClone) {
  CUgraph made = nullptr;
  EXPECT_EQ(cu().graph_clone(&made, whole()), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(made, nullptr);
}

TEST_F(MemoryLimits, R6_2_NoNodeIsDeleted) {
  const CUgraph graph = whole();
  for (const CUgraphNode each : nodes(graph))
    EXPECT_EQ(cu().graph_destroy_node(each), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nodes(graph).size(), 5U);
}

TEST_F(MemoryLimits, R6_2_NoEdgeIsDeleted) {
  const CUgraph graph = whole();
  const std::vector<CUgraphNode> all = nodes(graph);
  EXPECT_EQ(cu().graph_remove_dependencies(graph, &all[1], &all[2], nullptr, 1),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(dependencies(all[2]).nodes, std::vector{all[1]});
}

TEST_F(MemoryLimits, R6_2_NodesAndEdgesAreAdded) {
  const CUgraph graph = whole();
  const std::vector<CUgraphNode> all = nodes(graph);
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_empty_node(&made, graph, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_add_dependencies(graph, &all[4], &made, nullptr, 1), CUDA_SUCCESS);
}

TEST_F(MemoryLimits, R6_2_OneExecutableAtATime) {
  const CUgraph graph = whole();
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(try_instantiate(graph), CUDA_ERROR_NOT_SUPPORTED);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec made = nullptr;
  EXPECT_EQ(cu().graph_instantiate_with_params(&made, graph, &parameters),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  destroy(exec);
  EXPECT_EQ(try_instantiate(graph), CUDA_SUCCESS);
}

TEST_F(MemoryLimits, R6_2_AGraphThatOnlyFreesIsNoOther) {
  CUdeviceptr memory = 0;
  open_ended(memory);
  const CUgraph freeing =
      capture([&] { EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS); });
  CUgraph made = nullptr;
  EXPECT_EQ(cu().graph_clone(&made, freeing), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cu().graph_destroy_node(nodes(freeing)[0]), CUDA_ERROR_NOT_SUPPORTED);
  instantiate(freeing);
  EXPECT_EQ(try_instantiate(freeing), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(MemoryLimits, R6_2_NoCloneInAChild) {
  const CUgraph graph = whole(), parent = empty_graph();
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_child_graph_node(&made, parent, nullptr, 0, graph),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(add_child(parent, graph, cloned), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nodes(parent).size(), 0U);
}

TEST_F(MemoryLimits, R6_2_AGraphCanBeMovedIn) {
  if (!can_move()) GTEST_SKIP() << "the driver is older than 12.9";
  const CUgraph graph = whole(), parent = empty_graph();
  CUgraphNode node = nullptr;
  ASSERT_EQ(add_child(parent, graph, moved, &node), CUDA_SUCCESS);
  forget(graph);
  CUgraph content = nullptr;
  EXPECT_EQ(cu().graph_child_graph_node_get_graph(node, &content), CUDA_SUCCESS);
  EXPECT_EQ(content, graph);
  const CUgraphExec exec = instantiate(parent);
  EXPECT_EQ(run(exec), 7U);
  EXPECT_EQ(try_instantiate(parent), CUDA_ERROR_NOT_SUPPORTED);
  CUgraph made = nullptr;
  EXPECT_EQ(cu().graph_clone(&made, parent), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(MemoryLimits, R6_2_AMovedGraphIsItsParents) {
  if (!can_move()) GTEST_SKIP() << "the driver is older than 12.9";
  const CUgraph graph = whole(), parent = parent_of(graph);
  EXPECT_NE(try_instantiate(graph), CUDA_SUCCESS);
  EXPECT_NE(cu().graph_destroy(graph), CUDA_SUCCESS);
  EXPECT_NE(add_child(empty_graph(), graph, moved), CUDA_SUCCESS);
  EXPECT_NE(add_child(empty_graph(), graph, cloned), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_NE(cu().graph_exec_update(instantiate(parent), graph, &info), CUDA_SUCCESS);
  CUgraphNode made = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = alloc_parameters();
  EXPECT_NE(cu().graph_add_mem_alloc_node(&made, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
}

TEST_F(MemoryLimits, R6_2_AMovedGraphIsMadeOfAnyNodes) {
  if (!can_move()) GTEST_SKIP() << "the driver is older than 12.9";
  const CUgraph graph = chain(2), parent = parent_of(graph);
  EXPECT_NE(try_instantiate(graph), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(parent)), 3U);
}

TEST_F(MemoryLimits, R6_2_WhatCannotBeMoved) {
  CUGRAFT_NEEDS_SIMULATOR();  // the codes are its choice
  const CUgraph instantiated = whole(), parent = empty_graph();
  const CUgraphExec exec = instantiate(instantiated);
  EXPECT_EQ(add_child(parent, instantiated, moved), CUDA_ERROR_NOT_SUPPORTED);
  destroy(exec);
  EXPECT_EQ(add_child(parent, parent, moved), CUDA_ERROR_INVALID_VALUE);
  const CUgraph captured = empty_graph();
  ASSERT_EQ(cu().stream_begin_capture_to_graph(first(), captured, nullptr, nullptr, 0,
                                               CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  EXPECT_EQ(add_child(parent, captured, moved), CUDA_ERROR_ILLEGAL_STATE);
  CUgraph ended = nullptr;
  EXPECT_EQ(cu().stream_end_capture(first(), &ended), CUDA_SUCCESS);
}

TEST_F(MemoryLimits, R6_2_NoMemoryNodeInAChild) {
  const CUgraph content = chain(1), parent = empty_graph();
  CUgraphNode child = nullptr;
  ASSERT_EQ(cu().graph_add_child_graph_node(&child, parent, nullptr, 0, content), CUDA_SUCCESS);
  CUgraph own = nullptr;
  ASSERT_EQ(cu().graph_child_graph_node_get_graph(child, &own), CUDA_SUCCESS);
  CUgraphNode made = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = alloc_parameters();
  EXPECT_EQ(cu().graph_add_mem_alloc_node(&made, own, nullptr, 0, &parameters),
            CUDA_ERROR_NOT_SUPPORTED);
  const CUdeviceptr memory = add_alloc(parent);
  EXPECT_EQ(add_free(own, memory), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(MemoryLimits, R6_2_NoneIsCapturedIntoAChildEither) {
  CUGRAFT_NEEDS_SIMULATOR();  // the code is its choice
  const CUgraph content = chain(1), parent = parent_of(content);
  EXPECT_EQ(nodes(parent).size(), 1U);
  ASSERT_EQ(cu().stream_begin_capture_to_graph(first(), content, nullptr, nullptr, 0,
                                               CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu().mem_alloc_async(&memory, bytes, first()), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(launch(first(), 4), CUDA_SUCCESS);
  CUgraph ended = nullptr;
  EXPECT_EQ(cu().stream_end_capture(first(), &ended), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(parent)), 5U);
}

TEST_F(MemoryUpdates, R4_1_FromASecondCaptureIsAnError) {
  const CUgraphExec exec = instantiate(whole());
  const CUgraph other = whole();
  EXPECT_EQ(update(exec, other), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info_.result, CU_GRAPH_EXEC_UPDATE_ERROR);
  EXPECT_EQ(run(exec), 7U);
  destroy(other);
}

TEST_F(MemoryUpdates, R4_3_FromTheExecutablesOwnGraphWorks) {
  const CUgraph graph = whole();
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(update(exec, graph), CUDA_SUCCESS);
  EXPECT_EQ(info_.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(run(exec), 7U);
}

TEST_F(MemoryUpdates, KernelsArePatchedInGraphAndExecutable) {
  CUdeviceptr memory = 0;
  const CUgraph graph = whole(&memory);
  const CUgraphNode kernel = nodes(graph)[2];
  const CUgraphExec exec = instantiate(graph);
  const add_parameters ten(add_, memory, 10), hundred(add_, memory, 100);
  ASSERT_EQ(cu().graph_exec_kernel_node_set_params(exec, kernel, &ten.all), CUDA_SUCCESS);
  launch_and_wait(exec);
  EXPECT_EQ(values_[0], 16U);
  ASSERT_EQ(cu().graph_kernel_node_set_params(kernel, &hundred.all), CUDA_SUCCESS);
  EXPECT_EQ(update(exec, graph), CUDA_SUCCESS);
  launch_and_wait(exec);
  EXPECT_EQ(values_[0], 106U);
}

TEST_F(MemoryUpdates, FillsAndCopiesArePatchedToo) {
  CUdeviceptr memory = 0;
  const CUgraph graph = whole(&memory);
  const CUgraphExec exec = instantiate(graph);
  CUDA_MEMSET_NODE_PARAMS fill{};
  ASSERT_EQ(cu().graph_memset_node_get_params(nodes(graph)[1], &fill), CUDA_SUCCESS);
  fill.value = 40;
  ASSERT_EQ(cu().graph_exec_memset_node_set_params(exec, nodes(graph)[1], &fill, current_context()),
            CUDA_SUCCESS);
  launch_and_wait(exec);
  EXPECT_EQ(values_[0], 41U);
}

}  // namespace
}  // namespace cugraft_sim
