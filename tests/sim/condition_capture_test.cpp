// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sim/condition_fixture.hpp"

// Conditional nodes in captures, and whole-graph updates of graphs that have them.

namespace cugraft_sim {
namespace {

constexpr auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

class ConditionCaptureRules : public ConditionTest {
 protected:
  // Adds a conditional node behind the work of a capturing stream.
  conditional branch(CUstream on, CUgraphConditionalHandle handle, unsigned kind = if_kind) {
    const capture_info now = info(on);
    conditional made = add_conditional(now.graph, handle, kind, 1, now.nodes);
    EXPECT_EQ(cu().stream_update_capture_dependencies(on, &made.node, nullptr, 1,
                                                      CU_STREAM_SET_CAPTURE_DEPENDENCIES),
              CUDA_SUCCESS);
    return made;
  }

  void begin_body(CUgraph body) {
    ASSERT_EQ(cu().stream_begin_capture_to_graph(second(), body, nullptr, nullptr, 0, relaxed),
              CUDA_SUCCESS);
  }

  // A capture of: a kernel that sets the condition to 1, an if, and in its body a kernel that adds
  // `value`.
  CUgraph captured_if(unsigned value, unsigned default_value = 0) {
    begin(first(), relaxed);
    CUgraphConditionalHandle handle = condition(info(first()).graph, default_value);
    unsigned yes = 1;
    void* arguments[] = {&handle, &yes};
    const CUlaunchConfig config = one_block(first(), 1);
    EXPECT_EQ(cu().launch_kernel_ex(&config, set_, arguments, nullptr), CUDA_SUCCESS);
    const conditional choice = branch(first(), handle);
    begin_body(choice.bodies[0]);
    EXPECT_EQ(launch(second(), value), CUDA_SUCCESS);
    CUgraph body = nullptr;
    EXPECT_EQ(cu().stream_end_capture(second(), &body), CUDA_SUCCESS);
    EXPECT_EQ(body, choice.bodies[0]);
    return end(first());
  }

  // A capture with an if whose default is `default_value` and whose body adds `value`.
  CUgraph plain_if(unsigned value, unsigned default_value, unsigned kind = if_kind) {
    begin(first(), relaxed);
    const conditional choice = branch(first(), condition(info(first()).graph, default_value), kind);
    add_kernel(choice.bodies[0], value);
    return end(first());
  }

