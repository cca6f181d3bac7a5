// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Many re-captures in a row: what a step touches, and that nothing grows.

namespace cugraft::testing {
namespace {

class EngineLoops : public EngineSuite {
 protected:
  std::uint64_t setter_calls() const {
    return simulator().calls("cuGraphKernelNodeSetParams") +
           simulator().calls("cuGraphExecKernelNodeSetParams");
  }
  // Bytes that the process has allocated and not freed, the driver's among them.
  static std::size_t memory_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  // Bytes of the process that lie in memory: a real driver has not only what `malloc` gave it.
  static std::size_t resident_memory() {
    std::size_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  std::size_t device_memory() const {
    return foreign_calls(driver()).device_memory_in_use(context_.get());
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

TEST_P(EngineLoops, C028_NothingGrowsOverManyRecaptures) {
  int step = 0;
  const auto body = [&](graph_builder& gb) {
    gb.keep(std::make_shared<int>(step));
    graph_builder side = gb.fork(side_);
    fill_async(side, y_.data(), 0, 4);
    gb.join(side);
    for (int i = 0; i < 32; ++i) add(gb, x_, i == step % 32 ? static_cast<float>(step) : 0.0F, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  const auto again = [&] {
    ++step;
    recapture(g, body);
    e.update();
    if (step % 100 == 0) e.launch(stream_);
  };
  const auto settled = [&] {
    stream_.synchronize();
    e.launch(stream_);  // lets go of what the launches before it needed
    stream_.synchronize();
    simulator().settle();
    return simulator().live();
  };
  for (int i = 0; i < 1000; ++i) again();
  const cugraft_sim::live_handles before = settled();
  const std::size_t memory_before = memory_in_use(), resident_before = resident_memory(),
                    device_before = device_memory();
  for (int i = 0; i < CUGRAFT_SOAK_STEPS; ++i) again();
  const cugraft_sim::live_handles after = settled();
  EXPECT_EQ(after.graphs, before.graphs);
  EXPECT_EQ(after.graph_execs, before.graph_execs);
  EXPECT_EQ(after.user_objects, before.user_objects);
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_LE(after.events, before.events + 1);  // the mark of the last launch may be out
  EXPECT_EQ(after.device_allocations, before.device_allocations);
  // The smallest block left a step would be 320 000 bytes. What waits for the next launch is less,
  // and so are the bits by which the simulated driver knows the handles that are gone, 34 a step of
  // a scratch graph; what another thread lets go of takes a moment.
  EXPECT_TRUE(eventually([&] { return memory_in_use() <= memory_before + 200'000; }))
      << memory_in_use() << " bytes, before " << memory_before;
  if (has_real_driver()) {
    // What it has beside `malloc` it takes in larger pieces.
    EXPECT_LE(resident_memory(), resident_before + 4'000'000);
    EXPECT_LE(device_memory(), device_before + 2'000'000);
  }
  RecordProperty("allocated_bytes_before", std::to_string(memory_before));
  RecordProperty("allocated_bytes_after", std::to_string(memory_in_use()));
  RecordProperty("resident_bytes_before", std::to_string(resident_before));
  RecordProperty("resident_bytes_after", std::to_string(resident_memory()));
  RecordProperty("device_bytes_before", std::to_string(device_before));
  RecordProperty("device_bytes_after", std::to_string(device_memory()));
}

// Runs 1000 times what C007 breaks once.
TEST_P(EngineLoops, C007_CapturesThatAreNotJoinedLeaveNothing) {
  graph g = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
  graph_exec e = g.instantiate();
  const auto unjoined = [&](graph_builder& gb) {
    graph_builder side = gb.fork(side_);
    add(side, y_, 1);
  };
  const auto once = [&] {
    EXPECT_THROW(static_cast<void>(capture(stream_, unjoined)), capture_error);
    EXPECT_FALSE(g.try_recapture(stream_, unjoined, with()));
    ASSERT_FALSE(stream_.is_capturing());
    ASSERT_FALSE(side_.is_capturing());
  };
  for (int i = 0; i < 100; ++i) once();
  const cugraft_sim::live_handles before = simulator().live();
  const std::size_t memory_before = memory_in_use();
  for (int i = 0; i < 1000; ++i) once();
  EXPECT_EQ(simulator().live().graphs, before.graphs);
  EXPECT_EQ(simulator().live().events, before.events);
  EXPECT_EQ(simulator().live().streams, before.streams);
  EXPECT_LE(memory_in_use(), memory_before + 16'384);  // the smallest blocks would be 32 000
  EXPECT_EQ(recapture(g, [&](graph_builder& gb) { add(gb, x_, 2); }).nodes_changed(), 1U);
  e.update();
  EXPECT_EQ(run(e, x_), 2.0F);
}

// Another count of nodes is a normal outcome, with either side's count told; the graph and its
// executable go on.
TEST_P(EngineLoops, C040_OtherCountsAreRefusedAndTheNextStepWorks) {
  int kernels = 5;
  const auto body = [&](graph_builder& gb) {
    for (int i = 0; i < kernels; ++i) add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  for (const int other : {6, 4}) {
    kernels = other;
    const recapture_failure failure = fail(g, body);
    EXPECT_EQ(failure.why, mismatch::node_count);
    EXPECT_EQ(failure.nodes_matched, static_cast<std::size_t>(std::min(other, 5)));
    EXPECT_EQ(run(e, x_), 5.0F);
  }
  kernels = 5;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  graph larger = capture(stream_, [&](graph_builder& gb) {
    kernels = 6;
    body(gb);
  });
  graph_exec second = larger.instantiate();
  EXPECT_EQ(run(second, x_), 6.0F);
  EXPECT_EQ(run(e, x_), 5.0F);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineLoops, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
