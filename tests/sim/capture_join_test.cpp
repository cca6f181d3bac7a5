// SPDX-License-Identifier: Apache-2.0
#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

class JoinRules : public GraphTest {};

TEST_F(JoinRules, R2_2_EachNodeDependsOnTheOneBefore) {
  const std::vector<CUgraphNode> made = nodes(chain(3));
  ASSERT_EQ(made.size(), 3U);
  EXPECT_TRUE(dependencies(made[0]).nodes.empty());
  EXPECT_EQ(dependencies(made[1]).nodes, std::vector{made[0]});
  EXPECT_EQ(dependencies(made[2]).nodes, std::vector{made[1]});
}

TEST_F(JoinRules, R2_2_NodesHaveTheKindOfTheirCall) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().memcpy_async(address(1), address(2), 4, first()), CUDA_SUCCESS);
    EXPECT_EQ(fill(first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().launch_host_func(
                  first(), [](void*) {}, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record_with_flags(events_[0], first(), CU_EVENT_RECORD_EXTERNAL),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[0], CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
  });
  std::vector<int> types;
  for (const CUgraphNode node : nodes(graph)) types.push_back(type(node));
  EXPECT_EQ(types,
            (std::vector<int>{CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY,
                              CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_HOST,
                              CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT}));
}

TEST_F(JoinRules, R2_2_ForkAndJoinMakeEdgesAndNoNodes) {
  begin(first());
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  depend(first(), second(), events_[0]);
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(info(second()).id, info(first()).id);
  ASSERT_EQ(launch(second(), 2), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 3), CUDA_SUCCESS);
  depend(second(), first(), events_[1]);
  ASSERT_EQ(launch(first(), 4), CUDA_SUCCESS);
  const std::vector<CUgraphNode> made = nodes(end(first()));
  ASSERT_EQ(made.size(), 4U);
  EXPECT_EQ(dependencies(made[1]).nodes, std::vector{made[0]});
  EXPECT_EQ(dependencies(made[2]).nodes, std::vector{made[0]});
  EXPECT_EQ(dependencies(made[3]).nodes, (std::vector{made[2], made[1]}));
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Facts, DependenciesComeInTheOrderOfTheWaits) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  for (const CUstream fork : {second(), third()}) {
    depend(first(), fork, events_[0]);
    ASSERT_EQ(launch(fork), CUDA_SUCCESS);
  }
  depend(third(), first(), events_[1]);
  depend(second(), first(), events_[2]);
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  const std::vector<CUgraphNode> made = nodes(end(first()));
  EXPECT_EQ(dependencies(made.at(3)).nodes, (std::vector{made[0], made[2], made[1]}))
      << "the own last node first, redundant edges kept";
}

