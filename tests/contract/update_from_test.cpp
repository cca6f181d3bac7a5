// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Programs that capture afresh hand the new graph in instead of updating an executable from it.

namespace cugraft::testing {
namespace {

class UpdateFrom : public EngineSuite {
 protected:
  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    gb.tag(value_ == 1 ? "first" : "later");
    launch(gb, {.grid = grid_, .block = 32, .priority = priority_}, add_, x_, value_,
           static_cast<int>(count));
  }

  graph captured() {
    return capture(stream_, [&](graph_builder& gb) { body(gb); });
  }

  // As a program that knows nothing of cugraft has it.
  CUgraph foreign_graph() { return captured().release(); }

  void destroy(CUgraph graph) { graph::from_native_handle(driver(), graph).close(); }

  float value_ = 1;
  unsigned grid_ = 2;
  int priority_ = 0;
  graph graph_ = captured();
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(UpdateFrom, TakesTheParametersOver) {
  value_ = 3;
  grid_ = 1;
  const change_report report = graph_.update_from(captured());
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.engine_used(), engine::compare);
  EXPECT_EQ(report.changes()[0].tag, "later");
  EXPECT_EQ(graph_.node(1).tag(), "later");
  EXPECT_EQ(graph_.generation(), 1U);
  EXPECT_EQ(exec_.update().nodes_patched, 1U);
  EXPECT_EQ(run(exec_, x_), 3);
  EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 0U);
}

TEST_P(UpdateFrom, NothingChanged) {
  EXPECT_EQ(graph_.update_from(captured()).nodes_changed(), 0U);
  const CUgraph other = foreign_graph();
  EXPECT_EQ(graph_.update_from(other).nodes_changed(), 0U);
  destroy(other);
  EXPECT_EQ(exec_.update().nodes_patched, 0U);
}

TEST_P(UpdateFrom, AGraphOfTheCallersMayBeDestroyedAtReturn) {
  value_ = 3;
  priority_ = -1;
  const CUgraph other = foreign_graph();
  const change_report report = graph_.update_from(other);
  destroy(other);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_TRUE(exec_.update());
  EXPECT_EQ(run(exec_, x_), 3);
  value_ = 1;
  priority_ = 0;
  EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 1U);
  EXPECT_TRUE(exec_.update());
  EXPECT_EQ(run(exec_, x_), 1);
}

// Host functions of cugraft's are compared; of others nobody knows whether they do the same.
TEST_P(UpdateFrom, HostFunctionsThatStandForEachOtherAreNoChange) {
  const auto with_host = [](graph_builder& gb) { gb.host_call([] {}); };
  graph made = capture(stream_, with_host);
  EXPECT_EQ(made.update_from(capture(stream_, with_host)).nodes_changed(), 0U);
  const CUgraph other = capture(stream_, with_host).release();
  EXPECT_EQ(made.update_from(other).nodes_changed(), 1U);
  destroy(other);
  graph_exec exec = made.instantiate();
  exec.launch(stream_);
  stream_.synchronize();
}

TEST_P(UpdateFrom, AnotherStructureIsAFailure) {
  graph other = capture(stream_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    fill_async(gb, x_.data(), 0, x_.size());
  });
  const recapture_result result = graph_.try_update_from(std::move(other));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::node_kind);
  EXPECT_EQ(result.failure().nodes_matched, 1U);
  EXPECT_EQ(result.failure().expected->name, "add_value");
  EXPECT_EQ(result.failure().found->kind, node_kind::fill);
  EXPECT_EQ(graph_.generation(), 0U);
  EXPECT_EQ(run(exec_, x_), 1);
  EXPECT_THROW(graph_.update_from(graph(driver())), recapture_error);
}

