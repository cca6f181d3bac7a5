// SPDX-License-Identifier: Apache-2.0
#include "contract/engine_suite.hpp"

// Many re-captures in a row: what a step touches, and that nothing grows.

namespace cugraft::testing {
namespace {

class EngineLoops : public EngineSuite {
 protected:
  std::uint64_t setter_calls() const {
    return simulator().calls("cuGraphKernelNodeSetParams") +
           simulator().calls("cuGraphExecKernelNodeSetParams");
  }
  std::uint64_t instantiations() const { return simulator().calls("cuGraphInstantiateWithParams"); }
};

TEST_P(EngineLoops, C014_OnlyChangedNodesAreSet) {
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    for (int i = 0; i < 500; ++i) add(gb, x_, i % 200 == 7 ? value : 0.0F, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  value = 2;
  const std::uint64_t before = setter_calls();
  EXPECT_EQ(recapture(g, body).nodes_changed(), 3U);
  EXPECT_EQ(setter_calls() - before, 3U);  // of the graph
  const exec_update update = e.update();
  EXPECT_EQ(update.nodes_patched, 3U);
  EXPECT_EQ(update.driver_calls, 3U);
  EXPECT_EQ(setter_calls() - before, 6U);
  EXPECT_EQ(run(e, x_), 6.0F);
}

TEST_P(EngineLoops, C020_ScalarsThatChangeEachStepNeverInstantiate) {
  float time = 0;
  const auto body = [&](graph_builder& gb) {
    for (int i = 0; i < 7; ++i) add(gb, x_, i % 3 == 0 ? time : 1.0F);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  const std::uint64_t before = instantiations();
  for (int step = 1; step <= 1000; ++step) {
    time = static_cast<float>(step);
    ASSERT_EQ(recapture(g, body).nodes_changed(), 3U);
    ASSERT_EQ(e.update().nodes_patched, 3U);
  }
  EXPECT_EQ(instantiations(), before);
  EXPECT_EQ(g.generation(), 1000U);
  EXPECT_EQ(e.generation(), 1000U);  // C077: one more with each applied change
  EXPECT_EQ(run(e, x_), 3004.0F);
}

TEST_P(EngineLoops, C028_HandlesDoNotGrowOverManyRecaptures) {
  int step = 0;
  const auto body = [&](graph_builder& gb) {
    gb.keep(std::make_shared<int>(step));
    graph_builder side = gb.fork(side_);
    fill_async(side, y_.data(), 0, 4);
    gb.join(side);
    for (int i = 0; i < 8; ++i) add(gb, x_, i == step % 8 ? static_cast<float>(step) : 0.0F);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  const auto again = [&] {
    ++step;
    recapture(g, body);
    e.update();
    e.launch(stream_);
  };
  const auto settled = [&] {
    stream_.synchronize();
    e.launch(stream_);  // lets go of what the launches before it needed
    stream_.synchronize();
    simulator().settle();
    return simulator().live();
  };
  for (int i = 0; i < 20; ++i) again();
  const cugraft_sim::live_handles before = settled();
  for (int i = 0; i < 2000; ++i) again();
  const cugraft_sim::live_handles after = settled();
  EXPECT_EQ(after.graphs, before.graphs);
  EXPECT_EQ(after.graph_execs, before.graph_execs);
  EXPECT_EQ(after.user_objects, before.user_objects);
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_LE(after.events, before.events + 1);  // the mark of the last launch may be out
  EXPECT_EQ(after.device_allocations, before.device_allocations);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineLoops,
                         ::testing::Values(engine_case{engine::native, 13030}), &case_name);

}  // namespace
}  // namespace cugraft::testing
