// SPDX-License-Identifier: Apache-2.0
#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned add = CU_STREAM_ADD_CAPTURE_DEPENDENCIES;
constexpr unsigned set = CU_STREAM_SET_CAPTURE_DEPENDENCIES;

class InfoRules : public GraphTest {
 protected:
  CUresult update(CUstream of, std::vector<CUgraphNode> nodes, unsigned flags,
                  const CUgraphEdgeData* edges = nullptr) {
    return cu().stream_update_capture_dependencies(of, nodes.data(), edges, nodes.size(), flags);
  }

  static CUgraphEdgeData programmatic() {
    CUgraphEdgeData data{};
    data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    data.from_port = 1;
    return data;
  }
};

TEST_F(InfoRules, R2_2_TellsGraphAndDependencies) {
  begin(first());
  EXPECT_TRUE(info(first()).nodes.empty());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const capture_info found = info(first());
  EXPECT_EQ(found.status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(found.nodes, nodes(found.graph));
  EXPECT_EQ(end(first()), found.graph);
}

TEST_F(InfoRules, R2_2_TellsOnlyTheStatusWhereNothingIsCaptured) {
  auto found = static_cast<CUstreamCaptureStatus>(9);
  cuuint64_t id = 77;
  EXPECT_EQ(cu().stream_get_capture_info(first(), &found, &id, nullptr, nullptr, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(found, CU_STREAM_CAPTURE_STATUS_NONE);
  begin(first());
  cu().stream_query(first());
  EXPECT_EQ(cu().stream_get_capture_info(first(), &found, &id, nullptr, nullptr, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(found, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(id, 77U);
}

TEST_F(InfoRules, R2_2_TheStatusIsRequiredAndEdgesNeedNodes) {
  begin(first());
  cuuint64_t id = 0;
  EXPECT_EQ(cu().stream_get_capture_info(first(), nullptr, &id, nullptr, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  CUstreamCaptureStatus found{};
  const CUgraphEdgeData* edges = nullptr;
  EXPECT_EQ(cu().stream_get_capture_info(first(), &found, &id, nullptr, nullptr, &edges, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  end(first());
}

TEST_F(InfoRules, R2_2_EdgeDataThatCannotBeToldIsALossyQuery) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const CUgraphEdgeData data = programmatic();
  ASSERT_EQ(update(first(), info(first()).nodes, set, &data), CUDA_SUCCESS);
  CUstreamCaptureStatus found{};
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(
      cu().stream_get_capture_info(first(), &found, nullptr, nullptr, &nodes, nullptr, &count),
      CUDA_ERROR_LOSSY_QUERY);
  EXPECT_EQ(
      cu().stream_get_capture_info(first(), &found, nullptr, nullptr, nullptr, nullptr, &count),
      CUDA_SUCCESS);
  EXPECT_EQ(info(first()).edges.at(0).type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
  end(first());
}

TEST_F(InfoRules, R2_2_UpdateAddsOrReplaces) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const CUgraphNode last = info(first()).nodes.at(0);
  CUgraphNode made = nullptr;
  ASSERT_EQ(cu().graph_add_empty_node(&made, info(first()).graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(update(first(), {made}, add), CUDA_SUCCESS);
  EXPECT_EQ(info(first()).nodes, (std::vector{last, made}));
  ASSERT_EQ(update(first(), {made}, add), CUDA_SUCCESS);
  EXPECT_EQ(info(first()).nodes.size(), 2U) << "what is there already is not added again";
  ASSERT_EQ(update(first(), {made}, set), CUDA_SUCCESS);
  EXPECT_EQ(info(first()).nodes, std::vector{made});
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const std::vector<CUgraphNode> all = nodes(end(first()));
  EXPECT_EQ(dependencies(all.at(2)).nodes, std::vector{made});
}

TEST_F(InfoRules, R2_2_UpdateChecksItsArgumentsAndDoesNoHarm) {
  EXPECT_EQ(update(first(), {}, set), CUDA_ERROR_ILLEGAL_STATE);
  const std::vector<CUgraphNode> foreign = nodes(chain(1));
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(update(first(), foreign, add), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(update(first(), {nullptr}, add), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(update(first(), {}, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().stream_update_capture_dependencies(first(), nullptr, nullptr, 1, add),
            CUDA_ERROR_INVALID_VALUE);
  CUgraphEdgeData to_port{};
  to_port.to_port = 1;
  EXPECT_EQ(update(first(), info(first()).nodes, set, &to_port), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(info(first()).nodes.size(), 1U);
  end(first());
}

TEST_F(InfoRules, R2_4_UpdateOfAnInvalidatedCaptureIsInvalidated) {
  begin(first());
  cu().stream_query(first());
  EXPECT_EQ(update(first(), {}, set), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Facts, GivenEdgeDataReachesTheNextNode) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  CUgraphEdgeData data{};
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  data.from_port = 1;
  CUgraphNode last = info(first()).nodes.at(0);
  ASSERT_EQ(cu().stream_update_capture_dependencies(first(), &last, &data, 1, set), CUDA_SUCCESS);
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const std::vector<CUgraphNode> all = nodes(end(first()));
  EXPECT_EQ(dependencies(all.at(1)).data.at(0).type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
}

}  // namespace
}  // namespace cugraft_sim
