// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "contract/captured_suite.hpp"

// The front door: what a call does, and how often the body runs for it.

namespace cugraft::testing {
namespace {

class CapturedCalls : public CapturedSuite {};

TEST_P(CapturedCalls, TheFirstCallCapturesAndLaterOnesRecapture) {
  captured run = front();
  EXPECT_EQ(run.stats().calls, 0U);
  for (value_ = 1; value_ <= 3; ++value_) step(run);
  value_ = 3;
  step(run);  // nothing changed
  expect_result();
  const captured_stats stats = run.stats();
  EXPECT_EQ(stats.calls, 4U);
  EXPECT_EQ(stats.body_runs, 4U);
  EXPECT_EQ(stats.eager_runs, 0U);
  EXPECT_EQ(stats.captures, 1U);
  EXPECT_EQ(stats.recaptures, 3U);
  EXPECT_EQ(stats.patched, 2U);
  EXPECT_EQ(stats.instantiations, 1U);
  EXPECT_EQ(stats.cache_misses, 1U);
  EXPECT_EQ(stats.cache_hits, 3U);
  EXPECT_EQ(stats.executables, 1U);
  EXPECT_EQ(stats.nodes, 2U);
  EXPECT_EQ(stats.bytes, 2 * (sizeof(void*) + sizeof(float) + sizeof(int)));
  EXPECT_FALSE(stats.last_failure);
}

// C029
TEST_P(CapturedCalls, NothingIsMadeBeforeTheFirstCall) {
  std::vector<captured> all;
  const auto instantiated = simulator().calls("cuGraphInstantiateWithParams");
  for (int i = 0; i < 67; ++i) all.push_back(front());
  EXPECT_EQ(runs_, 0U);
  step(all[3]);
  step(all[60]);
  EXPECT_EQ(simulator().calls("cuGraphInstantiateWithParams") - instantiated, 2U);
  expect_result();
}

// C008
TEST_P(CapturedCalls, ABrokenCaptureRunsTheBodyEagerlyOnce) {
  captured run = front();
  for (int i = 1; i <= 5; ++i) {
    breaks_ = i == 3;
    value_ = static_cast<float>(i);
    step(run);
  }
  expect_result();
  const captured_stats stats = run.stats();
  EXPECT_EQ(stats.eager_runs, 1U);
  EXPECT_EQ(stats.broken_captures, 1U);
  EXPECT_EQ(stats.body_runs, 6U);
  EXPECT_EQ(stats.instantiations, 1U);  // the executable was kept
  ASSERT_TRUE(stats.last_failure);
  EXPECT_EQ(stats.last_failure->why,
            captures() ? mismatch::capture_invalidated : mismatch::foreign_work);
  EXPECT_FALSE(stats.has_given_up);
}

TEST_P(CapturedCalls, ABrokenFirstCaptureRunsEagerlyAsWell) {
  captured run = front();
  breaks_ = true;
  step(run);
  breaks_ = false;
  step(run);
  expect_result();
  EXPECT_EQ(run.stats().eager_runs, 1U);
  EXPECT_EQ(run.stats().captures, 1U);
}

TEST_P(CapturedCalls, AForkThatIsNotJoinedBreaksTheCaptureWhateverElseDiffers) {
  bool joins = true;
  captured run(
      stream_,
      [&](graph_builder& gb) {
        body(gb);
        graph_builder side = gb.fork(1)[0];
        if (joins) return gb.join(side);
        add(side, y_, 1);  // also a node more
      },
      policy());
  step(run);
  joins = false;
  step(run);
  EXPECT_EQ(run.stats().eager_runs, 1U);
  EXPECT_EQ(run.stats().broken_captures, 1U);
  joins = true;
  step(run);
  expect_result();
  EXPECT_EQ(run.stats().instantiations, 1U);
}

TEST_P(CapturedCalls, GivesUpAfterSoManyBrokenCapturesInARowWithOneWarning) {
  captured run = front({.give_up_after = 3});
  breaks_ = true;
  step(run);
  step(run);
  breaks_ = false;
  step(run);  // works again, so they are not in a row
  breaks_ = true;
  for (int i = 0; i < 5; ++i) step(run);
  EXPECT_TRUE(run.stats().has_given_up);
  EXPECT_EQ(run.stats().broken_captures, 5U);
  EXPECT_EQ(run.stats().eager_runs, 7U);
  EXPECT_EQ(run.stats().executables, 0U);
  const std::uint64_t before = runs_;
  step(run);
  EXPECT_EQ(runs_, before + 1);  // nothing is tried
  const std::vector<std::string> reports = take_reports();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("3 captures in a row broke"), std::string::npos) << reports[0];

