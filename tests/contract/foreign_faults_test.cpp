// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "contract/engine_suite.hpp"
#include "contract/fault_sweep.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Every driver call of a step on a borrowed graph, with an executable that is borrowed or adopted,
// fails in turn. Whatever fails: graph and executable do all of the old work or all of the new,
// they are still their owner's, the error names the function, and nothing is left.

namespace cugraft::testing {
namespace {

class ForeignFaults : public EngineSuite {
 protected:
  struct injected {
    std::string function;
    unsigned nth = 1;
    int code = 999;
    bool after_effect = false;
  };

  // Graph and executable as their owner has them, and the step that is observed.
  struct scenario {
    scenario(ForeignFaults& test, bool adopts) : test_(test), adopts_(adopts) {
      test_.calls_.begin_capture(test_.stream_.get());
      enqueue(test_.stream_);
      native_ = test_.calls_.end_capture(test_.stream_.get());
      native_exec_ = test_.calls_.instantiate(native_);
    }
    scenario(const scenario&) = delete;
    scenario& operator=(const scenario&) = delete;

    // What the library has goes first, as far as a call of it may be the one that fails.
    void let_go() {
      exec_.reset();
      graph_.reset();
      test_.simulator().settle();
    }

    ~scenario() {
      let_go();
      EXPECT_EQ(test_.calls_.destroy(native_), 0);
      if (native_exec_ != nullptr) {
        EXPECT_EQ(test_.calls_.destroy(native_exec_), 0);
      }
    }

    void enqueue(stream_ref stream) {
      const auto target = reinterpret_cast<CUdeviceptr>(test_.x_.data());
      EXPECT_EQ(test_.calls_.memset_d8(target, 0, test_.x_.size(), stream.get()), 0);
      test_.add(stream, test_.x_, value_);
      test_.add(stream, test_.x_, value_);
    }

    void recapture() {
      graph_->recapture(test_.stream_, [&](graph_builder& gb) {
        // Foreign calls of the body are not the library's to answer for.
        fill_async(gb, test_.x_.data(), 0, test_.x_.size());
        test_.add(gb, test_.x_, value_);
        test_.add(gb, test_.x_, value_);
      });
    }

    void take_exec() {
      if (!adopts_) {
        exec_ = graph_exec::borrow(test_.driver(), native_exec_, *graph_);
        return;
      }
      exec_ = graph_exec::adopt(test_.driver(), native_exec_, *graph_);
      native_exec_ = nullptr;
    }

    void run() {
      step([&] { graph_ = graph::borrow(test_.driver(), native_); });
      if (!graph_) return;
      step([&] { take_exec(); });
      value_ = 3;
      step([&] { recapture(); });
      if (!exec_) return;
      step([&] {
        for (const refusal& refused : exec_->update({.may_instantiate = false}).refused)
          named_.insert(refused.function);
      });
      step([&] { exec_->launch(test_.stream_); });
    }

    void step(const std::function<void()>& what) {
      note_failure_of(what, named_);
      EXPECT_EQ(test_.simulator().live().capturing_streams, 0U);
    }

    void expect_old_or_new() {
      std::optional<float> result;
      if (exec_)
        result = test_.run(*exec_, test_.x_);
      else if (native_exec_ != nullptr &&
               test_.calls_.launch(native_exec_, test_.stream_.get()) == 0)
        result = test_.read(test_.x_).front();
      if (result) {
        EXPECT_TRUE(*result == 2.0F || *result == 6.0F) << *result;
      }
    }

    // With nothing failing any more, the owner's graph can be borrowed and followed again.
    void recover() {
      if (!graph_) graph_ = graph::borrow(test_.driver(), native_);
      value_ = 5;
      recapture();
      if (!exec_) exec_ = graph_->instantiate();
      EXPECT_TRUE(exec_->update());
      EXPECT_EQ(test_.run(*exec_, test_.x_), 10.0F);
    }

