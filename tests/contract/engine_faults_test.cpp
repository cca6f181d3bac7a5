// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "contract/engine_suite.hpp"
#include "contract/fault_sweep.hpp"
#include "support/eventually.hpp"

// Every driver function that a re-capture calls fails at each of its calls in turn, before and
// after it took effect. Whatever fails: no stream captures, the graph and its executable do their
// old work or all of the new, the next re-capture works, the error names the function, and nothing
// is left.

namespace cugraft::testing {
namespace {

struct injected {
  std::string function;
  unsigned nth = 1;
  int code = 999;
  bool after_effect = false;
};

std::string text_of(const injected& fault) {
  return fault.function + " call " + std::to_string(fault.nth) + " gives " +
         std::to_string(fault.code) + (fault.after_effect ? " after its work" : "");
}

/// What is observed: all of it from a capture on, or one thing that is done with a graph that has
/// an executable.
enum class path { main, whole, instantiated, uploaded, resynced, mismatched, abandoned };

class EngineFaults : public EngineSuite {
 protected:
  // Two streams, every kind of node, a host function and an owner.
  struct scenario {
    explicit scenario(EngineFaults& test) : test_(test) {}

    void body(graph_builder& gb) {
      gb.keep(owner_);
      fill_async(gb, test_.x_.data(), 0, test_.x_.size());
      graph_builder side = gb.fork(test_.side_);
      test_.add(side, test_.y_, value_);
      test_.add(gb, test_.x_, value_);
      auto forks = gb.fork(1);
      copy_async(forks[0], test_.other_.data(), test_.x_.data(), bytes_);
      gb.join(forks);
      gb.host_call([v = value_] { static_cast<void>(v); });
      gb.join(side);
      launch(gb, {.grid = 1, .block = 32, .priority = priority_}, test_.scale_, test_.x_, 2.0F,
             static_cast<int>(count));
    }

    void change(float value) {
      value_ = value;
      bytes_ = value == 1 ? 16 : 32;
      priority_ = value == 1 || test_.path_ == path::whole ? 0 : -1;
      owner_ = std::make_shared<int>(static_cast<int>(value));
    }

    // What comes before the part that is observed.
    void prepare() {
      if (test_.path_ != path::main) make();
    }

    // The part that is observed.
    void run() {
      switch (test_.path_) {
        case path::main:
          make();
          if (!graph_) return;
          change_graph();
          return update_and_launch({});
        case path::whole:
          change_graph();
          return update_and_launch({.force = update_method::whole});
        case path::instantiated:
          change_graph();
          return update_and_launch({.force = update_method::instantiated});
        case path::uploaded:
          step([&] { exec_->upload(test_.stream_); });
          return step([&] { exec_ = graph_->instantiate({.upload = test_.stream_}); });
        case path::resynced:
          step([&] { graph_->resync(); });
          return update_and_launch({});
        case path::mismatched:
          return step([&] { mismatch(); });
        case path::abandoned:
          return step([&] { abandon(); });
      }
    }

    void make() {
      step([&] { graph_ = capture(test_.stream_, [&](graph_builder& gb) { body(gb); }); });
      if (graph_) step([&] { exec_ = graph_->instantiate(); });
    }

    void change_graph() {
      change(3);
      step([&] {
        graph_->recapture(
            test_.stream_, [&](graph_builder& gb) { body(gb); }, test_.with());
      });
    }

    void update_and_launch(const update_options& options) {
      if (!exec_) return;
      step([&] {
        for (const refusal& refused : exec_->update(options).refused)
          named_.insert(refused.function);
      });
      step([&] { exec_->launch(test_.stream_); });
      step([&] { exec_->launch(test_.stream_); });
    }

    // The second node is another, and work goes on behind it, forks and foreign streams included.
    void mismatch() {
      const auto other = [&](graph_builder& gb) {
        fill_async(gb, test_.x_.data(), 0, test_.x_.size());
        fill_async(gb, test_.x_.data(), 1, test_.x_.size());
        graph_builder side = gb.fork(test_.side_);
        test_.add(side, test_.y_, value_);
        gb.host_call([v = value_] { static_cast<void>(v); });
        gb.join(side);
      };
      const recapture_result result = graph_->try_recapture(test_.stream_, other, test_.with());
      EXPECT_FALSE(result);
      if (!result) named_.insert(result.failure().function);
    }

