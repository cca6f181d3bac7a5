// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "contract/captured_suite.hpp"

// Structures that come and go: what is kept, what goes, and what that costs.

namespace cugraft::testing {
namespace {

class CapturedCache : public CapturedSuite {
 protected:
  std::size_t execs_alive() const { return simulator().live().graph_execs; }
  std::size_t graphs_alive() const { return simulator().live().graphs; }
};

// C022
TEST_P(CapturedCache, FreshAddressesNeedNoNewExecutable) {
  const device_buffer many(context_, 1000 * count * sizeof(float));
  std::size_t step = 0;
  captured run(
      stream_,
      [&](graph_builder& gb) {
        float* const at = many.as<float>() + step * count;
        launch(gb, {.grid = 1, .block = 32}, add_, at, 1.0F, 1);
        launch(gb, {.grid = 1, .block = 32}, add_, at, 2.0F, 1);
      },
      policy());
  fill_async(stream_, many.data(), 0, many.size());
  run();
  const cugraft_sim::live_handles live = simulator().live();
  while (++step < 1000) run();
  stream_.synchronize();
  const captured_stats stats = run.stats();
  EXPECT_EQ(stats.captures, 1U);
  EXPECT_EQ(stats.instantiations, 1U);
  EXPECT_EQ(stats.patched + stats.whole_updates, 999U);
  EXPECT_EQ(stats.cache_hits, 999U);
  EXPECT_EQ(stats.cache_misses, 1U);
  EXPECT_EQ(simulator().live().device_allocations, live.device_allocations);
  EXPECT_EQ(simulator().live().graph_execs, live.graph_execs);
  float last = 0;
  copy_async(stream_, &last, many.as<float>() + 999 * count, sizeof last);
  stream_.synchronize();
  EXPECT_EQ(last, 3);
}

// C023: the fingerprint is the key, so another order, edge or function is another structure, and
// other arguments are not.
TEST_P(CapturedCache, TheFingerprintIsTheKey) {
  int variant = 0;
  captured run(
      stream_,
      [&](graph_builder& gb) {
        if (variant == 1) fill_async(gb, y_.data(), 0, 4);
        add(gb, x_, value_);
        if (variant != 1) fill_async(gb, y_.data(), 0, 4);
        if (variant != 2) return add(gb, x_, value_);
        graph_builder side = gb.fork(side_);
        add(side, x_, value_);
        gb.join(side);
        add(gb, x_, value_);
      },
      policy());
  for (const int each : {0, 1, 2, 0, 1, 2}) {
    variant = each;
    run();
    value_ += 1;
    run();
  }
  EXPECT_EQ(run.stats().captures, 3U);
  EXPECT_EQ(run.stats().instantiations, 3U);
  EXPECT_EQ(run.stats().cache_hits, 9U);
}

// C041
TEST_P(CapturedCache, TwoStructuresThatAlternateAreKept) {
  bool is_x = true;
  captured run(
      stream_,
      [&](graph_builder& gb) {
        ++runs_;
        add(gb, x_, 1);
        add(gb, x_, 2);
        if (is_x) add(gb, x_, 4, 8);
      },
      policy());
  for (int i = 0; i < 32; ++i) {
    is_x = i / 4 % 2 == 0;
    run();
    expected_ += is_x ? 7 : 3;
  }
  expect_result();
  EXPECT_EQ(run.stats().captures, 2U);
  EXPECT_EQ(run.stats().instantiations, 2U);
  EXPECT_EQ(run.stats().cache_misses, 2U);
  EXPECT_EQ(run.stats().cache_hits, 30U);
  EXPECT_EQ(run.stats().body_runs, 32 + 7 * (runs_for_another_structure() - 1));
  EXPECT_EQ(run.stats().executables, 2U);
  EXPECT_EQ(run.stats().nodes, 5U);
}

// C040: with room for one, each count is a new executable, and nothing is left of the old.
TEST_P(CapturedCache, AnotherCountReplacesThePairAsAUnit) {
  captured run = front({.max_executables = 1});
  launches_ = 5;
  step(run);
  const std::size_t execs = execs_alive(), graphs = graphs_alive();
  for (const int launches : {6, 4, 5}) {
    launches_ = launches;
    step(run);
    expect_result();
  }
  EXPECT_EQ(run.stats().instantiations, 4U);
  EXPECT_EQ(run.stats().evictions, 3U);
  EXPECT_EQ(execs_alive(), execs);
  EXPECT_EQ(graphs_alive(), graphs);
}

// C026
TEST_P(CapturedCache, AtMostSoManyAreAlive) {
  captured run = front({.max_executables = 10});
  const std::size_t before = execs_alive();
  for (int i = 0; i < 50; ++i) {
    launches_ = 20 + i;
    step(run);
    stream_.synchronize();
    EXPECT_LE(execs_alive() - before, 10U);
  }
  expect_result();
  EXPECT_EQ(run.stats().evictions, 40U);
  EXPECT_EQ(run.stats().executables, 10U);
  EXPECT_EQ(run.stats().nodes, 10U * 60 + 45);
  EXPECT_FALSE(run.stats().has_given_up);
}

TEST_P(CapturedCache, TheLeastRecentlyUsedGoesFirst) {
  captured run = front({.max_executables = 2});
  for (const int launches : {1, 2, 1, 3, 1}) {  // 3 takes the place of 2
    launches_ = launches;
    step(run);
  }
  EXPECT_EQ(run.stats().instantiations, 3U);
  EXPECT_EQ(run.stats().cache_hits, 2U);
  expect_result();
}

// C025
TEST_P(CapturedCache, TheOldExecutableStaysUntilTheNewOneIsMade) {
  for (const bool first : {false, true}) {
    captured run = front({.max_executables = 1, .evict_first = first});
    launches_ = 2;
    step(run);
    stream_.synchronize();
    launches_ = 3;
    fail_next("cuGraphInstantiateWithParams", 2);
    // By `compare` a run of the body is left for an eager one, else it was needed for the capture.
    const bool has_run_left = runs_for_another_structure() == 1;
    if (has_run_left)
      step(run);
    else
      EXPECT_THROW(run(), cuda_error);
    EXPECT_EQ(run.stats().last_failure->code, 2);
    EXPECT_EQ(run.stats().executables, first ? 0U : 1U);
    launches_ = 2;
    step(run);
    EXPECT_EQ(run.stats().instantiations, first ? 2U : 1U);
    expect_result();
  }
}

// C044: grids are arguments
TEST_P(CapturedCache, AHundredGridsAreOneStructure) {
  unsigned grid = 0;
  captured run(
      stream_, [&](graph_builder& gb) { add(gb, x_, 1, grid); }, policy());
  for (grid = 2; grid < 102; ++grid) run();
  EXPECT_EQ(run.stats().instantiations, 1U);
  EXPECT_EQ(run.stats().patched + run.stats().whole_updates, 99U);
  EXPECT_EQ(read(x_)[0], 100);
}

// C044: node counts are structures
TEST_P(CapturedCache, AHundredNodeCountsEndInEagerCallsAndOneWarning) {
  captured run = front({.max_executables = 4, .give_up_after_evictions = 16});
  for (launches_ = 1; launches_ <= 100; ++launches_) step(run);
  launches_ = 100;
  expect_result();
  EXPECT_EQ(run.stats().instantiations, 20U);
  EXPECT_EQ(run.stats().evictions, 16U);
  EXPECT_EQ(run.stats().eager_runs, 80U);
  EXPECT_TRUE(run.stats().has_given_up);
  EXPECT_EQ(run.stats().executables, 0U);
  const std::vector<std::string> reports = take_reports();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("16 structures in a row went from its cache of 4"), std::string::npos)
      << reports[0];
}

// What a builder allocates keeps its address through re-captures, and comes anew with another
// structure.
TEST_P(CapturedCache, BodiesMayAllocate) {
  const auto allocating = [&](graph_builder& gb) {
    void* const made = gb.allocate(count * sizeof(float));
    fill_async(gb, made, 0, count * sizeof(float));
    for (int i = 0; i < launches_; ++i)
      launch(gb, {.grid = 2, .block = 32}, add_, static_cast<float*>(made), value_,
             static_cast<int>(count));
    copy_async(gb, x_.data(), made, x_.size());
    gb.free(made);
  };
  captured_policy given = policy({.warm_up_runs = 1});
  if (given.recapture.with == engine::native) given.recapture.with = engine::automatic;
  captured run(stream_, allocating, given);
  for (int i = 0; i < 8; ++i) {
    value_ = static_cast<float>(i);
    launches_ = 1 + i / 3 % 2;
    run();
    EXPECT_EQ(read(x_)[0], value_ * static_cast<float>(launches_)) << i;
  }
  captured once(stream_, allocating, policy({.retries = 0}));
  for (int i = 0; i < 4; ++i) {
    value_ = static_cast<float>(i);
    once();
    EXPECT_EQ(read(x_)[0], value_ * static_cast<float>(launches_)) << i;
  }
  EXPECT_EQ(once.stats().body_runs, 4U);
}

// Another size is the same structure by its fingerprint, and nothing applies it: the pair is made
// anew.
TEST_P(CapturedCache, AnotherSizeOfMemoryMakesThePairAnew) {
  std::size_t bytes = 256;
  captured_policy given = policy();
  given.recapture.with = engine::automatic;
  captured run(
      stream_,
      [&](graph_builder& gb) {
        void* const made = gb.allocate(bytes);
        fill_async(gb, made, 3, bytes);
        copy_async(gb, x_.data(), made, 4);
        gb.free(made);
      },
      given);
  run();
  stream_.synchronize();
  const std::size_t execs = execs_alive(), graphs = graphs_alive();
  for (bytes = 512; bytes < 4096; bytes *= 2) run();
  EXPECT_EQ(run.stats().instantiations, 4U);
  EXPECT_EQ(run.stats().executables, 1U);
  EXPECT_EQ(run.stats().eager_runs, 0U);
  stream_.synchronize();
  EXPECT_EQ(execs_alive(), execs);
  EXPECT_EQ(graphs_alive(), graphs);
}

// A driver makes one executable of a graph with conditions.
TEST_P(CapturedCache, BodiesMayHaveConditions) {
  captured_policy given = policy();
  given.recapture.with = engine::automatic;  // `native` takes none
  captured run(
      stream_,
      [&](graph_builder& gb) {
        add(gb, x_, value_);
        gb.if_then(gb.create_condition(1), [&](graph_builder& inner) {
          for (int i = 0; i < launches_; ++i) add(inner, x_, value_);
        });
      },
      given);
  for (int i = 0; i < 6; ++i) {
    value_ = static_cast<float>(i);
    launches_ = 1 + i / 2 % 2;
    run();
    expected_ += value_ * static_cast<float>(1 + launches_);
    expect_result();
  }
  EXPECT_EQ(run.stats().eager_runs, 0U);
}

// C028
TEST_P(CapturedCache, SoakOfUpdatesGrowsNothing) {
  int changed = 0;
  captured run(
      stream_,
      [&](graph_builder& gb) {
        for (int i = 0; i < 32; ++i)
          launch(gb, {.grid = 1, .block = 1}, add_, x_.as<float>(), i == 7 ? value_ : 0.0F, 1);
        gb.keep(std::make_shared<int>(changed));
      },
      policy());
  constexpr int steps = CUGRAFT_SOAK_STEPS / 10;
  cugraft_sim::live_handles warm;
  for (changed = 0; changed < steps; ++changed) {
    value_ = static_cast<float>(changed % 2);
    run();
    stream_.synchronize();
    if (changed == 20) {
      simulator().settle();
      warm = simulator().live();
    }
  }
  stream_.synchronize();
  simulator().settle();
  EXPECT_EQ(simulator().live().graph_execs, warm.graph_execs);
  EXPECT_EQ(simulator().live().graphs, warm.graphs);
  EXPECT_EQ(simulator().live().device_allocations, warm.device_allocations);
  EXPECT_LE(simulator().live().user_objects, warm.user_objects);
  EXPECT_EQ(simulator().live().streams, warm.streams);
  EXPECT_EQ(simulator().live().events, warm.events);
  EXPECT_EQ(read(x_)[0], steps / 2);
}

INSTANTIATE_TEST_SUITE_P(Engines, CapturedCache, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
