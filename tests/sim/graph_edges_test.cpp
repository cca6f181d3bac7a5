// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/graph_fixture.hpp"

// Graphs made and changed by hand: nodes, edges, and what queries tell of them.

namespace cugraft_sim {
namespace {

class EdgeRules : public GraphTest {
 protected:
  CUgraphNode add_kernel(CUgraph to, unsigned value, std::vector<CUgraphNode> after = {}) {
    const add_parameters parameters(add_, address(0), value);
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_kernel_node(&made, to, after.data(), after.size(), &parameters.all),
              CUDA_SUCCESS);
    return made;
  }

  CUgraphNode add_empty(CUgraph to, std::vector<CUgraphNode> after = {}) {
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_empty_node(&made, to, after.data(), after.size()), CUDA_SUCCESS);
    return made;
  }

  CUresult connect(CUgraph in, CUgraphNode from, CUgraphNode to,
                   const CUgraphEdgeData* data = nullptr) {
    return cu().graph_add_dependencies(in, &from, &to, data, 1);
  }

  CUresult disconnect(CUgraph in, CUgraphNode from, CUgraphNode to,
                      const CUgraphEdgeData* data = nullptr) {
    return cu().graph_remove_dependencies(in, &from, &to, data, 1);
  }

  std::vector<CUgraphNode> roots(CUgraph of) {
    std::vector<CUgraphNode> found(16);
    std::size_t count = found.size();
    EXPECT_EQ(cu().graph_get_root_nodes(of, found.data(), &count), CUDA_SUCCESS);
    found.resize(count);
    return found;
  }

  std::vector<CUgraphNode> dependents(CUgraphNode of) {
    std::vector<CUgraphNode> found(16);
    std::vector<CUgraphEdgeData> data(16);
    std::size_t count = found.size();
    EXPECT_EQ(cu().graph_node_get_dependent_nodes(of, found.data(), data.data(), &count),
              CUDA_SUCCESS);
    found.resize(count);
    return found;
  }

  std::size_t count_edges(CUgraph of) {
    std::size_t count = 0;
    EXPECT_EQ(cu().graph_get_edges(of, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
    return count;
  }
};

CUgraphEdgeData programmatic(unsigned char port = 1) {
  CUgraphEdgeData data{};
  data.from_port = port;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return data;
}

TEST_F(EdgeRules, EdgesAreAddedAndRemoved) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_kernel(graph, 1), b = add_kernel(graph, 2), c = add_kernel(graph, 3);
  EXPECT_EQ(roots(graph), (std::vector{c, b, a}));
  ASSERT_EQ(connect(graph, a, c), CUDA_SUCCESS);
  ASSERT_EQ(connect(graph, b, c), CUDA_SUCCESS);
  EXPECT_EQ(dependencies(c).nodes, (std::vector{a, b}));
  EXPECT_EQ(dependents(a), std::vector{c});
  EXPECT_EQ(roots(graph), (std::vector{b, a}));
  EXPECT_EQ(count_edges(graph), 2U);
  ASSERT_EQ(disconnect(graph, a, c), CUDA_SUCCESS);
  EXPECT_EQ(dependencies(c).nodes, std::vector{b});
  EXPECT_EQ(run(instantiate(graph)), 6U);
}

// The newest root comes first, as an H200 was seen to list nodes that were added; for nodes that
// became roots, and for captures, the simulator follows that.
TEST_F(EdgeRules, RootsAreListedNewestFirst) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_kernel(graph, 1), b = add_kernel(graph, 2), c = add_kernel(graph, 3);
  ASSERT_EQ(connect(graph, c, a), CUDA_SUCCESS);
  EXPECT_EQ(roots(graph), (std::vector{c, b}));
  ASSERT_EQ(disconnect(graph, c, a), CUDA_SUCCESS);
  EXPECT_EQ(roots(graph), (std::vector{a, c, b})) << "made a root by a removed edge";

  begin(first());
  depend(first(), second(), events_[0]);
  EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(launch(second()), CUDA_SUCCESS);
  depend(second(), first(), events_[1]);
  const CUgraph captured = end(first());
  const std::vector<CUgraphNode> all = nodes(captured);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(roots(captured), (std::vector{all[1], all[0]})) << "captured";
}

