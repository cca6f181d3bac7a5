// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "sim/recapture_fixture.hpp"

namespace cugraft_sim {
namespace {

class RecaptureRules : public RecaptureTest {};

TEST_F(RecaptureRules, R1_AllRulesOfBeginHold) {
  const CUgraph graph = chain(1);
  const auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(begin_recapture(nullptr, graph), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(begin_recapture(first(), nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(begin_recapture(first(), graph, static_cast<CUstreamCaptureMode>(7)),
            CUDA_ERROR_INVALID_VALUE);
  begin(first());
  EXPECT_EQ(begin_recapture(first(), graph, relaxed), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(begin_recapture(second(), info(first()).graph), CUDA_ERROR_ILLEGAL_STATE);
  end(first());
  EXPECT_EQ(nodes(graph).size(), 1U) << "the graph is as it was";
}

TEST_F(RecaptureRules, R1_TheModeHoldsForTheEnd) {
  const CUgraph graph = chain(1);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  on_another_thread(
      [&] { EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD); });
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
  expect_lost(graph);
}

TEST_F(RecaptureRules, R5_NoCallWhereNothingChanged) {
  const CUgraph graph = chain(3);
  const std::vector<CUgraphNode> before = nodes(graph);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  for (unsigned i = 1; i <= 3; ++i) ASSERT_EQ(launch(first(), i), CUDA_SUCCESS);
  EXPECT_EQ(end_recapture(first()), graph) << "the same handle";
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(nodes(graph), before);
  EXPECT_EQ(run(instantiate(graph)), 6U);
}

TEST_F(RecaptureRules, R5_EachChangeIsToldWithBothParameters) {
  const CUgraph graph = chain(3);
  const std::vector<CUgraphNode> before = nodes(graph);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 20), CUDA_SUCCESS);
  ASSERT_EQ(calls_.size(), 1U) << "at the call that enqueues";
  ASSERT_EQ(launch(first(), 30), CUDA_SUCCESS);
  end_recapture(first());
  ASSERT_EQ(calls_.size(), 2U);
  EXPECT_EQ(calls_[0], (recapture_call{before[1], 2, 20, eligible}));
  EXPECT_EQ(calls_[1], (recapture_call{before[2], 3, 30, eligible}));
  EXPECT_EQ(nodes(graph), before) << "the nodes keep their handles";
  EXPECT_EQ(added_by(before[1]), 20U);
  EXPECT_EQ(run(instantiate(graph)), 51U);
}

TEST_F(RecaptureRules, R5_ExecutablesAreLeftAlone) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  recapture(graph, [&] { EXPECT_EQ(launch(first(), 9), CUDA_SUCCESS); });
  EXPECT_EQ(run(exec), 1U);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cu().graph_exec_update(exec, graph, &info), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 9U);
}

TEST_F(RecaptureRules, R5_AGraphCanBeRecapturedAgainAndAgain) {
  const CUgraph graph = chain(1);
  for (const unsigned value : {5U, 5U, 6U})
    recapture(graph, [&] { EXPECT_EQ(launch(first(), value), CUDA_SUCCESS); });
  EXPECT_EQ(calls_.size(), 2U);
  EXPECT_EQ(run(instantiate(graph)), 6U);
}

TEST_F(RecaptureRules, R2_TheOrderIsThatOfCreationOverAllStreams) {
  const auto fork = [&](bool other_first) {
    depend(first(), second(), events_[0]);
    if (!other_first) launch(first(), 1);
    fill(second(), 7, 1);
    CUresult last = CUDA_SUCCESS;
    if (other_first) last = launch(first(), 1);
    depend(second(), first(), events_[1]);
    return last;
  };
  const CUgraph graph = capture([&] { fork(false); });
  recapture(graph, [&] { fork(false); });
  EXPECT_TRUE(calls_.empty());
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  depend(first(), second(), events_[0]);
  EXPECT_EQ(fill(second(), 7, 1), graph_recapture_failure) << "a whole-graph update takes it";
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_lost(graph);
}

TEST_F(RecaptureRules, R3_AnotherKindFailsAtOnce) {
  const CUgraph graph = chain(2);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  EXPECT_EQ(fill(first()), graph_recapture_failure);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(launch(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_lost(graph);
}

TEST_F(RecaptureRules, R3_OneNodeMoreFailsAtOnce) {
  const CUgraph graph = chain(1);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(first(), 2), graph_recapture_failure);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_lost(graph);
}

TEST_F(RecaptureRules, R3_OneNodeLessFailsAtTheEnd) {
  const CUgraph graph = chain(2);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), graph_recapture_failure);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
  expect_lost(graph);
}

