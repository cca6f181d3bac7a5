// SPDX-License-Identifier: Apache-2.0
#include "sim/gate.hpp"
#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

class ExecRules : public GraphTest {
 protected:
  CUresult instantiate_with(CUgraph from, CUDA_GRAPH_INSTANTIATE_PARAMS& parameters,
                            CUgraphExec* made) {
    const CUresult result = cu().graph_instantiate_with_params(made, from, &parameters);
    if (result == CUDA_SUCCESS) execs_.push_back(*made);
    return result;
  }

  CUresult patch(CUgraphExec exec, CUgraphNode node, unsigned value) {
    const add_parameters changed(add_, address(0), value);
    return cu().graph_exec_kernel_node_set_params(exec, node, &changed.all);
  }
};

TEST_F(ExecRules, NodesRunInDependencyOrder) {
  begin(first());
  ASSERT_EQ(fill(first(), 10), CUDA_SUCCESS);
  depend(first(), second(), events_[0]);
  ASSERT_EQ(launch(second(), 5), CUDA_SUCCESS);
  depend(second(), first(), events_[1]);
  ASSERT_EQ(cu().memcpy_async(address(1), address(0), 4, first()), CUDA_SUCCESS);
  ASSERT_EQ(fill(first(), 0), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate(end(first()));
  for (int i = 0; i < 3; ++i) {
    run(exec);
    EXPECT_EQ(values_[0], 0U);
    EXPECT_EQ(values_[1], 15U);
    values_[1] = 0;
  }
}

TEST_F(ExecRules, R6_3_LaunchesFollowTheStreamsWork) {
  const CUgraphExec exec = instantiate(chain(2));
  ASSERT_EQ(fill(first(), 100), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().memcpy_async(address(1), address(0), 4, first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[1], 103U);
}

TEST_F(ExecRules, R6_3_OneLaunchOfAnExecutableAtATime) {
  gate held;
  const CUgraph graph = capture([&] { EXPECT_EQ(launch(first()), CUDA_SUCCESS); });
  const CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(cu().launch_host_func(first(), gate::wait, &held), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_launch(exec, second()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(second()), CUDA_ERROR_NOT_READY)
      << "it waits for the launch on the other stream";
  held.open();
  ASSERT_EQ(cu().stream_synchronize(second()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 2U);
}

TEST_F(ExecRules, R5_2_APatchDoesNotReachWhatIsEnqueued) {
  gate held;
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(cu().launch_host_func(first(), gate::wait, &held), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  EXPECT_EQ(patch(exec, nodes(graph).at(0), 100), CUDA_SUCCESS);
  held.open();
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 1U);
  EXPECT_EQ(run(exec), 100U);
}

TEST_F(ExecRules, R5_1_AChangedGraphDoesNotChangeItsExecutables) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  const add_parameters changed(add_, address(0), 50);
  ASSERT_EQ(cu().graph_kernel_node_set_params(nodes(graph).at(0), &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 1U);
  EXPECT_EQ(run(instantiate(graph)), 50U);
}

TEST_F(ExecRules, R6_3_AnExecutableOutlivesItsGraph) {
  const CUgraph graph = chain(2);
  const CUgraphExec exec = instantiate(graph);
  destroy(graph);
  EXPECT_EQ(run(exec), 3U);
}

TEST_F(ExecRules, R6_3_DestroyingARunningExecutableIsDeferred) {
  gate held;
  const CUgraphExec exec = instantiate(chain(2));
  ASSERT_EQ(cu().launch_host_func(first(), gate::wait, &held), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  destroy(exec);
  held.open();
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 3U);
}

TEST_F(ExecRules, R6_3_InstantiationTellsItsResult) {
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.result_out = static_cast<CUgraphInstantiateResult>(9);
  parameters.hErrNode_out = reinterpret_cast<CUgraphNode>(this);
  CUgraphExec made = nullptr;
  ASSERT_EQ(instantiate_with(chain(1), parameters, &made), CUDA_SUCCESS);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  EXPECT_EQ(parameters.hErrNode_out, nullptr);
  parameters.flags = 1024;
  EXPECT_EQ(instantiate_with(chain(1), parameters, &made), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
}

TEST_F(ExecRules, R6_3_InstantiationChecksItsArguments) {
  const CUgraph graph = chain(1);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec made = nullptr;
  EXPECT_EQ(cu().graph_instantiate_with_params(&made, graph, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(instantiate_with(nullptr, parameters, &made), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_instantiate_with_params(nullptr, graph, &parameters),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExecRules, R6_3_InstantiationTakesItsFlags) {
  for (const unsigned long long flags :
       {CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY}) {
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    parameters.flags = flags;
    parameters.hUploadStream = first();
    CUgraphExec made = nullptr;
    ASSERT_EQ(instantiate_with(chain(1), parameters, &made), CUDA_SUCCESS) << flags;
    EXPECT_EQ(run(made), 1U);
  }
}

TEST_F(ExecRules, AnEmptyGraphCanBeLaunched) {
  EXPECT_EQ(run(instantiate(capture([] {}))), 0U);
}

TEST_F(ExecRules, R6_3_UploadKeepsTheOrderOfTheStream) {
  const CUgraphExec exec = instantiate(chain(1));
  EXPECT_EQ(cu().graph_upload(exec, first()), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 1U);
}

TEST_F(ExecRules, NullHandlesAreInvalid) {
  EXPECT_EQ(cu().graph_launch(nullptr, first()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_upload(nullptr, first()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_exec_destroy(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExecRules, HostFunctionsRunAndMayNotCallTheDriver) {
  struct observed {
    const driver_functions* cu;
    CUresult result = CUDA_SUCCESS;
  } seen{&cu()};
  const auto call = [](void* of) {
    auto& noted = *static_cast<observed*>(of);
    int count = 0;
    noted.result = noted.cu->device_get_count(&count);
  };
  const CUgraph graph =
      capture([&] { EXPECT_EQ(cu().launch_host_func(first(), call, &seen), CUDA_SUCCESS); });
  run(instantiate(graph));
  EXPECT_EQ(seen.result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(ExecRules, AnExternalWaitHoldsTheGraphUp) {
  gate held;
  const CUgraph graph = capture([&] {
    EXPECT_EQ(cu().stream_wait_event(first(), events_[0], CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  });
  const CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(cu().launch_host_func(second(), gate::wait, &held), CUDA_SUCCESS);
  ASSERT_EQ(cu().event_record(events_[0], second()), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(first()), CUDA_ERROR_NOT_READY);
  held.open();
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 1U);
}

}  // namespace
}  // namespace cugraft_sim
