// SPDX-License-Identifier: Apache-2.0
#include "contract/engine_suite.hpp"

// Executables over several re-captures: what they hold, and how they follow.

namespace cugraft::testing {
namespace {

class EngineExecutables : public EngineSuite {
 protected:
  static constexpr int length = 8;

  void body(graph_builder& gb) {
    for (int i = 0; i < length; ++i) add(gb, x_, values_[static_cast<std::size_t>(i)]);
  }
  void recapture_all() {
    recapture(graph_, [&](graph_builder& gb) { body(gb); });
  }

  std::vector<float> values_ = std::vector<float>(length, 1.0F);
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(EngineExecutables, SeveralRecapturesBetweenTwoUpdates) {
  values_[2] = 10;
  recapture_all();
  values_[2] = 20;
  values_[5] = 30;
  recapture_all();
  EXPECT_EQ(graph_.generation(), 2U);
  const exec_update update = exec_.update();
  EXPECT_EQ(update.nodes_patched, 2U);
  EXPECT_EQ(run(exec_, x_), 56.0F);
}

TEST_P(EngineExecutables, ChangeThatWasTakenBackCostsNothing) {
  values_[3] = 10;
  recapture_all();
  EXPECT_FALSE(exec_.is_current());
  values_[3] = 1;
  recapture_all();
  EXPECT_TRUE(exec_.is_current());
  const exec_update update = exec_.update();
  EXPECT_EQ(update.method, update_method::none);
  EXPECT_EQ(update.driver_calls, 0U);
  EXPECT_EQ(exec_.generation(), 2U);
}

TEST_P(EngineExecutables, C058_ExecutablesAreIndependent) {
  graph_exec behind = graph_.instantiate();
  values_[0] = 10;
  recapture_all();
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 17.0F);
  EXPECT_EQ(run(behind, x_), 8.0F);
  graph_exec made_now = graph_.instantiate();
  EXPECT_TRUE(made_now.is_current());
  EXPECT_EQ(run(made_now, x_), 17.0F);
  behind.update();
  EXPECT_EQ(run(behind, x_), 17.0F);
}

TEST_P(EngineExecutables, C056_RefusedPatchPutsEarlierNodesBack) {
  values_ = std::vector<float>(length, 2.0F);
  recapture_all();
  simulator().plan({.function = "cuGraphExecKernelNodeSetParams", .nth = 5, .code = 1});
  const exec_update update = exec_.update({.may_instantiate = false});
  EXPECT_FALSE(update);
  ASSERT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(to_string(update.refused[0].node.path), "4");
  EXPECT_EQ(update.refused[0].code, 1);
  EXPECT_EQ(update.refused[0].function, "cuGraphExecKernelNodeSetParams");
  EXPECT_EQ(update.refused[0].predicted, verdict::patchable);
  EXPECT_EQ(update.refused[0].tried, update_method::patched);
  EXPECT_FALSE(exec_.is_current());
  EXPECT_EQ(run(exec_, x_), 8.0F);
  EXPECT_TRUE(exec_.update());
  EXPECT_EQ(run(exec_, x_), 16.0F);
}

TEST_P(EngineExecutables, RefusedPatchLeadsToANewExecutableWhereAllowed) {
  values_[1] = 2;
  recapture_all();
  fail_next("cuGraphExecKernelNodeSetParams", 1);
  const exec_update update = exec_.update();
  EXPECT_TRUE(update);
  EXPECT_EQ(update.method, update_method::instantiated);
  EXPECT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(run(exec_, x_), 9.0F);
}

TEST_P(EngineExecutables, NodesThatCannotBePutBackAreRepairedBeforeTheNextLaunch) {
  values_ = std::vector<float>(length, 2.0F);
  recapture_all();
  simulator().plan(
      {.function = "cuGraphExecKernelNodeSetParams", .nth = 4, .code = 999, .from_then_on = true});
  EXPECT_FALSE(exec_.update({.may_instantiate = false}));
  EXPECT_THROW(exec_.launch(stream_), cuda_error);  // never a mixture
  simulator().clear_faults();
  EXPECT_EQ(run(exec_, x_), 8.0F);
}

TEST_P(EngineExecutables, ExecutableRecoversFromAnUpdateInWhichEverythingFailed) {
  values_ = std::vector<float>(length, 2.0F);
  recapture_all();
  simulator().plan(
      {.function = "cuGraphExecKernelNodeSetParams", .nth = 2, .code = 999, .from_then_on = true});
  simulator().plan({.function = "cuGraphInstantiateWithParams", .nth = 1, .code = 2});
  EXPECT_THROW(exec_.update({.destroy_first = true}), cuda_error);
  simulator().clear_faults();
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(run(exec_, x_), 16.0F);
}

TEST_P(EngineExecutables, AttributesThatCannotBePutBackAreRepaired) {
  int priority = 0;
  const auto body = [&](graph_builder& gb) {
    for (int i = 0; i < 2; ++i)
      launch(gb, {.grid = 2, .block = 32, .priority = priority}, add_, x_, 1.0F,
             static_cast<int>(count));
  };
  graph g = capture(stream_, body);
  priority = -1;
  simulator().plan({.function = "cuGraphKernelNodeSetParams", .nth = 2, .code = 999});
  simulator().plan(
      {.function = "cuGraphKernelNodeCopyAttributes", .nth = 4, .code = 999, .from_then_on = true});
  EXPECT_FALSE(g.try_recapture(stream_, body, with()));
  simulator().clear_faults();
  priority = 0;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  using get_attribute = int (*)(CUgraphNode, int, void*);
  const auto get =
      reinterpret_cast<get_attribute>(driver().entry_point("cuGraphKernelNodeGetAttribute", 11000));
  for (std::size_t node = 0; node < 2; ++node) {
    alignas(8) int value[16] = {};
    ASSERT_EQ(get(g.node(node).get(), 8, value), 0);  // CU_LAUNCH_ATTRIBUTE_PRIORITY
    EXPECT_EQ(value[0], 0);
  }
}

TEST_P(EngineExecutables, StructureThatResyncFoundIsARefusalOfItsOwn) {
  using add_empty = int (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t);
  CUgraphNode made = nullptr;
  ASSERT_EQ(reinterpret_cast<add_empty>(driver().entry_point("cuGraphAddEmptyNode", 10000))(
                &made, graph_.get(), nullptr, 0),
            0);
  graph_.resync();
  EXPECT_EQ(graph_.node_count(), 9U);
  const exec_update refused = exec_.update({.may_instantiate = false});
  EXPECT_FALSE(refused);
  ASSERT_EQ(refused.refused.size(), 1U);
  EXPECT_EQ(refused.refused[0].rule, "graph.structure");
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(run(exec_, x_), 8.0F);
}

TEST_P(EngineExecutables, WholeGraphUpdateWhenForced) {
  values_[6] = 5;
  recapture_all();
  const exec_update update =
      exec_.update({.may_instantiate = false, .force = update_method::whole});
  EXPECT_TRUE(update);
  EXPECT_EQ(update.method, update_method::whole);
  EXPECT_EQ(run(exec_, x_), 12.0F);
}

TEST_P(EngineExecutables, WholeGraphUpdateThatTheDriverRefusesIsAValue) {
  bool cooperative = false;
  const auto body = [&](graph_builder& gb) {
    launch(gb, {.grid = 2, .block = 32, .cooperative = cooperative}, add_, x_, 1.0F,
           static_cast<int>(count));
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  cooperative = true;
  EXPECT_EQ(recapture(g, body).overall(), verdict::needs_instantiate);
  const exec_update update = e.update({.may_instantiate = false, .force = update_method::whole});
  EXPECT_FALSE(update);
  ASSERT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(update.refused[0].code, 910);
  EXPECT_EQ(update.refused[0].update_result, 8);
  EXPECT_EQ(update.refused[0].function, "cuGraphExecUpdate");
  EXPECT_EQ(run(e, x_), 1.0F);
  EXPECT_EQ(e.update().method, update_method::instantiated);
}

TEST_P(EngineExecutables, ForceInstantiated) {
  const CUgraphExec old = exec_.get();
  EXPECT_EQ(exec_.update({.force = update_method::instantiated}).method,
            update_method::instantiated);
  EXPECT_NE(exec_.get(), old);
}

TEST_P(EngineExecutables, ContradictoryOptionsAreRefused) {
  EXPECT_THROW(exec_.update({.force = update_method::none}), usage_error);
  EXPECT_THROW(exec_.update({.may_instantiate = false, .force = update_method::instantiated}),
               usage_error);
}

TEST_P(EngineExecutables, C025_TheOldExecutableLivesUntilTheNewOneExists) {
  fail_next("cuGraphInstantiateWithParams", 2);
  EXPECT_THROW(exec_.update({.force = update_method::instantiated}), cuda_error);
  EXPECT_EQ(run(exec_, x_), 8.0F);
}

TEST_P(EngineExecutables, C091_UpdateWithoutAnExecutableInstantiates) {
  fail_next("cuGraphInstantiateWithParams", 2);
  EXPECT_THROW(exec_.update({.destroy_first = true, .force = update_method::instantiated}),
               cuda_error);
  EXPECT_FALSE(exec_);
  EXPECT_THROW(exec_.launch(stream_), usage_error);
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(run(exec_, x_), 8.0F);
}

TEST_P(EngineExecutables, C100_EnqueuedLaunchesKeepTheirValues) {
  clear(x_);
  exec_.launch(stream_);
  values_[0] = 11;
  recapture_all();
  exec_.update();
  exec_.launch(stream_);
  EXPECT_EQ(read(x_).front(), 26.0F);
}

TEST_P(EngineExecutables, LaunchIntoACaptureIsRefusedAndTheCaptureLives) {
  capture_session session = begin_capture(side_);
  EXPECT_THROW(exec_.launch(side_), usage_error);
  EXPECT_THROW(exec_.upload(side_), usage_error);
  EXPECT_TRUE(side_.is_capturing());
  EXPECT_EQ(session.end().node_count(), 0U);
}

TEST_P(EngineExecutables, UploadPreparesALaunch) {
  exec_.upload(stream_);
  EXPECT_EQ(run(exec_, x_), 8.0F);
  graph_exec uploaded = graph_.instantiate({.upload = stream_ref(stream_)});
  EXPECT_EQ(run(uploaded, x_), 8.0F);
}

TEST_P(EngineExecutables, ResyncSeesForeignEdits) {
  using set_params = int (*)(CUgraphNode, const void*);
  struct {
    std::uintptr_t dst;
    std::size_t pitch;
    unsigned value, element_size;
    std::size_t width, height;
  } fill{reinterpret_cast<std::uintptr_t>(y_.data()), 0, 9, 1, 8, 1};
  graph g = capture(stream_, [&](graph_builder& gb) { fill_async(gb, y_.data(), 1, 8); });
  graph_exec e = g.instantiate();
  const auto set =
      reinterpret_cast<set_params>(driver().entry_point("cuGraphMemsetNodeSetParams", 10000));
  ASSERT_EQ(set(g.node(0).get(), &fill), 0);
  EXPECT_TRUE(e.is_current());
  g.resync();
  EXPECT_EQ(g.generation(), 1U);
  EXPECT_FALSE(e.is_current());
  EXPECT_EQ(e.update().nodes_patched, 1U);
  e.launch(stream_);
  read(y_);
  EXPECT_EQ(reinterpret_cast<unsigned char*>(host_.data())[7], 9);
}

TEST_P(EngineExecutables, C055_AnotherNodeCountIsAFailureAndThenACaptureAfresh) {
  values_[3] = 10;
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    body(gb);
    add(gb, x_, 1);
  });
  EXPECT_EQ(failure.why, mismatch::node_count);
  EXPECT_EQ(run(exec_, x_), 8.0F);
  graph_ = capture(stream_, [&](graph_builder& gb) {
    body(gb);
    add(gb, x_, 1);
  });
  exec_ = graph_.instantiate();
  EXPECT_EQ(graph_.node_count(), 9U);
  EXPECT_EQ(graph_.node(8).name(), "add_value");
  EXPECT_EQ(run(exec_, x_), 18.0F);
}

TEST_P(EngineExecutables, C074_ATagLeadsToTheNodeOfEveryExecutable) {
  float value = 1;
  const auto tagged = [&](graph_builder& gb) {
    add(gb, x_, 1);
    gb.tag("step");
    add(gb, x_, value);
  };
  graph g = capture(stream_, tagged);
  graph_exec first = g.instantiate(), second = g.instantiate();
  value = 5;
  EXPECT_EQ(recapture(g, tagged).changes()[0].tag, "step");
  for (graph_exec* exec : {&first, &second}) {
    fail_next("cuGraphExecKernelNodeSetParams", 1);
    const exec_update update = exec->update({.may_instantiate = false});
    ASSERT_EQ(update.refused.size(), 1U);
    EXPECT_EQ(update.refused[0].node.tag, "step");
    EXPECT_TRUE(exec->update());
    EXPECT_EQ(run(*exec, x_), 6.0F);
  }
  ASSERT_TRUE(g.find("step"));
  EXPECT_EQ(to_string(g.find("step")->path()), "1");
}

// What a report shows is its own: it outlives the graph, and later steps do not write into it.
TEST_P(EngineExecutables, C092_ReportedBytesAreTheReportsOwn) {
  std::vector<change_report> reports;
  for (int step = 0; step < 100; ++step) {
    values_[0] = static_cast<float>(step + 2);
    reports.push_back(recapture(graph_, [&](graph_builder& gb) { body(gb); }));
  }
  EXPECT_TRUE(exec_.update());
  EXPECT_EQ(run(exec_, x_), 108.0F);
  exec_.reset();
  graph_.reset();
  const auto value_of = [](std::span<const std::byte> bytes) {
    float value = 0;
    EXPECT_EQ(bytes.size(), sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  };
  for (std::size_t step = 0; step < reports.size(); ++step) {
    ASSERT_EQ(reports[step].nodes_changed(), 1U);
    const field_change field = reports[step].changes()[0].fields[0];
    EXPECT_EQ(value_of(field.before_bytes), static_cast<float>(step + 1));
    EXPECT_EQ(value_of(field.after_bytes), static_cast<float>(step + 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineExecutables, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