TEST_F(RecaptureRules, R3_OtherDependenciesFailAtOnce) {
  const CUgraph graph = capture([&] {
    depend(first(), second(), events_[0]);
    launch(first(), 1);
    launch(second(), 2);
    depend(second(), first(), events_[1]);
  });
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(first(), 2), graph_recapture_failure) << "the second depends on the first now";
}

TEST_F(RecaptureRules, R3_TheOrderOfTheWaitsDoesNotCount) {
  const auto body = [&](bool swapped) {
    depend(first(), second(), events_[0]);
    depend(first(), third(), events_[0]);
    launch(second(), 1);
    launch(third(), 2, 1);
    EXPECT_EQ(cu().event_record(events_[1], second()), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record(events_[2], third()), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[swapped ? 2 : 1], 0), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[swapped ? 1 : 2], 0), CUDA_SUCCESS);
    EXPECT_EQ(launch(first(), 3), CUDA_SUCCESS);
  };
  const CUgraph graph = capture([&] { body(false); });
  recapture(graph, [&] { body(true); });
  EXPECT_TRUE(calls_.empty());
}

TEST_F(RecaptureRules, R3_AnotherKindOfEdgeFailsAtOnce) {
  const CUgraph graph = chain(2);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  EXPECT_EQ(launch_programmatic(first()), graph_recapture_failure);
}

TEST_F(RecaptureRules, R6_ARefusalOfTheCallbackFails) {
  const CUgraph graph = chain(2);
  answer_ = CUDA_ERROR_UNKNOWN;
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  EXPECT_EQ(launch(first(), 9), graph_recapture_failure);
  EXPECT_EQ(calls_.size(), 1U);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_lost(graph);
}

TEST_F(RecaptureRules, R7_WhatNoSetterTakesIsIneligibleAndApplied) {
  const CUgraph graph = capture([&] { launch(first()); });
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  recapture(graph, [&] { EXPECT_EQ(launch_with(first(), &cooperative, 1, 3), CUDA_SUCCESS); });
  ASSERT_EQ(calls_.size(), 1U);
  EXPECT_EQ(calls_[0].status, ineligible);
  EXPECT_EQ(added_by(nodes(graph).at(0)), 3U);
}

TEST_F(RecaptureRules, R7_ACopyThatChangesItsShapeIsIneligible) {
  const auto copy = [&] {
    EXPECT_EQ(cu().memcpy_async(address(64), address(0), 16, first()), CUDA_SUCCESS);
  };
  const CUgraph graph = capture(copy);
  CUDA_MEMCPY3D rows{};
  ASSERT_EQ(cu().graph_memcpy_node_get_params(nodes(graph).at(0), &rows), CUDA_SUCCESS);
  rows.Height = 2;
  rows.srcPitch = rows.dstPitch = 64;
  ASSERT_EQ(cu().graph_memcpy_node_set_params(nodes(graph).at(0), &rows), CUDA_SUCCESS);
  recapture(graph, copy);
  ASSERT_EQ(calls_.size(), 1U);
  EXPECT_EQ(calls_[0].status, ineligible);
}