TEST_F(JoinRules, R2_4_UnjoinedWorkEnds904) {
  begin(first());
  depend(first(), second(), events_[0]);
  ASSERT_EQ(launch(second()), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(JoinRules, R2_2_WorkAfterTheJoinIsUnjoined) {
  begin(first());
  depend(first(), second(), events_[0]);
  ASSERT_EQ(launch(second()), CUDA_SUCCESS);
  depend(second(), first(), events_[1]);
  ASSERT_EQ(launch(second()), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST_F(Facts, AForkWithoutWorkNeedsNoJoin) {
  begin(first());
  depend(first(), second(), events_[0]);
  EXPECT_TRUE(nodes(end(first())).empty());
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Facts, JoiningThroughAThirdStreamIsJoining) {
  begin(first());
  depend(first(), second(), events_[0]);
  ASSERT_EQ(launch(second()), CUDA_SUCCESS);
  depend(second(), third(), events_[1]);
  ASSERT_EQ(launch(third()), CUDA_SUCCESS);
  depend(third(), first(), events_[2]);
  EXPECT_EQ(nodes(end(first())).size(), 2U);
}

TEST_F(JoinRules, R2_2_NodesTakenOutOfTheSetNeedNoJoin) {
  begin(first());
  depend(first(), second(), events_[0]);
  ASSERT_EQ(launch(second()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_update_capture_dependencies(second(), nullptr, nullptr, 0,
                                                    CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(first())).size(), 1U);
}

TEST_F(Facts, TheOriginMayDropWhatItJoined) {
  begin(first());
  depend(first(), second(), events_[0]);
  ASSERT_EQ(launch(second()), CUDA_SUCCESS);
  depend(second(), first(), events_[1]);
  EXPECT_EQ(cu().stream_update_capture_dependencies(first(), nullptr, nullptr, 0,
                                                    CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(first())).size(), 1U);
}

// What holds a capture open so that foreign work shows: an empty node in each stream's set.
TEST_F(Facts, AMarkerShowsAWaitAndNeedsNoJoin) {
  begin(first());
  depend(first(), second(), events_[0]);
  for (const CUstream each : {first(), second()}) {
    CUgraphNode marker = nullptr;
    ASSERT_EQ(cu().graph_add_empty_node(&marker, info(first()).graph, nullptr, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu().stream_update_capture_dependencies(each, &marker, nullptr, 1,
                                                      CU_STREAM_SET_CAPTURE_DEPENDENCIES),
              CUDA_SUCCESS);
  }
  EXPECT_EQ(info(second()).nodes.size(), 1U);
  depend(first(), second(), events_[1]);
  EXPECT_EQ(info(second()).nodes.size(), 2U);
  EXPECT_EQ(nodes(end(first())).size(), 2U);
}

TEST_F(Facts, WorkAfterAMarkerNeedsAJoin) {
  begin(first());
  depend(first(), second(), events_[0]);
  CUgraphNode marker = nullptr;
  ASSERT_EQ(cu().graph_add_empty_node(&marker, info(first()).graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_update_capture_dependencies(second(), &marker, nullptr, 1,
                                                    CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  ASSERT_EQ(launch(second()), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST_F(JoinRules, R2_4_AWaitBetweenTwoCapturesMergesThem) {
  begin(first());
  begin(second());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(second(), events_[0], 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(failing_end(second()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(JoinRules, R2_4_AWaitForWorkOutsideIsIsolation) {
  ASSERT_EQ(cu().event_record(events_[0], second()), CUDA_SUCCESS);
  begin(first());
  EXPECT_EQ(cu().stream_wait_event(first(), events_[0], 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Facts, AWaitForAnEventThatWasNeverRecordedIsNothing) {
  begin(first());
  EXPECT_EQ(cu().stream_wait_event(first(), events_[0], 0), CUDA_SUCCESS);
  EXPECT_TRUE(nodes(end(first())).empty());
}

TEST_F(JoinRules, R2_4_AnIdleStreamCannotWaitForAnInvalidatedCapture) {
  begin(first());
  ASSERT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
  cu().stream_query(first());
  EXPECT_EQ(cu().stream_wait_event(second(), events_[0], 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Facts, AnEventOfAnEndedCaptureIsInvalidUntilItIsRecordedAgain) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
  end(first());
  EXPECT_EQ(cu().event_query(events_[0]), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().event_synchronize(events_[0]), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().stream_wait_event(second(), events_[0], 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cu().event_record(events_[0], second()), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_synchronize(events_[0]), CUDA_SUCCESS);
}

TEST_F(Facts, AWaitForAnEndedCaptureEndsTheNextOne) {
  begin(first());
  ASSERT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
  end(first());
  begin(second());
  EXPECT_EQ(cu().stream_wait_event(second(), events_[0], 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failing_end(second()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(JoinRules, R2_2_ExternalEventFlagsAreForCaptures) {
  EXPECT_EQ(cu().event_record_with_flags(events_[0], first(), CU_EVENT_RECORD_EXTERNAL),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cu().stream_wait_event(first(), events_[0], CU_EVENT_WAIT_EXTERNAL),
            CUDA_ERROR_ILLEGAL_STATE);
}

TEST_F(JoinRules, R2_2_AnExternalRecordIsMadeByEachLaunch) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(launch(first(), 7), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record_with_flags(events_[0], first(), CU_EVENT_RECORD_EXTERNAL),
              CUDA_SUCCESS);
  });
  EXPECT_EQ(cu().event_query(events_[0]), CUDA_SUCCESS) << "the capture records nothing";
  const CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().event_synchronize(events_[0]), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 7U);
}

TEST_F(Facts, R2_2_AProgrammaticLaunchGivesATypedEdge) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  ASSERT_EQ(launch_programmatic(first()), CUDA_SUCCESS);
  const std::vector<CUgraphNode> made = nodes(end(first()));
  const edge_list found = dependencies(made.at(1));
  ASSERT_EQ(found.data.size(), 1U);
  EXPECT_EQ(found.data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
  EXPECT_EQ(found.data[0].from_port, 1);
  EXPECT_EQ(found.data[0].to_port, 0);
}

TEST_F(Facts, ProgrammaticSerialisationIsOfAllKernelsWaitedForAndOfNothingElse) {
  begin(first());
  depend(first(), second(), events_[0]);
  ASSERT_EQ(fill(first(), 1, 8), CUDA_SUCCESS);
  ASSERT_EQ(launch(second(), 1, 9), CUDA_SUCCESS);
  depend(second(), first(), events_[1]);
  ASSERT_EQ(launch_programmatic(first()), CUDA_SUCCESS);
  const std::vector<CUgraphNode> made = nodes(end(first()));
  const edge_list found = dependencies(made.at(2));
  EXPECT_EQ(found.nodes, (std::vector{made[0], made[1]}));
  EXPECT_EQ(found.data.at(0).type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  EXPECT_EQ(found.data.at(1).type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
}

}  // namespace
}  // namespace cugraft_sim
