// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>

#include "sim/graph_fixture.hpp"
#include "support/eventually.hpp"

// Graphs inside graphs.

namespace cugraft_sim {
namespace {

class ChildRules : public GraphTest {
 protected:
  CUgraphNode add_child(CUgraph to, CUgraph content, std::vector<CUgraphNode> after = {}) {
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_child_graph_node(&made, to, after.data(), after.size(), content),
              CUDA_SUCCESS);
    return made;
  }

  CUgraph content_of(CUgraphNode child) {
    CUgraph content = nullptr;
    EXPECT_EQ(cu().graph_child_graph_node_get_graph(child, &content), CUDA_SUCCESS);
    return content;
  }

  // A graph with one child of `count` kernels, and the child's node.
  CUgraph parent_of(unsigned count, CUgraphNode& node) {
    const CUgraph content = chain(count), parent = empty_graph();
    node = add_child(parent, content);
    destroy(content);
    return parent;
  }
};

TEST_F(ChildRules, ACloneOfTheGraphRunsInsideAnother) {
  CUgraphNode node = nullptr;
  const CUgraph parent = parent_of(3, node);
  EXPECT_EQ(type(node), CU_GRAPH_NODE_TYPE_GRAPH);
  EXPECT_EQ(nodes(content_of(node)).size(), 3U);
  EXPECT_EQ(run(instantiate(parent)), 6U);
}

TEST_F(ChildRules, TheContentIsTheNodesOwn) {
  const CUgraph content = chain(1), parent = empty_graph();
  const CUgraphNode node = add_child(parent, content);
  const CUgraph own = content_of(node);
  EXPECT_NE(own, content);
  const add_parameters changed(add_, address(0), 9);
  ASSERT_EQ(cu().graph_kernel_node_set_params(nodes(content)[0], &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(parent)), 1U);
  ASSERT_EQ(cu().graph_kernel_node_set_params(nodes(own)[0], &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(parent)), 9U);
}

TEST_F(ChildRules, TheContentGoesWithItsNode) {
  CUgraphNode node = nullptr;
  const CUgraph parent = parent_of(1, node);
  const CUgraph own = content_of(node);
  const CUgraphNode inner = nodes(own)[0];
  EXPECT_NE(cu().graph_destroy(own), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_destroy_node(node), CUDA_SUCCESS);
  EXPECT_TRUE(nodes(parent).empty());
  if (!driver().is_simulator()) return;  // a real driver may still answer for dead handles
  std::size_t count = 0;
  EXPECT_EQ(cu().graph_get_nodes(own, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeType kind{};
  EXPECT_EQ(cu().graph_node_get_type(inner, &kind), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ChildRules, ArgumentsAreChecked) {
  const CUgraph parent = empty_graph(), content = chain(1);
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_child_graph_node(&made, parent, nullptr, 0, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_child_graph_node(nullptr, parent, nullptr, 0, content),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_child_graph_node(&made, nullptr, nullptr, 0, content),
            CUDA_ERROR_INVALID_VALUE);
  CUgraph found = nullptr;
  EXPECT_EQ(cu().graph_child_graph_node_get_graph(nodes(content)[0], &found),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ChildRules, NestedChildrenRunInTheirPlace) {
  CUgraphNode inner = nullptr;
  const CUgraph middle = parent_of(2, inner);
  const CUgraph outer = chain(1);
  add_child(outer, middle, nodes(outer));
  EXPECT_EQ(run(instantiate(outer)), 4U);
  CUgraph copy = nullptr;
  ASSERT_EQ(cu().graph_clone(&copy, outer), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(keep(copy))), 4U);
}

// Facts, Setters: nodes inside child graphs are patched by the inner node's handle.
TEST_F(ChildRules, Facts_InnerNodesArePatchedByTheirHandles) {
  CUgraphNode node = nullptr;
  const CUgraph parent = parent_of(2, node);
  const std::vector<CUgraphNode> inner = nodes(content_of(node));
  const CUgraphExec exec = instantiate(parent);
  const add_parameters changed(add_, address(0), 40);
  ASSERT_EQ(cu().graph_exec_kernel_node_set_params(exec, inner[1], &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 41U);
  EXPECT_EQ(added_by(inner[1]), 2U) << "the graph's own node stays";
}

// Facts, Order, handles, capture: how a child comes into a capture.
TEST_F(ChildRules, Facts_AChildIsPutIntoACapture) {
  const CUgraph content = chain(2);
  begin(first());
  EXPECT_EQ(launch(first(), 4), CUDA_SUCCESS);
  const capture_info now = info(first());
  CUgraphNode child = add_child(now.graph, content, now.nodes);
  EXPECT_EQ(cu().stream_update_capture_dependencies(first(), &child, nullptr, 1,
                                                    CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_EQ(launch(first(), 8), CUDA_SUCCESS);
  const CUgraph graph = end(first());
  EXPECT_EQ(dependencies(nodes(graph).at(2)).nodes, std::vector{child});
  EXPECT_EQ(run(instantiate(graph)), 15U);
}

TEST_F(ChildRules, R4_3_AnUpdateReachesInnerNodes) {
  CUgraphNode node = nullptr, other = nullptr;
  const CUgraphExec exec = instantiate(parent_of(2, node));
  const CUgraph update = parent_of(2, other);
  const add_parameters changed(add_, address(0), 7);
  ASSERT_EQ(cu().graph_kernel_node_set_params(nodes(content_of(other))[0], &changed.all),
            CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo why{};
  ASSERT_EQ(cu().graph_exec_update(exec, update, &why), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 9U);
}

TEST_F(ChildRules, R4_3_AnInnerChangeOfTopologyRefusesTheUpdate) {
  CUgraphNode node = nullptr;
  const CUgraphExec exec = instantiate(parent_of(2, node));
  CUgraphExecUpdateResultInfo why{};
  EXPECT_EQ(cu().graph_exec_update(exec, parent_of(3, node), &why),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(why.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(run(exec), 3U);
}

TEST_F(ChildRules, R5_2_TheWholeChildIsSetInAnExecutable) {
  CUgraphNode node = nullptr;
  const CUgraphExec exec = instantiate(parent_of(2, node));
  const CUgraph now = chain(2);
  const add_parameters changed(add_, address(0), 30);
  ASSERT_EQ(cu().graph_kernel_node_set_params(nodes(now)[0], &changed.all), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_exec_child_graph_node_set_params(exec, node, now), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 32U);
  EXPECT_EQ(cu().graph_exec_child_graph_node_set_params(exec, node, chain(3)),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(cu().graph_exec_child_graph_node_set_params(exec, nullptr, now),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(exec), 32U);
}

// Driver rules, 6.4: references belong to the child, and an executable has its own.
TEST_F(ChildRules, R6_4_UserObjectsOfAChildLiveAsLongAsItsExecutables) {
  static std::atomic<int> gone;
  gone = 0;
  CUuserObject object = nullptr;
  ASSERT_EQ(cu().user_object_create(
                &object, &gone, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, 1,
                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  const CUgraph content = chain(1), parent = empty_graph();
  ASSERT_EQ(cu().graph_retain_user_object(content, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
            CUDA_SUCCESS);
  add_child(parent, content);
  destroy(content);
  const CUgraphExec exec = instantiate(parent);
  destroy(parent);
  EXPECT_EQ(run(exec), 1U);
  EXPECT_EQ(gone, 0);
  destroy(exec);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_SUCCESS);
  cugraft::testing::eventually([&] { return gone != 0; });
  EXPECT_EQ(gone, 1);
}

TEST_F(ChildRules, R1_2_TheContainingGraphOfAnInnerNodeIsTheChild) {
  if (!cu().graph_node_get_containing_graph) GTEST_SKIP() << "the driver is older than 13.1";
  CUgraphNode node = nullptr;
  parent_of(1, node);
  CUgraph containing = nullptr;
  ASSERT_EQ(cu().graph_node_get_containing_graph(nodes(content_of(node))[0], &containing),
            CUDA_SUCCESS);
  EXPECT_EQ(containing, content_of(node));
}

TEST_F(ChildRules, R8_R9_2_OwnershipReadsBackInvalid) {
  if (!cu().graph_node_get_params) GTEST_SKIP() << "the driver is older than 13.2";
  CUgraphNode node = nullptr;
  parent_of(1, node);
  CUgraphNodeParams shown{};
  ASSERT_EQ(cu().graph_node_get_params(node, &shown), CUDA_SUCCESS);
  EXPECT_EQ(shown.graph.graph, content_of(node));
  int ownership = 0;
  std::memcpy(&ownership, reinterpret_cast<const std::byte*>(&shown) + 24, sizeof ownership);
  EXPECT_EQ(ownership, -1);
}

// 12.9: the graph itself becomes the node's (driver-rules 6.2).
class MovedRules : public ChildRules {
 protected:
  void SetUp() override {
    ChildRules::SetUp();
    if (driver().version() < 12090) GTEST_SKIP() << "the driver is older than 12.9";
  }

  CUresult try_move(CUgraph to, CUgraph content, CUgraphNode& made, int ownership = 1) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
    parameters.graph.graph = content;
    std::memcpy(reinterpret_cast<std::byte*>(&parameters) + 24, &ownership, sizeof ownership);
    return cu().graph_add_node(&made, to, nullptr, nullptr, 0, &parameters);
  }

  // A graph with a moved one inside.
  CUgraph parent_with(CUgraph content) {
    const CUgraph parent = empty_graph();
    CUgraphNode made = nullptr;
    EXPECT_EQ(try_move(parent, content, made), CUDA_SUCCESS);
    forget(content);
    return parent;
  }
};

TEST_F(MovedRules, R6_2_TheHandleGoesOn) {
  const CUgraph content = chain(2), parent = empty_graph();
  CUgraphNode made = nullptr;
  ASSERT_EQ(try_move(parent, content, made), CUDA_SUCCESS);
  forget(content);
  EXPECT_EQ(content_of(made), content);
  const add_parameters changed(add_, address(0), 9);
  EXPECT_EQ(cu().graph_kernel_node_set_params(nodes(content)[0], &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(parent)), 11U);
}

TEST_F(MovedRules, R6_2_AMovedGraphIsNothingByItself) {
  const CUgraph content = chain(1);
  const CUgraph parent = parent_with(content), other = empty_graph();
  CUgraphNode made = nullptr;
  EXPECT_NE(try_move(other, content, made), CUDA_SUCCESS);
  EXPECT_NE(cu().graph_destroy(content), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec exec = nullptr;
  EXPECT_NE(cu().graph_instantiate_with_params(&exec, content, &parameters), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_NE(cu().graph_exec_update(instantiate(chain(1)), content, &info), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(parent)), 1U);
}

TEST_F(MovedRules, AMovedGraphGoesWithItsNode) {
  const CUgraph content = chain(1);
  const CUgraph parent = parent_with(content);
  destroy(parent);
  std::size_t count = 0;
  EXPECT_EQ(cu().graph_get_nodes(content, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MovedRules, WhatIsNoMoveIsAClone) {
  for (const int ownership : {0, 2, -1}) {
    SCOPED_TRACE(ownership);
    const CUgraph content = chain(1), parent = empty_graph();
    CUgraphNode made = nullptr;
    EXPECT_EQ(try_move(parent, content, made, ownership), CUDA_SUCCESS);
    if (made) {
      EXPECT_NE(content_of(made), content);
    }
  }
}

// A real driver takes it, and then nothing gets rid of the graph.
TEST_F(MovedRules, AGraphIsNotMovedIntoItself) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUgraph content = chain(1);
  CUgraphNode made = nullptr;
  EXPECT_EQ(try_move(content, content, made), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
