// SPDX-License-Identifier: Apache-2.0
#include "sim/recapture_fixture.hpp"

namespace cugraft_sim {
namespace {

/// What the documentation leaves open; the defaults are tested with the rules.
class RecaptureChoices : public RecaptureTest {
 protected:
  CUresult launch_cooperative() {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    return launch_with(first(), &attribute, 1);
  }
};

TEST_F(RecaptureChoices, AFailureMayShowAtTheEndOnly) {
  control().set(choice::recapture_failure_shows, 1);
  const CUgraph graph = chain(2);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  EXPECT_EQ(fill(first()), CUDA_SUCCESS);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  depend(first(), second(), events_[0]);
  EXPECT_EQ(launch(second(), 1), CUDA_SUCCESS);
  depend(second(), first(), events_[1]);
  EXPECT_EQ(failing_end(first()), graph_recapture_failure);
  expect_lost(graph);
}

TEST_F(RecaptureChoices, ARefusalOfTheCallbackMayShowAtTheEndOnly) {
  control().set(choice::recapture_failure_shows, 1);
  answer_ = CUDA_ERROR_UNKNOWN;
  const CUgraph graph = chain(2);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  EXPECT_EQ(launch(first(), 8), CUDA_SUCCESS);
  EXPECT_EQ(launch(first(), 9), CUDA_SUCCESS);
  EXPECT_EQ(calls_.size(), 1U) << "the first refusal ends it";
  EXPECT_EQ(failing_end(first()), graph_recapture_failure);
}

TEST_F(RecaptureChoices, TheParametersMayStay) {
  control().set(choice::recapture_writes_parameters, 1);
  const CUgraph graph = chain(1);
  recapture(graph, [&] { launch(first(), 9); });
  EXPECT_EQ(calls_.size(), 1U);
  EXPECT_EQ(added_by(nodes(graph).at(0)), 1U);
}

TEST_F(RecaptureChoices, TheHandlesMayChange) {
  control().set(choice::recapture_keeps_handles, 1);
  const CUgraph graph = chain(1);
  const CUgraphNode before = nodes(graph).at(0);
  recapture(graph, [&] { launch(first(), 9); });
  EXPECT_NE(nodes(graph).at(0), before);
  CUgraphNodeType found{};
  EXPECT_EQ(cu().graph_node_get_type(before, &found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(added_by(nodes(graph).at(0)), 9U);
}

TEST_F(RecaptureChoices, ExecutablesMayFollow) {
  control().set(choice::recapture_touches_executables, 1);
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  const CUgraphExec other = instantiate(chain(1));
  recapture(graph, [&] { launch(first(), 9); });
  EXPECT_EQ(run(exec), 9U);
  EXPECT_EQ(run(other), 1U);
}

TEST_F(RecaptureChoices, ClonesMayBeRefused) {
  control().set(choice::recapture_of_clones, 1);
  const CUgraph graph = chain(1);
  CUgraph clone = nullptr;
  ASSERT_EQ(cu().graph_clone(&clone, graph), CUDA_SUCCESS);
  keep(clone);
  EXPECT_EQ(begin_recapture(first(), clone), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(nodes(clone).size(), 1U) << "the clone is as it was";
  recapture(graph, [&] { launch(first(), 1); });
}

TEST_F(RecaptureChoices, CallbacksMayComeAtTheEndLastFirst) {
  control().set(choice::recapture_callback_order, 1);
  const CUgraph graph = chain(2);
  const std::vector<CUgraphNode> before = nodes(graph);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 10), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 20), CUDA_SUCCESS);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(end_recapture(first()), graph);
  ASSERT_EQ(calls_.size(), 2U);
  EXPECT_EQ(calls_[0], (recapture_call{before[1], 2, 20, eligible}));
  EXPECT_EQ(calls_[1], (recapture_call{before[0], 1, 10, eligible}));
  EXPECT_EQ(run(instantiate(graph)), 30U);
}

TEST_F(RecaptureChoices, ARefusalAtTheEndFailsThere) {
  control().set(choice::recapture_callback_order, 1);
  answer_ = CUDA_ERROR_UNKNOWN;
  const CUgraph graph = chain(2);
  ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 10), CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 20), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), graph_recapture_failure);
  EXPECT_EQ(calls_.size(), 1U);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
  expect_lost(graph);
}

TEST_F(RecaptureChoices, AttributesMayChangeWithoutACall) {
  const CUgraph graph = chain(1);
  recapture(graph, [&] { EXPECT_EQ(launch_cooperative(), CUDA_SUCCESS); });
  EXPECT_EQ(calls_.size(), 1U) << "the default";

  control().set(choice::recapture_reports_attributes, 1);
  recapture(graph, [&] { launch(first(), 1); });
  EXPECT_EQ(calls_.size(), 1U);
  CUkernelNodeAttrValue value{};
  ASSERT_EQ(cu().graph_kernel_node_get_attribute(
                nodes(graph).at(0),
                static_cast<CUkernelNodeAttrID>(CU_LAUNCH_ATTRIBUTE_COOPERATIVE), &value),
            CUDA_SUCCESS);
  EXPECT_EQ(value.cooperative, 0) << "written nevertheless";
}

TEST_F(RecaptureChoices, EdgeDataMayBeIgnored) {
  control().set(choice::recapture_compares_edge_data, 1);
  const CUgraph graph = capture([&] {
    launch(first(), 1);
    launch(first(), 1);
  });
  recapture(graph, [&] {
    launch(first(), 1);
    EXPECT_EQ(launch_programmatic(first()), CUDA_SUCCESS);
  });
  EXPECT_EQ(dependencies(nodes(graph).at(1)).data.at(0).type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
}

TEST_F(RecaptureChoices, TheStatusMayAlwaysBeEligible) {
  control().set(choice::recapture_status_always_eligible, 1);
  const CUgraph graph = chain(1);
  recapture(graph, [&] { EXPECT_EQ(launch_cooperative(), CUDA_SUCCESS); });
  ASSERT_EQ(calls_.size(), 1U);
  EXPECT_EQ(calls_[0].status, eligible);
}

TEST_F(RecaptureChoices, ANullCallbackMayApplyEverything) {
  control().set(choice::recapture_null_callback, 1);
  const CUgraph graph = chain(1);
  ASSERT_EQ(cu().stream_begin_recapture_to_graph(first(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                 graph, nullptr, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(launch(first(), 9), CUDA_SUCCESS);
  EXPECT_EQ(end_recapture(first()), graph);
  EXPECT_EQ(added_by(nodes(graph).at(0)), 9U);
}

}  // namespace
}  // namespace cugraft_sim