  run.reset();
  EXPECT_FALSE(run.stats().has_given_up);
  for (int i = 0; i < 3; ++i) step(run);
  EXPECT_TRUE(run.stats().has_given_up);
  EXPECT_EQ(take_reports().size(), 0U);  // at most one a minute
  run.reset();
  breaks_ = false;
  step(run);
  EXPECT_EQ(run.stats().executables, 1U);
  expect_result();
}

// C046
TEST_P(CapturedCalls, EachCallDoesTheWorkOnce) {
  launches_ = 1;
  captured run = front({.warm_up_runs = 2});
  for (int i = 0; i < 10; ++i) {
    breaks_ = i == 5;
    if (i == 7) launches_ = 2, value_ = 0.5F;  // another structure that does the same
    step(run);
  }
  EXPECT_EQ(expected_, 10);
  expect_result();
  const captured_stats stats = run.stats();
  EXPECT_EQ(stats.eager_runs, 3U);
  EXPECT_EQ(stats.captures, 2U);
  EXPECT_EQ(stats.body_runs, 11U + runs_for_another_structure() - 1);
  EXPECT_EQ(stats.body_runs, runs_);
}

// C046, the mode that never runs the body more than once in a call
TEST_P(CapturedCalls, AtMostOnceMeansCompareAndABrokenCaptureThrows) {
  captured run = front({.warm_up_runs = 1, .retries = 0});
  for (int i = 0; i < 8; ++i) {
    launches_ = 1 + i % 3;
    step(run);
    EXPECT_EQ(runs_, static_cast<std::uint64_t>(i + 1));
  }
  expect_result();
  EXPECT_EQ(run.stats().captures, 3U);
  breaks_ = true;
  EXPECT_THROW(run(), capture_error);
  EXPECT_EQ(runs_, 9U);
  EXPECT_FALSE(stream_.is_capturing());
  expect_result();
  breaks_ = false;
  step(run);
  expect_result();
  EXPECT_EQ(run.stats().eager_runs, 1U);
  EXPECT_EQ(run.stats().broken_captures, 1U);
}

TEST_P(CapturedCalls, ForeignWorkIsCapturedByWhateverEngineCan) {
  captured run(
      stream_,
      [&](graph_builder& gb) {
        ++runs_;
        foreign_.memset_d8(reinterpret_cast<CUdeviceptr>(x_.data()), 0, x_.size(),
                           gb.stream().get());
        add(gb, x_, value_);
      },
      policy());
  for (value_ = 1; value_ <= 4; ++value_) {
    run();
    EXPECT_EQ(read(x_)[0], value_);
  }
  EXPECT_EQ(runs_, captures() ? 4U : 7U);
  EXPECT_EQ(run.stats().instantiations, 1U);
  EXPECT_EQ(run.stats().last_failure.has_value(), !captures());
  EXPECT_EQ(run.stats().eager_runs, 0U);
}

TEST_P(CapturedCalls, WhatAHookRejectsIsThrownAndRunsNothing) {
  bool rejects = false;
  captured_policy with_hook = policy();
  with_hook.recapture.on_mismatch = [&](const node_change&) {
    return rejects ? hook_answer::reject : hook_answer::accept;
  };
  captured run(
      stream_, [this](graph_builder& gb) { body(gb); }, with_hook);
  step(run);
  value_ = 2;
  rejects = true;
  EXPECT_THROW(run(), recapture_error);
  EXPECT_EQ(run.stats().last_failure->why, mismatch::rejected);
  EXPECT_EQ(run.stats().broken_captures, 0U);
  rejects = false;
  step(run);
  expect_result();
}

TEST_P(CapturedCalls, ResetStartsAgainAndCopiesShare) {
  captured run = front({.warm_up_runs = 1});
  captured copy = run;
  step(run);
  step(copy);
  EXPECT_EQ(run.stats().captures, 1U);
  copy.reset();
  EXPECT_EQ(run.stats().executables, 0U);
  step(run);
  EXPECT_EQ(run.stats().eager_runs, 2U);
  step(run);
  EXPECT_EQ(run.stats().captures, 2U);
  EXPECT_EQ(run.stats().calls, 4U);
  expect_result();
}

TEST_P(CapturedCalls, MisuseIsRefusedAndDoesNoHarm) {
  EXPECT_THROW(captured(stream_, {}), usage_error);
  EXPECT_THROW(captured(stream_ref(driver(), nullptr), [](graph_builder&) {}), usage_error);
  EXPECT_THROW(front({.max_executables = 0}), usage_error);
  EXPECT_THROW(front({.recapture = {.compare_only = true}}), usage_error);
  EXPECT_THROW(front({.retries = 0, .recapture = {.in_place = true}}), usage_error);
  EXPECT_THROW(captured(stream_, [](graph_builder&) {},
                        {.retries = 0, .recapture = {.with = engine::direct}}),
               usage_error);

  captured run = front();
  captured taken = std::move(run);
  EXPECT_THROW_MSG(run(), usage_error,  // NOLINT(bugprone-use-after-move): what it is about
                   "the captured was moved from: use the one that has its body");
  EXPECT_THROW(static_cast<void>(run.stats()), usage_error);
  EXPECT_THROW(run.reset(), usage_error);
  {
    capture_session open = begin_capture(stream_);
    EXPECT_THROW(taken(), usage_error);
  }
  step(taken);
  expect_result();
}

TEST_P(CapturedCalls, TheBodyCannotCallItsOwn) {
  std::unique_ptr<captured> run;
  int refused = 0;
  run = std::make_unique<captured>(
      stream_,
      [&](graph_builder& gb) {
        body(gb);
        try {
          (*run)();
        } catch (const usage_error&) {
          ++refused;
        }
        EXPECT_THROW(run->reset(), usage_error);
        EXPECT_EQ(run->stats().calls, 1U);
      },
      policy());
  step(*run);
  EXPECT_EQ(refused, 1);
  expect_result();
}

TEST_P(CapturedCalls, AnExceptionOfTheBodyLeavesEachPhaseUnchanged) {
  for (const unsigned warm_up : {1U, 0U}) {
    bool throws = true;
    captured run(
        stream_,
        [&](graph_builder& gb) {
          graph_builder side = gb.fork(side_);
          if (throws) throw std::out_of_range("of the body");
          gb.join(side);
          body(gb);
        },
        policy({.warm_up_runs = warm_up}));
    for (int i = 0; i < 4; ++i) {  // eager, capture, re-capture, another structure
      throws = true;
      EXPECT_THROW(run(), std::out_of_range);
      EXPECT_FALSE(stream_.is_capturing());
      EXPECT_FALSE(side_.is_capturing());
      throws = false;
      value_ = static_cast<float>(i);
      launches_ = i < 3 ? 2 : 3;
      step(run);
    }
    expect_result();
    EXPECT_EQ(run.stats().broken_captures, 0U);
  }
}

TEST_P(CapturedCalls, TimesTellWhetherTheGraphIsWorthIt) {
  captured run = front({.warm_up_runs = 2});
  EXPECT_FALSE(run.stats().break_even());
  EXPECT_NE(to_text(run.stats()).find("worth a graph? not known"), std::string::npos);
  for (int i = 0; i < 5; ++i) step(run);
  const captured_stats stats = run.stats();
  EXPECT_EQ(stats.times.eager.count, 2U);
  EXPECT_EQ(stats.times.capture.count, 1U);
  EXPECT_EQ(stats.times.instantiate.count, 1U);
  EXPECT_EQ(stats.times.recapture.count, 2U);
  EXPECT_EQ(stats.times.update.count, 2U);
  EXPECT_EQ(stats.times.launch.count, 3U);
  EXPECT_EQ(stats.break_even().has_value(), stats.graph_call() < stats.eager_call());
  EXPECT_NE(to_text(stats).find("5 calls, 5 runs of the body"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Engines, CapturedCalls, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