TEST_F(RecaptureRules, R7_EveryKindOfNodeIsCompared) {
  unsigned counter = 0;
  const auto body = [&](unsigned value, CUevent event) {
    EXPECT_EQ(cu().memcpy_async(address(1), address(2), value, first()), CUDA_SUCCESS);
    EXPECT_EQ(fill(first(), value), CUDA_SUCCESS);
    EXPECT_EQ(cu().launch_host_func(
                  first(), [](void*) {}, &counter + value),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record_with_flags(event, first(), CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), event, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
  };
  const CUgraph graph = capture([&] { body(1, events_[0]); });
  recapture(graph, [&] { body(2, events_[1]); });
  ASSERT_EQ(calls_.size(), 5U) << "the host functions are two places in the source";
  for (const recapture_call& call : calls_) EXPECT_EQ(call.status, eligible);
  CUDA_MEMSET_NODE_PARAMS found{};
  ASSERT_EQ(cu().graph_memset_node_get_params(nodes(graph).at(1), &found), CUDA_SUCCESS);
  EXPECT_EQ(found.value, 2U);
}

TEST_F(RecaptureRules, R8_TheParametersDieWithTheCall) {
  const CUgraph graph = chain(1);
  recapture(graph, [&] { launch(first(), 2); });
  // Whoever kept the pointers finds what the simulator wrote over them, where it is still mapped.
  EXPECT_EQ(calls_.size(), 1U);
  EXPECT_EQ(added_by(nodes(graph).at(0)), 2U);
}

TEST_F(RecaptureRules, R9_ALostGraphCanOnlyBeDestroyed) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph).at(0);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  EXPECT_EQ(fill(first()), graph_recapture_failure);
  failing_end(first());
  expect_lost(graph);
  CUgraph clone = nullptr;
  EXPECT_EQ(cu().graph_clone(&clone, graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(begin_recapture(first(), graph), CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cu().graph_exec_update(exec, graph, &info), CUDA_ERROR_INVALID_VALUE);
  const add_parameters changed(add_, address(0), 4);
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, node, &changed.all),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(exec), 1U) << "executables live on";
  destroy(graph);
}

