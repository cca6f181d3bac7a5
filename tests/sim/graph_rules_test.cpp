// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

class GraphRules : public GraphTest {
 protected:
  CUgraphNode add_empty(CUgraph to, std::vector<CUgraphNode> after = {}) {
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_empty_node(&made, to, after.data(), after.size()), CUDA_SUCCESS);
    return made;
  }

  CUgraph clone(CUgraph of) {
    CUgraph made = nullptr;
    EXPECT_EQ(cu().graph_clone(&made, of), CUDA_SUCCESS);
    return keep(made);
  }

  CUresult find(CUgraphNode original, CUgraph in, CUgraphNode& found) {
    return cu().graph_node_find_in_clone(&found, original, in);
  }
};

TEST_F(GraphRules, CreateChecksItsArguments) {
  CUgraph made = nullptr;
  EXPECT_EQ(cu().graph_create(&made, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_create(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRules, ADestroyedGraphIsInvalid) {
  const CUgraph graph = chain(1);
  destroy(graph);
  std::size_t count = 0;
  EXPECT_EQ(cu().graph_get_nodes(graph, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_destroy(graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_destroy(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRules, R9_4_NodesAreCountedThenFilledThenNulled) {
  const CUgraph graph = chain(3);
  const std::vector<CUgraphNode> all = nodes(graph);
  std::vector<CUgraphNode> room(5, reinterpret_cast<CUgraphNode>(this));
  std::size_t count = room.size();
  ASSERT_EQ(cu().graph_get_nodes(graph, room.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(room, (std::vector<CUgraphNode>{all[0], all[1], all[2], nullptr, nullptr}));
  count = 2;
  ASSERT_EQ(cu().graph_get_nodes(graph, room.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2U);
  count = 0;
  EXPECT_EQ(cu().graph_get_nodes(graph, room.data(), &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_get_nodes(graph, room.data(), nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_get_nodes(nullptr, room.data(), &count), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRules, R9_4_DependenciesAreCountedThenFilledThenNulled) {
  const std::vector<CUgraphNode> all = nodes(chain(2));
  CUgraphNode room[2]{all[1], all[1]};
  CUgraphEdgeData data[2]{};
  data[1].type = 7;
  std::size_t count = 0;
  ASSERT_EQ(cu().graph_node_get_dependencies(all[1], nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1U);
  count = 2;
  ASSERT_EQ(cu().graph_node_get_dependencies(all[1], room, data, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(room[0], all[0]);
  EXPECT_EQ(room[1], nullptr);
  EXPECT_EQ(data[1].type, 7) << "spare edges stay";
}

TEST_F(GraphRules, R9_4_DependenciesChecksItsArguments) {
  const std::vector<CUgraphNode> all = nodes(chain(2));
  CUgraphNode room[1]{};
  CUgraphEdgeData data[1]{};
  std::size_t count = 1;
  EXPECT_EQ(cu().graph_node_get_dependencies(nullptr, room, data, &count),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_node_get_dependencies(all[1], room, data, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  count = 0;
  EXPECT_EQ(cu().graph_node_get_dependencies(all[1], room, data, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_node_get_dependencies(all[1], nullptr, data, &count),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRules, R9_3_EdgeDataThatCannotBeToldIsALossyQuery) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  ASSERT_EQ(launch_programmatic(first()), CUDA_SUCCESS);
  const CUgraphNode last = nodes(end(first())).at(1);
  CUgraphNode room[4];
  std::size_t count = 0;
  EXPECT_EQ(cu().graph_node_get_dependencies(last, nullptr, nullptr, &count), CUDA_SUCCESS);
  count = 4;
  EXPECT_EQ(cu().graph_node_get_dependencies(last, room, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
}

TEST_F(Facts, NodesComeInCreationOrderForksIncluded) {
  begin(first());
  std::vector<CUgraphNode> made;
  const auto note = [&](CUstream on) {
    ASSERT_EQ(launch(on), CUDA_SUCCESS);
    made.push_back(info(on).nodes.at(0));
  };
  note(first());
  depend(first(), second(), events_[0]);
  note(second());
  note(first());
  note(second());
  depend(second(), first(), events_[1]);
  note(first());
  EXPECT_EQ(nodes(end(first())), made);
}

TEST_F(GraphRules, AddedNodesHaveTheGivenDependencies) {
  const CUgraph graph = empty_graph();
  const CUgraphNode first_node = add_empty(graph);
  const CUgraphNode second_node = add_empty(graph, {first_node});
  EXPECT_EQ(type(second_node), CU_GRAPH_NODE_TYPE_EMPTY);
  EXPECT_EQ(dependencies(second_node).nodes, std::vector{first_node});
}

TEST_F(GraphRules, R9_3_AddChecksItsDependencies) {
  const CUgraph graph = empty_graph();
  const CUgraphNode node = add_empty(graph);
  const CUgraphNode foreign = add_empty(empty_graph());
  const CUgraphNode twice[]{node, node};
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_empty_node(&made, graph, twice, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_empty_node(&made, graph, &foreign, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_empty_node(&made, graph, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_empty_node(nullptr, graph, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_empty_node(&made, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(nodes(graph).size(), 1U);
}

TEST_F(GraphRules, AnAddedKernelRuns) {
  const CUgraph graph = empty_graph();
  const CUgraphNode after = add_empty(graph);
  const add_parameters added(add_, address(0), 6);
  CUgraphNode made = nullptr;
  ASSERT_EQ(cu().graph_add_kernel_node(&made, graph, &after, 1, &added.all), CUDA_SUCCESS);
  EXPECT_EQ(dependencies(made).nodes, std::vector{after});
  EXPECT_EQ(added_by(made), 6U) << "the arguments are copied during the call";
  EXPECT_EQ(run(instantiate(graph)), 6U);
}

TEST_F(GraphRules, AddingAKernelChecksTheLaunch) {
  const CUgraph graph = empty_graph();
  add_parameters added(add_, address(0), 6);
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_kernel_node(&made, graph, nullptr, 0, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  added.all.gridDimX = 0;
  EXPECT_EQ(cu().graph_add_kernel_node(&made, graph, nullptr, 0, &added.all),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(nodes(graph).empty());
}

TEST_F(GraphRules, ACloneIsIndependent) {
  const CUgraph graph = chain(2);
  const CUgraph copy = clone(graph);
  const add_parameters changed(add_, address(0), 50);
  ASSERT_EQ(cu().graph_kernel_node_set_params(nodes(copy).at(0), &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(added_by(nodes(graph).at(0)), 1U);
  destroy(graph);
  EXPECT_EQ(run(instantiate(copy)), 52U);
}

TEST_F(Facts, TheClonesNodesComeInTheOriginalsOrder) {
  const CUgraph graph = chain(4);
  CUgraph copy = nullptr;
  ASSERT_EQ(cu().graph_clone(&copy, graph), CUDA_SUCCESS);
  keep(copy);
  const std::vector<CUgraphNode> originals = nodes(graph);
  const std::vector<CUgraphNode> copies = nodes(copy);
  for (std::size_t i = 0; i < originals.size(); ++i) {
    CUgraphNode found = nullptr;
    EXPECT_EQ(cu().graph_node_find_in_clone(&found, originals[i], copy), CUDA_SUCCESS);
    EXPECT_EQ(found, copies.at(i));
  }
  EXPECT_EQ(dependencies(copies[1]).nodes, std::vector{copies[0]});
}

TEST_F(GraphRules, R9_4_OnlyNodesOfTheOriginalAreFoundInAClone) {
  const CUgraph graph = chain(1);
  const CUgraph copy = clone(graph);
  const CUgraph of_copy = clone(copy);
  CUgraphNode found = nullptr;
  EXPECT_EQ(find(nodes(chain(1)).at(0), copy, found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(find(nodes(copy).at(0), copy, found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(find(nodes(graph).at(0), graph, found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(find(nodes(graph).at(0), of_copy, found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(find(nodes(copy).at(0), of_copy, found), CUDA_SUCCESS);
  EXPECT_EQ(found, nodes(of_copy).at(0));
}

TEST_F(GraphRules, CloneChecksItsArguments) {
  CUgraph made = nullptr;
  EXPECT_EQ(cu().graph_clone(nullptr, chain(1)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_clone(&made, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRules, LocalIdsTellTheNodesOfAGraphApart) {
  if (!cu().graph_node_get_local_id) GTEST_SKIP() << "the driver is older than 13.1";
  const std::vector<CUgraphNode> all = nodes(chain(2));
  unsigned ids[2]{};
  ASSERT_EQ(cu().graph_node_get_local_id(all[0], &ids[0]), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_node_get_local_id(all[1], &ids[1]), CUDA_SUCCESS);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(cu().graph_node_get_local_id(all[0], nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRules, TheSimulatorRefusesStaleNodes) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUgraph graph = chain(1);
  const CUgraphNode node = nodes(graph).at(0);
  destroy(graph);
  CUgraphNodeType found{};
  EXPECT_EQ(cu().graph_node_get_type(node, &found), CUDA_ERROR_INVALID_VALUE);
}

// Choice get_nodes_order.
TEST_F(GraphRules, TheOrderOfNodesIsAChoice) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUgraph graph = chain(3);
  std::vector<CUgraphNode> reversed = nodes(graph);
  std::ranges::reverse(reversed);
  control().set(choice::get_nodes_order, 1);
  const std::vector<CUgraphNode> found = nodes(graph);
  control().set(choice::get_nodes_order, 0);
  EXPECT_EQ(found, reversed);
}

}  // namespace
}  // namespace cugraft_sim
