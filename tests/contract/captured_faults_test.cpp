// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>
#include <string>

#include "contract/captured_suite.hpp"
#include "contract/fault_sweep.hpp"

// Each driver call of a call fails in turn: the work ran once, or the call threw and it ran at most
// once; nothing is left capturing, and the next calls are right.

namespace cugraft::testing {
namespace {

enum class phase { warm_up, first, changed, other_structure };

class CapturedFaults : public CapturedSuite {
 protected:
  void body(graph_builder& gb) {
    ++runs_;
    fill_async(gb, x_.data(), 0, x_.size());
    for (int i = 0; i < launches_; ++i) add(gb, x_, value_);
    graph_builder side = gb.fork(side_);
    add(side, y_, 1);
    gb.join(side);
    gb.keep(std::make_shared<int>(1));
  }

  float wanted() const { return value_ * static_cast<float>(launches_); }

  // Brings `run` to just before the call that is observed.
  void prepare(captured& run, phase observed) {
    launches_ = 2;
    value_ = 1;
    if (observed <= phase::first) return;
    run();
    stream_.synchronize();
    if (observed == phase::changed)
      value_ = 3;
    else
      launches_ = 3;
  }

  std::set<std::string> functions_of(phase observed) {
    captured run = fresh(observed);
    prepare(run, observed);
    simulator().start_log();
    run();
    std::set<std::string> functions;
    for (const cugraft_sim::call& each : simulator().take_log()) functions.insert(each.function);
    return functions;
  }

  captured fresh(phase observed) {
    return captured(
        stream_, [this](graph_builder& gb) { body(gb); },
        policy({.warm_up_runs = observed == phase::warm_up ? 1U : 0U}));
  }

  // @return whether the fault was met
  bool fails(phase observed, const cugraft_sim::fault& fault) {
    captured run = fresh(observed);
    prepare(run, observed);
    const std::uint64_t before = runs_;
    simulator().plan(fault);
    bool threw = false;
    try {
      run();
    } catch (const error&) {
      threw = true;
    }
    const bool hit = simulator().faults_hit() > 0;
    simulator().clear_faults();
    EXPECT_LE(runs_ - before, 2U);
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
    if (!threw) {
      EXPECT_EQ(read(x_)[0], wanted());
    }
    take_reports();
    for (int i = 0; i < 2; ++i) {  // what it left wrong is put right
      value_ += 1;
      run();
      EXPECT_EQ(read(x_)[0], wanted());
    }
    EXPECT_GT(run.stats().executables, 0U);
    return hit;
  }

  void sweep(phase observed) {
    int hits = 0;
    for (const std::string& function : functions_of(observed)) {
      for (const bool after : {false, true}) {
        if (is_unjudged_release(function, 999, after)) continue;
        for (unsigned nth = 1; nth <= 12; ++nth) {
          SCOPED_TRACE(function + " " + std::to_string(nth) + (after ? " after its work" : ""));
          // After an unknown error nobody knows whether a function will run, and it is kept for
          // ever.
          const bool is_unclear = function == "cuLaunchHostFunc" && !after;
          if (!fails(observed, {.function = function,
                                .nth = nth,
                                .code = is_unclear ? 2 : 999,
                                .after_effect = after}))
            break;
          ++hits;
        }
      }
    }
    EXPECT_GE(hits, 20);
  }
};

TEST_P(CapturedFaults, WarmUp) { sweep(phase::warm_up); }
TEST_P(CapturedFaults, FirstCall) { sweep(phase::first); }
TEST_P(CapturedFaults, ChangedCall) { sweep(phase::changed); }
TEST_P(CapturedFaults, OtherStructure) { sweep(phase::other_structure); }

INSTANTIATE_TEST_SUITE_P(Engines, CapturedFaults, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