  CUgraphExecUpdateResultInfo update(CUgraphExec exec, CUgraph from, CUresult expected) {
    CUgraphExecUpdateResultInfo info{};
    EXPECT_EQ(cu().graph_exec_update(exec, from, &info), expected);
    return info;
  }
};

// Facts, Order, handles, capture.
TEST_F(ConditionCaptureRules, Facts_ABodyIsCapturedOnAnotherStream) {
  EXPECT_EQ(run(instantiate(captured_if(7))), 7U);
}

// Facts, Conditions: between two captures that each made their own condition.
TEST_F(ConditionCaptureRules, Facts_AWholeUpdateTakesEqualConditions) {
  const CUgraphExec exec = instantiate(captured_if(7));
  EXPECT_EQ(run(exec), 7U);
  update(exec, captured_if(8), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 8U);
}

TEST_F(ConditionCaptureRules, Facts_AWholeUpdateFromItsOwnGraph) {
  const CUgraph graph = captured_if(7);
  const CUgraphExec exec = instantiate(graph);
  update(exec, graph, CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 7U);
}

TEST_F(ConditionCaptureRules, R4_3_R7_AnUpdateTakesDefaultValues) {
  const CUgraphExec exec = instantiate(plain_if(5, 0));
  EXPECT_EQ(run(exec), 0U);
  update(exec, plain_if(5, 1), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 5U);
}

TEST_F(ConditionCaptureRules, R4_3_ParametersOfTheNodeAreFixed) {
  const CUgraphExec exec = instantiate(plain_if(5, 1));
  const CUgraph loop = plain_if(6, 0, while_kind);
  const auto refused = update(exec, loop, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(refused.result, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(refused.errorNode, nodes(loop)[0]);
  EXPECT_EQ(run(exec), 5U);
}

TEST_F(ConditionCaptureRules, R4_3_BodiesAreComparedToo) {
  const CUgraphExec exec = instantiate(plain_if(5, 1));
  begin(first(), relaxed);
  const conditional choice = branch(first(), condition(info(first()).graph, 1));
  add_kernel(choice.bodies[0], 1, {add_kernel(choice.bodies[0], 2)});
  const auto refused = update(exec, end(first()), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(refused.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(run(exec), 5U);
}

// Facts, Setters: kernels of bodies are patched by the inner node's handle.
TEST_F(ConditionCaptureRules, Facts_KernelsOfBodiesArePatched) {
  const CUgraph graph = empty_graph();
  const conditional choice = add_conditional(graph, condition(graph, 1));
  const CUgraphNode inner = add_kernel(choice.bodies[0], 5);
  const CUgraphExec exec = instantiate(graph);
  const add_parameters changed(add_, address(0), 40);
  ASSERT_EQ(cu().graph_exec_kernel_node_set_params(exec, inner, &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 40U);
}

// Facts, After a failed capture into a conditional body.
class LostBodyRules : public ConditionCaptureRules {
 protected:
  // A capture with a conditional node whose body's capture fails.
  conditional lose_body() {
    begin(first(), relaxed);
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    const conditional lost = branch(first(), condition(info(first()).graph, 1));
    begin_body(lost.bodies[0]);
    EXPECT_EQ(launch(second()), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(second()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(failing_end(second()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    return lost;
  }
};

TEST_F(LostBodyRules, Facts_TheBodyIsGone) {
  const auto in_a_process_of_its_own = [this] {
    const conditional lost = lose_body();
    std::size_t count = 0;
    EXPECT_EQ(cu().graph_get_nodes(lost.bodies[0], nullptr, &count), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(
        cu().stream_begin_capture_to_graph(second(), lost.bodies[0], nullptr, nullptr, 0, relaxed),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cu().graph_destroy_node(lost.node), CUDA_ERROR_ILLEGAL_STATE);
    CUgraph graph = nullptr;
    EXPECT_EQ(cu().stream_end_capture(first(), &graph), CUDA_SUCCESS);
    std::_Exit(HasFailure() ? 1 : 0);  // the graph must never be destroyed
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(in_a_process_of_its_own(), ::testing::ExitedWithCode(0), "");
}

// The capture takes the host function; where it ends is seen at the instantiation. What each call
// answers is printed, as a process of its own shows no failures.
TEST_F(LostBodyRules, R7_ACapturedBodyWithAHostFunctionIsNotInstantiated) {
  const auto in_a_process_of_its_own = [this] {
    begin(first(), relaxed);
    begin_body(branch(first(), condition(info(first()).graph, 1)).bodies[0]);
    const CUresult called = cu().launch_host_func(
        second(), [](void*) {}, nullptr);
    CUgraph body = nullptr, graph = nullptr;
    const CUresult ended = cu().stream_end_capture(second(), &body);
    const CUresult parent_ended = cu().stream_end_capture(first(), &graph);
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    CUgraphExec exec = nullptr;
    const CUresult made = cu().graph_instantiate_with_params(&exec, graph, &parameters);
    std::fprintf(stderr, "launch %d, end %d, end of the parent %d, instantiation %d, result %d\n",
                 called, ended, parent_ended, made, parameters.result_out);
    std::_Exit(0);  // a graph with a lost body must never be destroyed
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(in_a_process_of_its_own(), ::testing::ExitedWithCode(0),
              "launch 0, end 0, end of the parent 0, instantiation 1, result 3");
}

TEST_F(LostBodyRules, Facts_DestroyingTheGraphStopsTheProcess) {
  CUGRAFT_NEEDS_SIMULATOR();
  const auto crash = [this] {
    lose_body();
    CUgraph graph = nullptr;
    EXPECT_EQ(cu().stream_end_capture(first(), &graph), CUDA_SUCCESS);
    cu().graph_destroy(graph);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash(), ::testing::KilledBySignal(SIGABRT), "lost body .* a capture that failed");
}

TEST_F(LostBodyRules, Facts_EndingAnInvalidParentStopsTheProcess) {
  CUGRAFT_NEEDS_SIMULATOR();
  const auto crash = [this] {
    lose_body();
    EXPECT_EQ(cu().stream_synchronize(first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    failing_end(first());
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash(), ::testing::KilledBySignal(SIGABRT), "lost body .* a capture that failed");
}

TEST_F(LostBodyRules, Facts_ABodyThatEndsWellIsSafeInAnInvalidParent) {
  begin(first(), relaxed);
  const conditional choice = branch(first(), condition(info(first()).graph, 1));
  begin_body(choice.bodies[0]);
  EXPECT_EQ(launch(second()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph body = nullptr;
  EXPECT_EQ(cu().stream_end_capture(second(), &body), CUDA_SUCCESS);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(LostBodyRules, Facts_AParentMayEndBeforeItsBody) {
  begin(first(), relaxed);
  const conditional choice = branch(first(), condition(info(first()).graph, 1));
  begin_body(choice.bodies[0]);
  EXPECT_EQ(launch(second(), 5), CUDA_SUCCESS);
  const CUgraph graph = end(first());
  CUgraph body = nullptr;
  EXPECT_EQ(cu().stream_end_capture(second(), &body), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(graph)), 5U);
}

// Facts: the safe way, as one child graph or node by node.
TEST_F(LostBodyRules, Facts_ABodyCapturedByItselfIsAddedAfterwards) {
  const CUgraph content = capture([&] {
    EXPECT_EQ(launch(first(), 1), CUDA_SUCCESS);
    EXPECT_EQ(launch_programmatic(first()), CUDA_SUCCESS);
  });
  const CUgraph graph = empty_graph();
  const CUgraph whole = add_conditional(graph, condition(graph, 1)).bodies[0];
  CUgraphNode child = nullptr;
  EXPECT_EQ(cu().graph_add_child_graph_node(&child, whole, nullptr, 0, content), CUDA_SUCCESS);

  const CUgraph moved = add_conditional(graph, condition(graph, 1)).bodies[0];
  CUgraphNode before = nullptr;
  for (const CUgraphNode each : nodes(content)) {
    CUgraphNodeParams parameters{};
    const CUDA_KERNEL_NODE_PARAMS from = kernel(each);
    parameters.type = CU_GRAPH_NODE_TYPE_KERNEL;
    parameters.kernel.func = from.func;
    parameters.kernel.gridDimX = parameters.kernel.gridDimY = parameters.kernel.gridDimZ = 1;
    parameters.kernel.blockDimX = parameters.kernel.blockDimY = parameters.kernel.blockDimZ = 1;
    parameters.kernel.kernelParams = from.kernelParams;
    const edge_list edges = dependencies(each);
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_node(&made, moved, &before, edges.data.data(), edges.data.size(),
                                  &parameters),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_kernel_node_copy_attributes(made, each), CUDA_SUCCESS);
    before = made;
  }
  EXPECT_EQ(run(instantiate(graph)), 4U);
}

}  // namespace
}  // namespace cugraft_sim