    void abandon() {
      recapture_session session = graph_->begin_recapture(test_.stream_, test_.with());
      session.keep(owner_);
      fill_async(session, test_.x_.data(), 0, test_.x_.size());
      graph_builder side = session.fork(test_.side_);
      test_.add(side, test_.y_, value_);
      session.abandon();
    }

    void step(const std::function<void()>& what) {
      note_failure_of(what, named_);
      EXPECT_EQ(test_.simulator().live().capturing_streams, 0U);
    }

    // What was instantiated runs, with all of the old values or all of the new.
    void expect_old_or_new() {
      if (!exec_) return;
      test_.clear(test_.x_);
      exec_->launch(test_.stream_);
      const float result = test_.read(test_.x_).front();
      EXPECT_TRUE(result == 2.0F || result == 6.0F) << result;
    }

    // With nothing failing any more, the graph and the executable are as good as new ones.
    void recover() {
      if (!graph_) return;
      change(5);
      EXPECT_EQ(graph_
                    ->recapture(
                        test_.stream_, [&](graph_builder& gb) { body(gb); }, test_.with())
                    .nodes_total(),
                6U);
      if (!exec_) exec_ = graph_->instantiate();
      EXPECT_TRUE(exec_->update());
      exec_->launch(test_.stream_);
      EXPECT_EQ(test_.read(test_.x_).front(), 10.0F);
    }

    EngineFaults& test_;
    float value_ = 1;
    std::size_t bytes_ = 16;
    int priority_ = 0;
    std::shared_ptr<int> owner_ = std::make_shared<int>(1);
    std::optional<graph> graph_;
    std::optional<graph_exec> exec_;
    std::set<std::string> named_;
  };

  // How often each function is called when nothing fails.
  std::map<std::string, unsigned> calls() {
    warm_up();
    const world_check world(simulator());
    {
      scenario run(*this);
      run.prepare();
      simulator().settle();
      simulator().start_log();
      run.run();
      EXPECT_TRUE(run.named_.empty() || path_ == path::mismatched);
      simulator().settle();
    }
    world.expect_unchanged();  // the library's own thread has released what was left to it
    std::map<std::string, unsigned> result;
    for (const cugraft_sim::call& call : simulator().take_log()) ++result[call.function];
    return result;
  }

  // What is made once per process or kept for the next time is made before anything is counted.
  void warm_up() {
    scenario run(*this);
    run.prepare();
    run.run();
    stream_.synchronize();
  }

  void inject(const injected& fault) {
    SCOPED_TRACE(text_of(fault));
    const world_check world(simulator());
    bool was_named = false, was_hit = false;
    {
      scenario run(*this);
      run.prepare();
      simulator().settle();
      simulator().plan({.function = fault.function,
                        .nth = fault.nth,
                        .code = fault.code,
                        .after_effect = fault.after_effect});
      run.run();
      was_hit = simulator().faults_hit() != 0;
      if (was_hit) {  // else it is a call of the destruction below
        simulator().clear_faults();
        stream_.synchronize();
        run.expect_old_or_new();
        run.recover();
      }
      simulator().settle();
      was_named = run.named_.contains(fault.function);
    }
    world.expect_unchanged();
    if (!was_hit) {
      const bool made = simulator().faults_hit() == 1;
      simulator().clear_faults();
      // How often the library's own thread sets its capture mode depends on who is there first.
      if (!made && fault.function == "cuThreadExchangeStreamCaptureMode") return;
      EXPECT_TRUE(made) << "the call was never made";
    }
    if (is_failing()) return static_cast<void>(take_reports());
    // The library's own thread may be the one that reports, a little later.
    const auto is_named = [&] {
      for (const std::string& report : take_reports())
        was_named |= report.find(fault.function) != std::string::npos;
      return was_named;
    };
    EXPECT_TRUE(is_absorbed(fault) || eventually(is_named)) << "nothing named the function";
    take_reports();
  }