    ForeignFaults& test_;
    bool adopts_;
    float value_ = 1;
    CUgraph native_ = nullptr;
    CUgraphExec native_exec_ = nullptr;
    std::optional<graph> graph_;
    std::optional<graph_exec> exec_;
    std::set<std::string> named_;
  };

  std::map<std::string, unsigned> calls(bool adopts) {
    { scenario(*this, adopts).run(); }  // what is made once is made before anything is counted
    scenario run(*this, adopts);
    simulator().settle();
    simulator().start_log();
    run.run();
    EXPECT_TRUE(run.named_.empty());
    run.let_go();
    std::map<std::string, unsigned> result;
    for (const cugraft_sim::call& call : simulator().take_log()) ++result[call.function];
    return result;
  }

  void inject(bool adopts, const injected& fault) {
    SCOPED_TRACE(fault.function + " call " + std::to_string(fault.nth) + " gives " +
                 std::to_string(fault.code) + (fault.after_effect ? " after its work" : ""));
    const world_check world(simulator());
    bool was_named = false;
    {
      scenario run(*this, adopts);
      simulator().settle();
      simulator().plan({.function = fault.function,
                        .nth = fault.nth,
                        .code = fault.code,
                        .after_effect = fault.after_effect});
      run.run();
      if (simulator().faults_hit() != 0) {  // else it is a call of the release
        simulator().clear_faults();
        stream_.synchronize();
        run.expect_old_or_new();
        run.recover();
      }
      run.let_go();
      simulator().clear_faults();
      was_named = run.named_.contains(fault.function);
    }
    world.expect_unchanged();
    const auto is_named = [&] {
      for (const std::string& report : take_reports())
        was_named |= report.find(fault.function) != std::string::npos;
      return was_named;
    };
    // How often the library's own thread sets its capture mode depends on who is there first; a
    // query without an answer leaves what it would have spared.
    const bool is_absorbed =
        fault.function == "cuThreadExchangeStreamCaptureMode" || fault.function == "cuEventQuery";
    EXPECT_TRUE(is_absorbed || eventually(is_named)) << "nothing named the function";
    take_reports();
  }

  // "Invalid value" is how a setter tells of another graph's node.
  static std::vector<int> codes_of(const std::string& function) {
    if (function == "cuGraphExecKernelNodeSetParams") return {999, 2, 1};
    return {999, 2};
  }

  std::map<std::string, unsigned> sweep(bool adopts) {
    const std::map<std::string, unsigned> all = calls(adopts);
    for (const auto& [function, count_of_calls] : all)
      for (unsigned nth = 1; nth <= count_of_calls; ++nth)
        for (const bool after_effect : {false, true})
          for (const int code : codes_of(function))
            if (const injected fault{function, nth, code, after_effect};
                !is_unjudged_release(function, code, after_effect))
              inject(adopts, fault);
    return all;
  }

  current_context current_{driver(), context_.get()};
  foreign_calls calls_{driver()};
};

TEST_P(ForeignFaults, EveryCallOfAStepWithWhatIsBorrowedMayFail) {
  const std::map<std::string, unsigned> all = sweep(false);
  EXPECT_TRUE(all.contains("cuGraphExecGetFlags"));
  EXPECT_TRUE(all.contains("cuGraphExecKernelNodeSetParams"));
  EXPECT_FALSE(all.contains("cuGraphExecUpdate"));
  EXPECT_FALSE(all.contains("cuGraphExecDestroy"));
}

TEST_P(ForeignFaults, EveryCallOfAStepWithAnAdoptedExecutableMayFail) {
  const std::map<std::string, unsigned> all = sweep(true);
  EXPECT_TRUE(all.contains("cuGraphExecUpdate"));
  EXPECT_TRUE(all.contains("cuGraphExecDestroy"));
}

INSTANTIATE_TEST_SUITE_P(Engines, ForeignFaults,
                         ::testing::Values(engine_case{engine::compare, 12040}), &case_name);

}  // namespace
}  // namespace cugraft::testing