TEST_P(UpdateFrom, TheHookDecidesAndCompareOnlyTouchesNothing) {
  value_ = 3;
  EXPECT_EQ(graph_.update_from(captured(), {.compare_only = true}).nodes_changed(), 1U);
  EXPECT_EQ(graph_.generation(), 0U);
  recapture_options rejecting;
  rejecting.on_mismatch = [](const node_change&) { return hook_answer::reject; };
  const recapture_result result = graph_.try_update_from(captured(), rejecting);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::rejected);
  EXPECT_EQ(graph_.last_failure()->why, mismatch::rejected);
  EXPECT_EQ(graph_.update_from(captured()).nodes_changed(), 1U);
}

TEST_P(UpdateFrom, BadInputIsRefused) {
  EXPECT_THROW(graph_.update_from(CUgraph{}), usage_error);
  graph empty = captured();
  empty.reset();
  EXPECT_THROW(graph_.update_from(std::move(empty)), usage_error);
  EXPECT_THROW(graph_.update_from(captured(), {.with = engine::native}), usage_error);
  recapture_options hooked;
  hooked.on_native_mismatch = [](CUgraphNode, const CUgraphNodeParams_st*,
                                 const CUgraphNodeParams_st*,
                                 recapture_status) { return hook_answer::accept; };
  EXPECT_THROW(graph_.update_from(captured(), hooked), usage_error);
  graph other = captured();
  {
    const recapture_session open = graph_.begin_recapture(stream_, with());
    EXPECT_THROW(graph_.update_from(std::move(other)), usage_error);
  }
  EXPECT_EQ(graph_.update_from(captured()).nodes_changed(), 0U);
}

TEST_P(UpdateFrom, OwnersGoWithTheWorkThatNeedsThem) {
  std::atomic<int> alive = 0;
  const auto owning = [&](graph_builder& gb) {
    ++alive;
    gb.keep(std::shared_ptr<void>(&alive,
                                  [](void* count) { --*static_cast<std::atomic<int>*>(count); }));
    body(gb);
  };
  graph made = capture(stream_, owning);
  graph_exec exec = made.instantiate();
  for (int i = 0; i < 20; ++i) {
    value_ = static_cast<float>(i + 2);
    EXPECT_EQ(made.update_from(capture(stream_, owning)).nodes_changed(), 1U);
    EXPECT_TRUE(exec.update());
    EXPECT_EQ(run(exec, x_), value_);
  }
  EXPECT_TRUE(eventually([&] {
    exec.launch(stream_);
    stream_.synchronize();
    return alive <= 2;
  })) << alive;
  exec.reset();
  made.reset();
  EXPECT_TRUE(eventually([&] { return alive == 0; })) << alive;
}

TEST_P(UpdateFrom, WhatForeignCodeAttachedIsKept) {
  const foreign_calls calls(driver());
  std::atomic<int> destroyed = 0;
  const auto attach = [&](graph_builder& gb) {
    body(gb);
    calls.attach_user_object(gb.stream().get(), destroyed);
  };
  value_ = 3;
  const CUgraph other = capture(stream_, attach).release();
  EXPECT_EQ(graph_.update_from(other).nodes_changed(), 1U);
  destroy(other);
  EXPECT_TRUE(exec_.update());
  EXPECT_EQ(run(exec_, x_), 3);
  simulator().settle();
  EXPECT_EQ(destroyed, 0);
  exec_.reset();
  graph_.reset();
  EXPECT_TRUE(eventually([&] { return destroyed == 1; }));
}

TEST_P(UpdateFrom, AFailureInTheMiddlePutsBack) {
  float value = 1;
  const auto four = [&](graph_builder& gb) {
    for (int i = 0; i < 4; ++i) add(gb, x_, value);
  };
  graph made = capture(stream_, four);
  graph_exec exec = made.instantiate();
  for (unsigned nth = 1; nth <= 4; ++nth) {
    value = 3;
    simulator().plan({.function = "cuGraphKernelNodeSetParams", .nth = nth, .code = 999});
    const recapture_result result = made.try_update_from(capture(stream_, four));
    ASSERT_FALSE(result) << nth;
    EXPECT_EQ(result.failure().why, mismatch::driver_failure);
    EXPECT_EQ(result.failure().function, "cuGraphKernelNodeSetParams");
    EXPECT_EQ(made.generation(), 0U);
    EXPECT_TRUE(exec.is_current());
    graph_exec fresh = made.instantiate();
    EXPECT_EQ(run(fresh, x_), 4) << nth;  // nothing of the new values is left in the graph
    value = 1;
    EXPECT_EQ(made.update_from(capture(stream_, four)).nodes_changed(), 0U) << nth;
  }
  value = 3;
  EXPECT_EQ(made.update_from(capture(stream_, four)).nodes_changed(), 4U);
  EXPECT_TRUE(exec.update());
  EXPECT_EQ(run(exec, x_), 12);
}