TEST_F(RecaptureRules, R9_AnyFailureOfTheCaptureLosesTheGraph) {
  const CUgraph invalidated = chain(1);
  ASSERT_EQ(begin_recapture(first(), invalidated), CUDA_SUCCESS);
  cu().stream_query(first());
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_lost(invalidated);

  const CUgraph unjoined = chain(1);
  ASSERT_EQ(begin_recapture(first(), unjoined), CUDA_SUCCESS);
  depend(first(), second(), events_[0]);
  ASSERT_EQ(launch(second(), 1), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  expect_lost(unjoined);
}

TEST_F(RecaptureRules, R10_UserObjectsAreReleasedAtTheBegin) {
  static std::atomic<int> gone;
  gone = 0;
  const CUgraph graph = chain(1);
  CUuserObject object = nullptr;
  ASSERT_EQ(cu().user_object_create(
                &object, &gone, [](void* of) { ++*static_cast<std::atomic<int>*>(of); }, 1,
                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_retain_user_object(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
            CUDA_SUCCESS);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  control().settle();
  EXPECT_EQ(gone, 1);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  end_recapture(first());
}

TEST_F(RecaptureRules, R10_AnExecutableKeepsItsOwn) {
  static std::atomic<int> gone;
  gone = 0;
  const CUgraph graph = chain(1);
  CUuserObject object = nullptr;
  ASSERT_EQ(cu().user_object_create(
                &object, &gone, [](void* of) { ++*static_cast<std::atomic<int>*>(of); }, 1,
                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_retain_user_object(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
            CUDA_SUCCESS);
  const CUgraphExec exec = instantiate(graph);
  recapture(graph, [&] { launch(first(), 1); });
  control().settle();
  EXPECT_EQ(gone, 0);
  destroy(exec);
  control().settle();
  EXPECT_EQ(gone, 1);
}

TEST_F(RecaptureRules, R11_ANullCallbackIsInvalid) {
  const CUgraph graph = chain(1);
  EXPECT_EQ(cu().stream_begin_recapture_to_graph(first(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                 graph, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(nodes(graph).size(), 1U);
}

TEST_F(RecaptureRules, R14_TwoLikeNodesThatChangedPlacesAreParameterChanges) {
  const CUgraph graph = capture([&] {
    launch(first(), 1);
    launch(first(), 2);
  });
  recapture(graph, [&] {
    launch(first(), 2);
    launch(first(), 1);
  });
  EXPECT_EQ(calls_.size(), 2U);
}

TEST_F(RecaptureRules, ACloneIsRecapturedAsAnyGraph) {
  const CUgraph graph = chain(1);
  CUgraph clone = nullptr;
  ASSERT_EQ(cu().graph_clone(&clone, graph), CUDA_SUCCESS);
  keep(clone);
  recapture(clone, [&] { launch(first(), 7); });
  EXPECT_EQ(added_by(nodes(clone).at(0)), 7U);
  EXPECT_EQ(added_by(nodes(graph).at(0)), 1U);
}

TEST_F(RecaptureRules, AnEmptyGraphIsRecapturedByNothing) {
  recapture(capture([] {}), [] {});
  EXPECT_TRUE(calls_.empty());
}

TEST_F(RecaptureRules, NoNodeIsAddedByHandMeanwhile) {
  const CUgraph graph = chain(1);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_empty_node(&made, graph, nullptr, 0), CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(launch(first(), 1), CUDA_SUCCESS);
  end_recapture(first());
}

TEST_F(RecaptureRules, TheFormOfTheArgumentsDoesNotCount) {
  const CUgraph graph = chain(1);
  struct {
    CUdeviceptr out;
    unsigned value;
  } arguments{address(0), 1};
  std::size_t size = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  recapture(graph, [&] {
    CUlaunchConfig config = one_block(first(), 1);
    EXPECT_EQ(cu().launch_kernel_ex(&config, add_, nullptr, extra), CUDA_SUCCESS);
  });
  EXPECT_TRUE(calls_.empty());
}

TEST_F(RecaptureRules, TheCallbackMayCallTheDriver) {
  const CUgraph graph = chain(1);
  inside_ = [&] { EXPECT_EQ(nodes(graph).size(), 1U); };
  recapture(graph, [&] { launch(first(), 5); });
  EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(RecaptureRules, TheCaptureMayDieInsideTheCallback) {
  const CUgraph graph = chain(1);
  inside_ = [&] { cu().stream_query(first()); };
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  EXPECT_EQ(launch(first(), 5), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_lost(graph);
}

TEST(RecaptureVersions, AnOlderDriverHasNoRecapture) {
  CUGRAFT_NEEDS_SIMULATOR();
  const driver_under_test old = driver_under_test::fresh_simulator(13020);
  EXPECT_EQ(old->stream_begin_recapture_to_graph, nullptr);
  EXPECT_NE(old->graph_node_get_params, nullptr);
}

// A node of another context cannot take a place in the graph: the one case in which the simulator
// tells an error of its own.
TEST(RecaptureContexts, R7_AStatusOfErrorEndsTheRecaptureWhateverTheCallbackSays) {
  CUGRAFT_NEEDS_SIMULATOR();
  const driver_under_test cu = driver_under_test::fresh_simulator();
  cu.control().set_device_count(2);
  ASSERT_EQ(cu->init(0), CUDA_SUCCESS);
  CUcontext contexts[2]{};
  CUstream streams[2]{};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cu->device_primary_ctx_retain(&contexts[i], i), CUDA_SUCCESS);
    ASSERT_EQ(cu->ctx_set_current(contexts[i]), CUDA_SUCCESS);
    ASSERT_EQ(cu->stream_create_with_priority(&streams[i], CU_STREAM_NON_BLOCKING, 0),
              CUDA_SUCCESS);
  }
  const auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  const auto nothing = [](void*) {};
  CUgraph graph = nullptr;
  ASSERT_EQ(cu->stream_begin_capture(streams[0], relaxed), CUDA_SUCCESS);
  ASSERT_EQ(cu->launch_host_func(streams[0], nothing, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cu->stream_end_capture(streams[0], &graph), CUDA_SUCCESS);

  int seen = -1;
  const auto callback = [](void* data, CUgraphNode, const CUgraphNodeParams*,
                           const CUgraphNodeParams*,
                           ::cugraft::newer::graph_recapture_status status) {
    *static_cast<int*>(data) = static_cast<int>(status);
    return CUDA_SUCCESS;
  };
  ASSERT_EQ(cu->stream_begin_recapture_to_graph(streams[1], relaxed, graph, callback, &seen),
            CUDA_SUCCESS);
  EXPECT_EQ(cu->launch_host_func(streams[1], nothing, nullptr), graph_recapture_failure);
  EXPECT_EQ(seen, static_cast<int>(error));
  CUgraph made = nullptr;
  EXPECT_EQ(cu->stream_end_capture(streams[1], &made), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cu->graph_destroy(graph), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
