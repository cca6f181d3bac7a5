// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

class CaptureRules : public GraphTest {};

TEST_F(CaptureRules, R2_1_CapturedWorkDoesNotRun) {
  const CUgraph graph = chain(2);
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 0U);
  EXPECT_EQ(nodes(graph).size(), 2U);
}

TEST_F(CaptureRules, R2_1_StatusFollowsTheCapture) {
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
  begin(first());
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(cu().stream_query(first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(CaptureRules, R2_1_BeginOnTheLegacyStreamIsUnsupported) {
  const auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(cu().stream_begin_capture(nullptr, mode), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu().stream_begin_capture(CU_STREAM_LEGACY, mode),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(CaptureRules, R2_1_BeginTwiceIsIllegalAndDoesNoHarm) {
  begin(first());
  EXPECT_EQ(cu().stream_begin_capture(first(), CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_ILLEGAL_STATE);
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(first())).size(), 1U);
}

TEST_F(CaptureRules, R2_1_BeginOnAnInvalidatedStreamIsIllegal) {
  begin(first());
  cu().stream_query(first());
  EXPECT_EQ(cu().stream_begin_capture(first(), CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_ILLEGAL_STATE);
}

TEST_F(CaptureRules, R2_1_UnknownModeIsInvalid) {
  EXPECT_EQ(cu().stream_begin_capture(first(), static_cast<CUstreamCaptureMode>(3)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(CaptureRules, R2_1_AStreamOfTheThreadCanCapture) {
  begin(CU_STREAM_PER_THREAD);
  ASSERT_EQ(launch(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(CU_STREAM_PER_THREAD)).size(), 1U);
}

TEST_F(CaptureRules, R2_1_EndWithoutBeginIsIllegal) {
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(failing_end(nullptr), CUDA_ERROR_ILLEGAL_STATE);
}

TEST_F(CaptureRules, R2_1_AnEmptyCaptureGivesAnEmptyGraph) {
  EXPECT_TRUE(nodes(capture([] {})).empty());
}

TEST_F(CaptureRules, R2_1_IdsAreNeverUsedTwice) {
  begin(first());
  const auto id = info(first()).id;
  end(first());
  begin(first());
  EXPECT_NE(info(first()).id, id);
  end(first());
}

TEST_F(CaptureRules, R2_1_EndOnAnotherThreadIsWrongUnlessRelaxed) {
  begin(first(), CU_STREAM_CAPTURE_MODE_RELAXED);
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  CUgraph made = nullptr;
  on_another_thread([&] { EXPECT_EQ(cu().stream_end_capture(first(), &made), CUDA_SUCCESS); });
  EXPECT_EQ(nodes(keep(made)).size(), 1U);
}

TEST_F(Facts, R2_4_AnEndOnTheWrongThreadEndsTheCapture) {
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
    begin(first(), mode);
    ASSERT_EQ(launch(first()), CUDA_SUCCESS);
    on_another_thread(
        [&] { EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD); });
    EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_EQ(failing_end(first()), CUDA_ERROR_ILLEGAL_STATE);
  }
}

TEST_F(Facts, AnInvalidatedCaptureEndsOnAnyThread) {
  begin(first());
  cu().stream_query(first());
  on_another_thread(
      [&] { EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED); });
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Facts, WorkMayComeFromAnyThread) {
  begin(first());
  on_another_thread([&] {
    ASSERT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
  });
  EXPECT_EQ(nodes(end(first())).size(), 1U);
}

TEST_F(CaptureRules, R2_4_EndOnAForkIsUnmatched) {
  begin(first());
  depend(first(), second(), events_[0]);
  EXPECT_EQ(failing_end(second()), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
}

TEST_F(Facts, AnUnmatchedEndInvalidatesTheCapture) {
  begin(first());
  depend(first(), second(), events_[0]);
  cu().stream_end_capture(second(), nullptr);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(CaptureRules, R2_4_UseOfAnInvalidatedStreamIsInvalidated) {
  begin(first());
  cu().stream_query(first());
  EXPECT_EQ(launch(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(fill(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cu().event_record(events_[0], first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Facts, R2_5_AnInvalidatedStreamIsUsableAfterItsEnd) {
  begin(first());
  ASSERT_EQ(launch(first(), 5), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 1U) << "nothing of the lost capture may run";
}

TEST_F(CaptureRules, R2_1_CaptureToGraphAddsToIt) {
  const CUgraph graph = chain(1);
  const std::vector<CUgraphNode> before = nodes(graph);
  ASSERT_EQ(cu().stream_begin_capture_to_graph(first(), graph, before.data(), nullptr, 1,
                                               CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  CUgraph made = nullptr;
  ASSERT_EQ(cu().stream_end_capture(first(), &made), CUDA_SUCCESS);
  EXPECT_EQ(made, graph);
  const std::vector<CUgraphNode> after = nodes(graph);
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(dependencies(after[1]).nodes, before);
}

TEST_F(CaptureRules, R2_1_CaptureToGraphChecksItsArguments) {
  const auto begin_to = [&](CUgraph graph, const CUgraphNode* nodes, std::size_t count) {
    return cu().stream_begin_capture_to_graph(first(), graph, nodes, nullptr, count,
                                              CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  };
  const CUgraph graph = chain(1);
  const std::vector<CUgraphNode> foreign = nodes(chain(1));
  EXPECT_EQ(begin_to(nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(begin_to(graph, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(begin_to(graph, foreign.data(), 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Facts, TwoCapturesIntoOneGraphAreIllegal) {
  begin(first());
  EXPECT_EQ(cu().stream_begin_capture_to_graph(second(), info(first()).graph, nullptr, nullptr, 0,
                                               CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_NONE);
  end(first());
}

TEST_F(Facts, AFailedCaptureToGraphDestroysTheGraph) {
  const auto destroyed_by = [&](const std::function<void()>& failing) {
    const CUgraph graph = chain(1);
    ASSERT_EQ(cu().stream_begin_capture_to_graph(first(), graph, nullptr, nullptr, 0,
                                                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
              CUDA_SUCCESS);
    ASSERT_EQ(launch(first()), CUDA_SUCCESS);
    failing();
    std::size_t count = 0;
    EXPECT_EQ(cu().graph_get_nodes(graph, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cu().graph_destroy(graph), CUDA_ERROR_INVALID_VALUE);
    forget(graph);
  };
  destroyed_by([&] {
    cu().stream_query(first());
    EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  });
  destroyed_by([&] {
    depend(first(), second(), events_[0]);
    EXPECT_EQ(launch(second()), CUDA_SUCCESS);
    EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  });
  destroyed_by([&] {
    on_another_thread(
        [&] { EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD); });
  });
}

TEST_F(Facts, TheGraphOfAnOpenCaptureCannotBeDestroyed) {
  begin(first());
  ASSERT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_destroy(info(first()).graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(nodes(end(first())).size(), 1U);
}

TEST_F(Facts, TheGraphOfAnOpenCaptureCanBeReadSetClonedAndInstantiated) {
  begin(first(), CU_STREAM_CAPTURE_MODE_RELAXED);
  ASSERT_EQ(launch(first(), 3), CUDA_SUCCESS);
  const CUgraph open = info(first()).graph;
  const CUgraphNode node = nodes(open).at(0);
  EXPECT_EQ(added_by(node), 3U);
  const add_parameters changed(add_, address(0), 4);
  EXPECT_EQ(cu().graph_kernel_node_set_params(node, &changed.all), CUDA_SUCCESS);
  CUgraph clone = nullptr;
  EXPECT_EQ(cu().graph_clone(&clone, open), CUDA_SUCCESS);
  keep(clone);
  const CUgraphExec exec = instantiate(open);
  end(first());
  EXPECT_EQ(run(exec), 4U);
}

TEST_F(Facts, ACapturedStreamMayBeDestroyed) {
  const CUstream fork = make_stream();
  begin(first());
  depend(first(), fork, events_[0]);
  EXPECT_EQ(cu().stream_destroy(fork), CUDA_SUCCESS);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  end(first());

  const CUstream origin = make_stream();
  begin(origin);
  ASSERT_EQ(launch(origin), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(origin), CUDA_SUCCESS);
  CUdeviceptr probe = 0;
  EXPECT_EQ(cu().mem_alloc(&probe, 4), CUDA_SUCCESS) << "the capture is over";
  EXPECT_EQ(cu().mem_free(probe), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