TEST_P(UpdateFrom, AHookLeavesTheGraphAlone) {
  value_ = 3;
  recapture_options nested;
  nested.on_mismatch = [&](const node_change&) {
    EXPECT_THROW(graph_.update_from(captured()), usage_error);
    EXPECT_THROW(static_cast<void>(graph_.begin_recapture(stream_, with())), usage_error);
    EXPECT_THROW(static_cast<void>(graph_.instantiate()), usage_error);
    return hook_answer::accept;
  };
  EXPECT_EQ(graph_.update_from(captured(), nested).nodes_changed(), 1U);
  EXPECT_EQ(graph_.generation(), 1U);
  value_ = 4;
  recapture_options resetting;
  resetting.on_mismatch = [&](const node_change&) {
    graph_.reset();
    return hook_answer::accept;
  };
  EXPECT_EQ(graph_.update_from(captured(), resetting).nodes_changed(), 1U);
}

TEST_P(UpdateFrom, ACloneThatWasMadeAllTheSameIsNotLeft) {
  value_ = 3;
  const CUgraph other = foreign_graph();
  const std::size_t before = simulator().live().graphs;
  fail_after_next("cuGraphClone", 999);
  EXPECT_THROW(graph_.update_from(other), cuda_error);
  EXPECT_EQ(simulator().live().graphs, before);
  EXPECT_EQ(graph_.update_from(other).nodes_changed(), 1U);
  destroy(other);
}

// What could not be put back into it is put back before anything is copied from it.
TEST_P(UpdateFrom, AGraphThatAFailureDamagedIsRepairedFirst) {
  priority_ = -2;
  graph other = captured();
  priority_ = -1;
  simulator().plan({.function = "cuGraphKernelNodeCopyAttributes",
                    .nth = 2,
                    .code = 999,
                    .after_effect = true,
                    .from_then_on = true});
  EXPECT_FALSE(other.try_recapture(
      stream_, [&](graph_builder& gb) { body(gb); }, with()));
  simulator().clear_faults();
  EXPECT_EQ(graph_.update_from(std::move(other)).nodes_changed(), 1U);
  graph_.resync();
  priority_ = -2;
  EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 0U);
}

// What a foreign launch does not tell of is what the graph's node has.
TEST_P(UpdateFrom, AttributesThatWereKnownStayKnown) {
  launch_attribute domain{.id = 10};  // memory synchronisation domain
  domain.value[0] = std::byte{1};
  const auto with_domain = [&](graph_builder& gb) {
    launch(gb, {.grid = grid_, .block = 32, .priority = priority_, .attributes = {&domain, 1}},
           add_, x_, value_, static_cast<int>(count));
  };
  graph made = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
  value_ = 2;
  const CUgraph other = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 2); }).release();
  EXPECT_EQ(made.update_from(other).nodes_changed(), 1U);
  destroy(other);
  const change_report report = recapture(made, with_domain);
  ASSERT_EQ(report.nodes_changed(), 1U);
  ASSERT_EQ(report.changes()[0].fields.size(), 1U);
  EXPECT_EQ(report.changes()[0].fields[0].field, "attribute[10]");
}

TEST_P(UpdateFrom, ItselfIsRefused) { EXPECT_THROW(graph_.update_from(graph_.get()), usage_error); }

INSTANTIATE_TEST_SUITE_P(Engines, UpdateFrom, ::testing::ValuesIn(compare_cases({12040, 13000})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