TEST_F(EdgeRules, R9_3_AnEdgeIsThereOnce) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_empty(graph), b = add_empty(graph, {a});
  EXPECT_EQ(connect(graph, a, b), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(connect(graph, a, a), CUDA_ERROR_INVALID_VALUE);
  const CUgraphNode twice[]{b, b}, to[]{a, a};
  EXPECT_EQ(cu().graph_add_dependencies(graph, twice, to, nullptr, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(dependencies(b).nodes, std::vector{a});
  EXPECT_EQ(dependencies(a).nodes, std::vector{b}) << "the first of the two stays (H200)";
  EXPECT_EQ(count_edges(graph), 2U);
}

TEST_F(EdgeRules, ArgumentsOfEdgesAreChecked) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_empty(graph), b = add_empty(graph);
  const CUgraphNode elsewhere = add_empty(empty_graph());
  EXPECT_EQ(connect(graph, a, elsewhere), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(connect(graph, elsewhere, b), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(connect(nullptr, a, b), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_dependencies(graph, nullptr, &b, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_dependencies(graph, &a, nullptr, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_dependencies(graph, nullptr, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(disconnect(graph, a, b), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(count_edges(graph), 0U);
}

TEST_F(EdgeRules, ARefusedEdgeLeavesTheOthersOut) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_empty(graph), b = add_empty(graph);
  const CUgraphNode from[]{a, b}, to[]{b, b};
  EXPECT_EQ(cu().graph_add_dependencies(graph, from, to, nullptr, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(count_edges(graph), 0U);
}

TEST_F(EdgeRules, R9_3_ProgrammaticEdgesAreBetweenKernels) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_kernel(graph, 1), b = add_kernel(graph, 2), none = add_empty(graph);
  const CUgraphEdgeData data = programmatic(), without_port = programmatic(0);
  EXPECT_EQ(connect(graph, a, none, &data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(connect(graph, none, b, &data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(connect(graph, a, b, &without_port), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(connect(graph, a, b, &data), CUDA_SUCCESS);
  EXPECT_EQ(dependencies(b).data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
}

// Rules 9.3 ask for the edge's own data; an H200 does not look at it.
TEST_F(EdgeRules, R9_3_AnEdgeIsRemovedWhateverItsData) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_kernel(graph, 1), b = add_kernel(graph, 2);
  const CUgraphEdgeData data = programmatic();
  const CUgraphEdgeData other = programmatic(2);
  ASSERT_EQ(connect(graph, a, b, &data), CUDA_SUCCESS);
  EXPECT_EQ(disconnect(graph, a, b, &other), CUDA_SUCCESS);
  EXPECT_EQ(disconnect(graph, a, b, &data), CUDA_ERROR_INVALID_VALUE) << "it is gone";
  EXPECT_EQ(count_edges(graph), 0U);
}

// Unlike what is documented for edges with data.
TEST_F(EdgeRules, R9_3_WithoutDataAnyEdgeIsRemoved) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_kernel(graph, 1), b = add_kernel(graph, 2);
  const CUgraphEdgeData data = programmatic();
  ASSERT_EQ(connect(graph, a, b, &data), CUDA_SUCCESS);
  EXPECT_EQ(disconnect(graph, a, b), CUDA_SUCCESS);
  EXPECT_EQ(count_edges(graph), 0U);
  EXPECT_EQ(disconnect(graph, a, b, &data), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(EdgeRules, R9_4_QueriesWithoutRoomForEdgeDataAreLossy) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_kernel(graph, 1), b = add_kernel(graph, 2);
  const CUgraphEdgeData data = programmatic();
  ASSERT_EQ(connect(graph, a, b, &data), CUDA_SUCCESS);
  CUgraphNode from = nullptr, to = nullptr;
  std::size_t count = 1;
  EXPECT_EQ(cu().graph_get_edges(graph, &from, &to, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  EXPECT_EQ(cu().graph_node_get_dependent_nodes(a, &to, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  CUgraphEdgeData shown{};
  ASSERT_EQ(cu().graph_get_edges(graph, &from, &to, &shown, &count), CUDA_SUCCESS);
  EXPECT_EQ(from, a);
  EXPECT_EQ(to, b);
  EXPECT_EQ(shown.from_port, 1);
}

TEST_F(EdgeRules, R9_4_EdgesAreCountedThenFilledThenNulled) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_empty(graph), b = add_empty(graph, {a});
  std::vector<CUgraphNode> from(2, b), to(2, a);
  std::size_t count = 2;
  ASSERT_EQ(cu().graph_get_edges(graph, from.data(), to.data(), nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(from, (std::vector<CUgraphNode>{a, nullptr}));
  EXPECT_EQ(to, (std::vector<CUgraphNode>{b, nullptr}));
  EXPECT_EQ(cu().graph_get_edges(graph, from.data(), to.data(), nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

// Fan-out and fan-in above every internal buffer size (C076).
TEST_F(EdgeRules, C076_ManyEdgesOfOneNode) {
  constexpr std::size_t many = 300;
  const CUgraph graph = empty_graph();
  const CUgraphNode root = add_empty(graph);
  std::vector<CUgraphNode> middle(many);
  for (CUgraphNode& each : middle) each = add_empty(graph, {root});
  const CUgraphNode sink = add_empty(graph, middle);
  std::size_t count = 0;
  ASSERT_EQ(cu().graph_node_get_dependencies(sink, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, many);
  ASSERT_EQ(cu().graph_node_get_dependent_nodes(root, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, many);
  EXPECT_EQ(count_edges(graph), 2 * many);
}

TEST_F(EdgeRules, R6_3_ACycleIsFoundAtInstantiation) {
  const CUgraph graph = empty_graph();
  const CUgraphNode a = add_empty(graph), b = add_empty(graph, {a});
  ASSERT_EQ(connect(graph, b, a), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec made = nullptr;
  EXPECT_EQ(cu().graph_instantiate_with_params(&made, graph, &parameters),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  EXPECT_TRUE(parameters.hErrNode_out == a || parameters.hErrNode_out == b);
}

TEST_F(EdgeRules, NodesRunInTheOrderOfTheirEdges) {
  const CUgraph graph = empty_graph();
  CUgraphNode fill = nullptr;
  const CUgraphNode later = add_kernel(graph, 5);
  CUDA_MEMSET_NODE_PARAMS parameters{};
  parameters.dst = address(0);
  parameters.value = 10;
  parameters.elementSize = 4;
  parameters.width = parameters.height = 1;
  ASSERT_EQ(cu().graph_add_memset_node(&fill, graph, nullptr, 0, &parameters, current_context()),
            CUDA_SUCCESS);
  ASSERT_EQ(connect(graph, fill, later), CUDA_SUCCESS);
  run(instantiate(graph));
  EXPECT_EQ(values_[0], 15U);
  CUgraph copy = nullptr;
  ASSERT_EQ(cu().graph_clone(&copy, graph), CUDA_SUCCESS);
  values_[0] = 0;
  run(instantiate(keep(copy)));
  EXPECT_EQ(values_[0], 15U);
}

// As facts say of destroying and adding by hand: the order stays that of creation.
TEST_F(EdgeRules, ADestroyedNodeIsGoneWithItsEdges) {
  const CUgraph graph = chain(3);
  const std::vector<CUgraphNode> all = nodes(graph);
  ASSERT_EQ(cu().graph_destroy_node(all[1]), CUDA_SUCCESS);
  const CUgraphNode added = add_kernel(graph, 10);
  EXPECT_EQ(nodes(graph), (std::vector{all[0], all[2], added}));
  EXPECT_TRUE(dependencies(all[2]).nodes.empty());
  EXPECT_TRUE(dependents(all[0]).empty());
  EXPECT_EQ(run(instantiate(graph)), 14U);
  if (!driver().is_simulator()) return;  // a real driver must not be asked about dead handles
  EXPECT_EQ(cu().graph_destroy_node(all[1]), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(EdgeRules, AnExecutableOutlivesANodeOfItsGraph) {
  const CUgraph graph = chain(2);
  const std::vector<CUgraphNode> all = nodes(graph);
  const CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(cu().graph_destroy_node(all[1]), CUDA_SUCCESS);
  const add_parameters changed(add_, address(0), 7);
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, all[1], &changed.all),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, all[0], &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 9U);
}

TEST_F(EdgeRules, R2_2_NoNodeIsRemovedWhileItsGraphIsCaptured) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const CUgraphNode node = info(first()).nodes.at(0);
  EXPECT_NE(cu().graph_destroy_node(node), CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(first())), std::vector{node});
}

TEST_F(EdgeRules, NodesOfEveryKindAreAddedByHand) {
  const CUgraph graph = empty_graph();
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values_;
  copy.dstHost = values_ + 1;
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  CUgraphNode kernel = add_kernel(graph, 3), copied = nullptr, called = nullptr;
  ASSERT_EQ(cu().graph_add_memcpy_node(&copied, graph, &kernel, 1, &copy, current_context()),
            CUDA_SUCCESS);
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = [](void* data) { ++*static_cast<unsigned*>(data); };
  host.userData = values_ + 1;
  ASSERT_EQ(cu().graph_add_host_node(&called, graph, &copied, 1, &host), CUDA_SUCCESS);
  CUgraphNode recorded = nullptr, awaited = nullptr;
  ASSERT_EQ(cu().graph_add_event_record_node(&recorded, graph, &called, 1, events_[0]),
            CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_add_event_wait_node(&awaited, graph, &recorded, 1, events_[1]),
            CUDA_SUCCESS);
  EXPECT_EQ(type(copied), CU_GRAPH_NODE_TYPE_MEMCPY);
  EXPECT_EQ(type(called), CU_GRAPH_NODE_TYPE_HOST);
  EXPECT_EQ(type(recorded), CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  EXPECT_EQ(type(awaited), CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  run(instantiate(graph));
  EXPECT_EQ(values_[1], 4U);
  EXPECT_EQ(cu().event_query(events_[0]), CUDA_SUCCESS);
}

TEST_F(EdgeRules, R5_2_DisabledNodesDoNothingAndKeepTheirParameters) {
  const CUgraph graph = chain(2);
  const std::vector<CUgraphNode> all = nodes(graph);
  const CUgraphExec exec = instantiate(graph);
  unsigned is_enabled = 7;
  ASSERT_EQ(cu().graph_node_get_enabled(exec, all[1], &is_enabled), CUDA_SUCCESS);
  EXPECT_EQ(is_enabled, 1U);
  ASSERT_EQ(cu().graph_node_set_enabled(exec, all[1], 0), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 1U);
  const add_parameters changed(add_, address(0), 20);
  ASSERT_EQ(cu().graph_exec_kernel_node_set_params(exec, all[1], &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 1U) << "setting parameters does not enable it";
  CUgraphExecUpdateResultInfo why{};
  ASSERT_EQ(cu().graph_exec_update(exec, graph, &why), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 1U) << "nor does an update";
  ASSERT_EQ(cu().graph_node_set_enabled(exec, all[1], 1), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 3U);
}

TEST_F(EdgeRules, R5_2_OnlyKernelsCopiesAndFillsAreDisabled) {
  const CUgraph graph = empty_graph();
  const CUgraphNode node = add_empty(graph);
  const CUgraphExec exec = instantiate(graph);
  unsigned is_enabled = 1;
  EXPECT_EQ(cu().graph_node_set_enabled(exec, node, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_node_get_enabled(exec, node, &is_enabled), CUDA_ERROR_INVALID_VALUE);
}

// Uploading is no property of an executable, and an H200 does not tell of priorities either.
TEST_F(EdgeRules, R6_3_FlagsOfAnExecutable) {
  const CUgraph graph = chain(1);
  constexpr unsigned kept = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
                     untold = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  CUgraphExec exec = nullptr;
  cuuint64_t flags = 0;
  for (const unsigned asked : {0U, kept, untold, kept | untold}) {
    SCOPED_TRACE(asked);
    ASSERT_EQ(cu().graph_instantiate_with_flags(&exec, graph, asked), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_exec_get_flags(exec, &flags), CUDA_SUCCESS);
    EXPECT_EQ(flags, cuuint64_t{asked & kept});
    EXPECT_EQ(cu().graph_exec_get_flags(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
    destroy(exec);
  }
  EXPECT_EQ(cu().graph_instantiate_with_flags(&exec, graph, 1U << 20), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(EdgeRules, R1_2_IdsTellGraphsAndNodesApart) {
  if (!cu().graph_get_id) GTEST_SKIP() << "the driver is older than 13.1";
  const CUgraph one = chain(1), other = chain(1);
  unsigned id = 0, other_id = 0, exec_id = 0, local = 9;
  ASSERT_EQ(cu().graph_get_id(one, &id), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_get_id(other, &other_id), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_exec_get_id(instantiate(one), &exec_id), CUDA_SUCCESS);
  EXPECT_NE(id, other_id);
  EXPECT_NE(id, exec_id);
  const CUgraphNode node = nodes(one)[0], other_node = nodes(other)[0];
  ASSERT_EQ(cu().graph_node_get_local_id(node, &local), CUDA_SUCCESS);
  unsigned long long tools = 0, other_tools = 0;
  ASSERT_EQ(cu().graph_node_get_tools_id(node, &tools), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_node_get_tools_id(other_node, &other_tools), CUDA_SUCCESS);
  EXPECT_NE(tools, other_tools);
  CUgraph containing = nullptr;
  ASSERT_EQ(cu().graph_node_get_containing_graph(node, &containing), CUDA_SUCCESS);
  EXPECT_EQ(containing, one);
}

}  // namespace
}  // namespace cugraft_sim