  // The session fails in any case: its first failure is told, not the later ones.
  bool is_failing() const { return path_ == path::mismatched || path_ == path::abandoned; }

  // Queries that only spare work: without an answer the work is done, or done later.
  static bool is_absorbed(const injected& fault) {
    static const std::set<std::string> spared{"cuEventQuery"};
    return spared.contains(fault.function);
  }

  // Each call of the path fails in turn, in every way. @return the functions called
  std::map<std::string, unsigned> sweep(path observed);

  device_buffer other_{context_, count * sizeof(float)};
  path path_ = path::main;
};

std::map<std::string, unsigned> EngineFaults::sweep(path observed) {
  path_ = observed;
  const std::map<std::string, unsigned> all = calls();
  std::size_t injected_count = 0;
  for (const auto& [function, count_of_calls] : all) {
    for (unsigned nth = 1; nth <= count_of_calls; ++nth) {
      for (const bool after_effect : {false, true}) {
        for (const int code : {999, 2}) {
          const injected fault{function, nth, code, after_effect};
          if (is_unjudged_release(function, code, after_effect)) continue;
          inject(fault);
          ++injected_count;
        }
      }
    }
  }
  RecordProperty("injected", static_cast<int>(injected_count));
  return all;
}

TEST_P(EngineFaults, EveryCallMayFail) {
  const std::map<std::string, unsigned> all = sweep(path::main);
  EXPECT_GT(all.size(), 30U);
  EXPECT_TRUE(all.contains("cuStreamEndCapture"));
}

TEST_P(EngineFaults, EveryCallOfAWholeUpdateMayFail) {
  EXPECT_TRUE(sweep(path::whole).contains("cuGraphExecUpdate"));
}

TEST_P(EngineFaults, EveryCallOfAnUpdateThatInstantiatesMayFail) {
  EXPECT_TRUE(sweep(path::instantiated).contains("cuGraphInstantiateWithParams"));
}

TEST_P(EngineFaults, EveryCallOfAnUploadMayFail) {
  EXPECT_TRUE(sweep(path::uploaded).contains("cuGraphUpload"));
}

TEST_P(EngineFaults, EveryCallOfAResyncMayFail) {
  EXPECT_TRUE(sweep(path::resynced).contains("cuGraphGetNodes"));
}

TEST_P(EngineFaults, EveryCallOfAFailingRecaptureMayFail) {
  EXPECT_TRUE(sweep(path::mismatched).contains("cuStreamEndCapture"));
}

TEST_P(EngineFaults, EveryCallOfAnAbandonedRecaptureMayFail) {
  EXPECT_TRUE(sweep(path::abandoned).contains("cuStreamEndCapture"));
}

// Several calls fail by chance, in sequences that seeds fix: also while the failure before is made
// up for.
TEST_P(EngineFaults, CallsMayFailByChance) {
  constexpr std::array paths{path::main,     path::whole,      path::instantiated, path::uploaded,
                             path::resynced, path::mismatched, path::abandoned};
  warm_up();
  std::size_t hits = 0;
  for (unsigned seed = 1; seed <= CUGRAFT_SOAK_STEPS / 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    path_ = paths[seed % paths.size()];
    const world_check world(simulator());
    {
      scenario run(*this);
      run.prepare();
      simulator().settle();
      simulator().plan(
          cugraft_sim::random_faults{.seed = seed, .per_million = 30'000, .codes = {999, 2, 900}});
      run.run();
      hits += simulator().faults_hit();
      simulator().clear_faults();
      stream_.synchronize();
      run.expect_old_or_new();
      run.recover();
      simulator().settle();
    }
    world.expect_unchanged();
    take_reports();
    if (HasFailure()) break;
  }
  EXPECT_GT(hits, CUGRAFT_SOAK_STEPS / 200);  // some runs make few calls
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineFaults, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
