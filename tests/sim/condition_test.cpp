// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <utility>
#include <vector>

#include "sim/condition_fixture.hpp"

// Conditional nodes: handles, kinds, what a body may hold, limits (driver-rules 7).

namespace cugraft_sim {
namespace {

class ConditionRules : public ConditionTest {
 protected:
  // A graph with an if of one body, which adds 5 to the first slot where the default is true.
  CUgraph graph_with_if(unsigned default_value) {
    const CUgraph made = empty_graph();
    const conditional choice = add_conditional(made, condition(made, default_value));
    add_kernel(choice.bodies[0], 5);
    return made;
  }
};

TEST_F(ConditionRules, R7_AnIfRunsItsBodyWhereTheConditionIsNotZero) {
  EXPECT_EQ(run(instantiate(graph_with_if(1))), 5U);
  EXPECT_EQ(run(instantiate(graph_with_if(7))), 5U);
  EXPECT_EQ(run(instantiate(graph_with_if(0))), 0U);
}

TEST_F(ConditionRules, R7_AnElseIsTheSecondBody) {
  if (driver().version() < 12080) GTEST_SKIP() << "the driver is older than 12.8";
  for (const unsigned value : {0U, 1U}) {
    const CUgraph graph = empty_graph();
    const conditional choice = add_conditional(graph, condition(graph, value), if_kind, 2);
    add_kernel(choice.bodies[0], 1);
    add_kernel(choice.bodies[1], 2);
    EXPECT_EQ(run(instantiate(graph)), value == 1 ? 1U : 2U);
  }
}

TEST_F(ConditionRules, R7_ASwitchRunsTheBodyOfItsNumber) {
  if (driver().version() < 12080) GTEST_SKIP() << "the driver is older than 12.8";
  for (const unsigned value : {0U, 2U, 3U, 100U}) {
    const CUgraph graph = empty_graph();
    const conditional choice = add_conditional(graph, condition(graph, value), switch_kind, 3);
    for (unsigned i = 0; i < 3; ++i) add_kernel(choice.bodies[i], 10 + i);
    EXPECT_EQ(run(instantiate(graph)), value < 3 ? 10 + value : 0U);
  }
}

TEST_F(ConditionRules, R7_AWhileRunsUntilItsBodySetsZero) {
  const CUgraph graph = empty_graph();
  const CUgraphConditionalHandle handle = condition(graph, 1);
  const CUgraph body = add_conditional(graph, handle, while_kind).bodies[0];
  const CUgraphNode step = add_kernel(body, 1);
  add_set_while_less(body, handle, 0, 5, {step});
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(run(exec), 5U);
  EXPECT_EQ(run(exec), 1U) << "each launch begins with the default value";
}

TEST_F(ConditionRules, R7_AKernelBeforeTheNodeSetsItsCondition) {
  for (const unsigned value : {0U, 1U}) {
    const CUgraph graph = empty_graph();
    const CUgraphConditionalHandle handle = condition(graph, 1 - value);
    const CUgraphNode set = add_set(graph, handle, value);
    add_kernel(add_conditional(graph, handle, if_kind, 1, {set}).bodies[0], 5);
    EXPECT_EQ(run(instantiate(graph)), value == 1 ? 5U : 0U);
  }
}

TEST_F(ConditionRules, R7_BodiesTakeKernelsCopiesFillsEmptyNodesChildrenAndConditions) {
  const CUgraph graph = empty_graph(), child = chain(2);
  const CUgraphConditionalHandle outer = condition(graph, 1), inner = condition(graph, 1);
  const CUgraph body = add_conditional(graph, outer).bodies[0];
  CUgraphNode empty = nullptr, nested = nullptr, filled = nullptr;
  EXPECT_EQ(cu().graph_add_empty_node(&empty, body, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_add_child_graph_node(&nested, body, &empty, 1, child), CUDA_SUCCESS);
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = address(1);
  fill.value = 7;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  EXPECT_EQ(cu().graph_add_memset_node(&filled, body, nullptr, 0, &fill, current_context()),
            CUDA_SUCCESS);
  add_kernel(add_conditional(body, inner).bodies[0], 10);
  EXPECT_EQ(run(instantiate(graph)), 13U);
  EXPECT_EQ(values_[1], 7U);
}

// A body takes nodes of other kinds (H200). That their graph is not instantiated is what the
// documentation lets expect; result and code are the simulator's choice.
TEST_F(ConditionRules, R7_BodiesWithNodesOfOtherKindsAreNotInstantiated) {
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = [](void*) {};
  const CUgraph child = empty_graph();
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_host_node(&made, child, nullptr, 0, &host), CUDA_SUCCESS);
  const std::pair<const char*, std::function<CUresult(CUgraph)>> kinds[]{
      {"host", [&](CUgraph to) { return cu().graph_add_host_node(&made, to, nullptr, 0, &host); }},
      {"event record",
       [&](CUgraph to) {
         return cu().graph_add_event_record_node(&made, to, nullptr, 0, events_[0]);
       }},
      {"event wait",
       [&](CUgraph to) {
         return cu().graph_add_event_wait_node(&made, to, nullptr, 0, events_[0]);
       }},
      {"child with a host node",
       [&](CUgraph to) { return cu().graph_add_child_graph_node(&made, to, nullptr, 0, child); }}};
  for (const auto& [kind, add] : kinds) {
    SCOPED_TRACE(kind);
    const CUgraph graph = empty_graph();
    EXPECT_EQ(add(add_conditional(graph, condition(graph, 1)).bodies[0]), CUDA_SUCCESS);
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cu().graph_instantiate_with_params(&exec, graph, &parameters),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    if (exec) destroy(exec);
  }
}

TEST_F(ConditionRules, R7_SizesAreThoseOfTheKind) {
  const CUgraph graph = empty_graph();
  const CUgraphConditionalHandle handle = condition(graph);
  EXPECT_EQ(try_conditional(graph, handle, if_kind, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(try_conditional(graph, handle, if_kind, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(try_conditional(graph, handle, while_kind, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(try_conditional(graph, handle, while_kind, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(try_conditional(graph, handle, switch_kind, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(try_conditional(graph, handle, 9, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(nodes(graph).empty());
  EXPECT_EQ(try_conditional(graph, handle, while_kind, 1), CUDA_SUCCESS) << "the handle is free";
}

TEST_F(ConditionRules, R7_FlagsAreZeroOrAssignDefault) {
  const CUgraph graph = empty_graph();
  CUgraphConditionalHandle made = 0;
  EXPECT_EQ(cu().graph_conditional_handle_create(&made, graph, nullptr, 0, 2),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_conditional_handle_create(nullptr, graph, nullptr, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_conditional_handle_create(&made, nullptr, nullptr, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ConditionRules, R6_2_OneExecutableAtATime) {
  const CUgraph graph = graph_with_if(1);
  const CUgraphExec first = instantiate(graph);
  EXPECT_EQ(try_instantiate(graph), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(run(first), 5U);
  destroy(first);
  EXPECT_EQ(run(instantiate(graph)), 5U);
}

TEST_F(ConditionRules, R7_NoCloneAndNoChild) {
  const CUgraph graph = graph_with_if(1), parent = empty_graph();
  CUgraph copy = nullptr;
  EXPECT_EQ(cu().graph_clone(&copy, graph), CUDA_ERROR_NOT_SUPPORTED);
  CUgraphNode made = nullptr;
  EXPECT_EQ(cu().graph_add_child_graph_node(&made, parent, nullptr, 0, graph),
            CUDA_ERROR_NOT_SUPPORTED);
}

// Facts, Conditions: the first handle of any graph is 1, and a handle is its number only.
TEST_F(ConditionRules, Facts_HandlesAreNumbersWithinTheirGraph) {
  const CUgraph one = empty_graph(), other = empty_graph();
  const CUgraphConditionalHandle first = condition(one), second = condition(one);
  const CUgraphConditionalHandle foreign = condition(other);
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(second, 2U);
  EXPECT_EQ(foreign, 1U);
  EXPECT_EQ(try_conditional(other, second), CUDA_ERROR_INVALID_VALUE) << "no such number here";
  EXPECT_EQ(try_conditional(other, first), CUDA_SUCCESS);
  EXPECT_EQ(try_conditional(other, foreign), CUDA_ERROR_INVALID_VALUE) << "taken";
  EXPECT_EQ(try_conditional(other, 0), CUDA_ERROR_INVALID_VALUE);
}

// Facts, Nested conditions: one sequence of numbers through the whole tree.
TEST_F(ConditionRules, Facts_HandlesAreNumberedThroughTheTree) {
  const CUgraph graph = empty_graph();
  const CUgraphConditionalHandle outer = condition(graph, 1);
  const CUgraph body = add_conditional(graph, outer, while_kind).bodies[0];
  const CUgraphConditionalHandle nested = condition(body), next = condition(graph);
  EXPECT_EQ(outer, 1U);
  EXPECT_EQ(nested, 2U);
  EXPECT_EQ(next, 3U);
  const CUgraphNode step = add_kernel(body, 1);
  const CUgraphNode again = add_set_while_less(body, outer, 0, 3, {step});
  const CUgraphNode yes = add_set(body, nested, 1, {again});
  add_kernel(add_conditional(body, nested, if_kind, 1, {yes}).bodies[0], 10, {}, 1);
  EXPECT_EQ(try_conditional(graph, next), CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(graph)), 3U);
  EXPECT_EQ(values_[1], 30U);
}

// Facts, Conditions.
TEST_F(ConditionRules, Facts_AConditionWithoutANodeIsNotInstantiated) {
  const CUgraph graph = graph_with_if(1);
  condition(graph);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec made = nullptr;
  EXPECT_EQ(cu().graph_instantiate_with_params(&made, graph, &parameters),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(static_cast<int>(parameters.result_out), 5);
}

TEST_F(ConditionRules, R5_1_ParametersAreFixed) {
  const CUgraph graph = empty_graph();
  const CUgraphConditionalHandle handle = condition(graph, 1);
  const conditional choice = add_conditional(graph, handle);
  CUgraphNodeParams parameters = parameters_of(handle, if_kind, 1);
  EXPECT_EQ(cu().graph_node_set_params(choice.node, &parameters), CUDA_ERROR_NOT_SUPPORTED);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_NE(cu().graph_exec_node_set_params(exec, choice.node, &parameters), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_node_set_enabled(exec, choice.node, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ConditionRules, R7_R9_2_TheQueryShowsTheBodies) {
  if (!cu().graph_node_get_params) GTEST_SKIP() << "the driver is older than 13.2";
  const CUgraph graph = empty_graph();
  const CUgraphConditionalHandle handle = condition(graph);
  const conditional choice = add_conditional(graph, handle, switch_kind, 2);
  CUgraphNodeParams found{};
  ASSERT_EQ(cu().graph_node_get_params(choice.node, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  EXPECT_EQ(found.conditional.handle, handle);
  EXPECT_EQ(static_cast<unsigned>(found.conditional.type), switch_kind);
  ASSERT_EQ(found.conditional.size, 2U);
  EXPECT_EQ(found.conditional.phGraph_out[0], choice.bodies[0]);
  EXPECT_EQ(found.conditional.phGraph_out[1], choice.bodies[1]);
  EXPECT_EQ(found.conditional.ctx, current_context());
}

TEST_F(ConditionRules, ABodyBelongsToItsNode) {
  const CUgraph graph = empty_graph();
  const conditional choice = add_conditional(graph, condition(graph, 1));
  EXPECT_NE(cu().graph_destroy(choice.bodies[0]), CUDA_SUCCESS);
  add_kernel(choice.bodies[0], 1);
  destroy(graph);
  std::size_t count = 0;
  EXPECT_EQ(cu().graph_get_nodes(choice.bodies[0], nullptr, &count), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ConditionRules, ANodeThatIsRefusedTakesNothing) {
  const CUgraph graph = empty_graph(), other = chain(1);
  const CUgraphConditionalHandle handle = condition(graph, 1);
  CUgraphNodeParams parameters = parameters_of(handle, if_kind, 1);
  CUgraphNode made = nullptr;
  const CUgraphNode foreign = nodes(other)[0];
  EXPECT_EQ(cu().graph_add_node(&made, graph, &foreign, nullptr, 1, &parameters),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_add_node(nullptr, graph, nullptr, nullptr, 0, &parameters),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(try_conditional(graph, handle), CUDA_SUCCESS);
}

// A real driver does what it likes there.
TEST_F(ConditionRules, AKernelThatSetsAConditionOutsideOfAGraphFails) {
  CUGRAFT_NEEDS_SIMULATOR();
  driver_under_test fresh = driver_under_test::fresh_simulator();
  CUcontext context = nullptr;
  ASSERT_EQ(fresh->init(0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->ctx_push_current(context), CUDA_SUCCESS);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_EQ(
      fresh->library_load_data(&library, condition_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(fresh->library_get_kernel(&kernel, library, "set"), CUDA_SUCCESS);
  CUgraphConditionalHandle handle = 1;
  unsigned value = 1;
  void* arguments[] = {&handle, &value};
  const CUlaunchConfig config = one_block(nullptr, 1);
  ASSERT_EQ(
      fresh->launch_kernel_ex(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(fresh->ctx_synchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(ConditionRules, AHostFunctionInAKernelsPlaceSetsConditions) {
  CUGRAFT_NEEDS_SIMULATOR();
  bool first = false, outside = true;
  control().register_kernel("set", [&](const kernel_call& call) {
    first = call.set_conditional(1, 1);
    outside = call.set_conditional(2, 1);
  });
  const CUlibrary library = load(condition_ptx);
  control().unregister_kernel("set");
  const CUgraph graph = empty_graph();
  CUgraphConditionalHandle handle = condition(graph, 0);
  unsigned value = 0;
  const CUgraphNode set = add_setter(graph, find(library, "set"), {&handle, &value});
  add_kernel(add_conditional(graph, handle, if_kind, 1, {set}).bodies[0], 5);
  EXPECT_EQ(run(instantiate(graph)), 5U);
  EXPECT_TRUE(first);
  EXPECT_FALSE(outside);
  destroy_graphs();
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
