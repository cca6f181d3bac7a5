// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "contract/fault_sweep.hpp"
#include "contract/memory_suite.hpp"

// Every driver call of a graph that allocates, and of one with copies and fills of rows, fails in
// turn, before and after its work: the graph and its executable do their old work or all of the
// new, nothing is left, and the next step works.

namespace cugraft::testing {
namespace {

class MemoryFaults : public MemorySuite {
 protected:
  struct scenario {
    explicit scenario(MemoryFaults& test) : test_(test) {}

    void body(graph_builder& gb) {
      copy_2d_async(gb, test_.y_.data(), 32, test_.host_.data(), 32, width_, 4);
      fill_2d_async(gb, test_.y_.data(), 32, static_cast<std::uint32_t>(width_), 16, 4);
      test_.body(gb);
    }

    void change(float value, std::size_t width) {
      test_.value_ = value;
      width_ = width;
    }

    void run() {
      change(1, 16);
      step([&] { graph_ = capture(test_.stream_, [&](graph_builder& gb) { body(gb); }); });
      if (!graph_) return;
      step([&] { exec_ = graph_->instantiate(); });
      change(3, 8);
      step([&] { again(); });
      if (!exec_) return;
      step([&] {
        for (const refusal& refused : exec_->update({.destroy_first = true}).refused)
          named_.insert(refused.function);
        exec_->launch(test_.stream_);
      });
      step([&] { static_cast<void>(graph_memory_usage(test_.context_)); });
    }

    void again() {
      graph_->recapture(
          test_.stream_, [&](graph_builder& gb) { body(gb); }, test_.with());
    }

    void step(const std::function<void()>& what) {
      note_failure_of(what, named_);
      EXPECT_EQ(test_.simulator().live().capturing_streams, 0U);
    }

    void expect_sound() {
      if (!graph_) return;
      change(5, 16);
      again();
      if (!exec_) exec_ = graph_->instantiate();
      EXPECT_TRUE(exec_->update({.destroy_first = true}));
      EXPECT_EQ(test_.run(*exec_, test_.x_), 5.0F);
    }

    MemoryFaults& test_;
    std::size_t width_ = 16;
    std::optional<graph> graph_;
    std::optional<graph_exec> exec_;
    std::set<std::string> named_;
  };

  std::map<std::string, unsigned> calls() {
    scenario(*this).run();  // what is kept for the next time is made before anything is counted
    stream_.synchronize();
    scenario counted(*this);
    simulator().settle();
    simulator().start_log();
    counted.run();
    EXPECT_TRUE(counted.named_.empty() || counted.named_ == std::set<std::string>{""});
    simulator().settle();
    std::map<std::string, unsigned> result;
    for (const cugraft_sim::call& call : simulator().take_log()) ++result[call.function];
    return result;
  }

  void inject(const cugraft_sim::fault& fault) {
    SCOPED_TRACE(fault.function + " call " + std::to_string(fault.nth) + " gives " +
                 std::to_string(fault.code) + (fault.after_effect ? " after its work" : ""));
    const world_check world(simulator());
    bool was_hit = false, was_named = false;
    {
      scenario run(*this);
      simulator().settle();
      simulator().plan(fault);
      run.run();
      was_hit = simulator().faults_hit() != 0;
      simulator().clear_faults();
      stream_.synchronize();
      run.expect_sound();
      simulator().settle();
      was_named = run.named_.contains(fault.function);
    }
    world.expect_unchanged();
    for (const std::string& report : take_reports())
      was_named |= report.find(fault.function) != std::string::npos;
    EXPECT_TRUE(was_named || !was_hit) << "nothing named the function";
  }
};

TEST_P(MemoryFaults, EveryCallOfInterestMayFail) {
  const std::map<std::string, unsigned> all = calls();
  for (const char* const function :
       {"cuMemAllocAsync", "cuMemFreeAsync", "cuGraphAddEmptyNode",
        "cuStreamUpdateCaptureDependencies", "cuGraphMemAllocNodeGetParams",
        "cuGraphMemFreeNodeGetParams", "cuMemcpy2DAsync", "cuMemsetD2D8Async",
        "cuGraphMemcpyNodeSetParams", "cuGraphMemsetNodeSetParams", "cuGraphKernelNodeSetParams",
        "cuGraphInstantiateWithParams", "cuGraphLaunch", "cuStreamEndCapture",
        "cuStreamGetCaptureInfo", "cuGraphGetNodes", "cuGraphNodeGetType",
        "cuDeviceGetGraphMemAttribute"}) {
    ASSERT_TRUE(all.contains(function)) << function;
    for (unsigned nth = 1; nth <= all.at(function); ++nth)
      for (const bool after_effect : {false, true})
        for (const int code : {999, 2})
          inject({.function = function, .nth = nth, .code = code, .after_effect = after_effect});
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, MemoryFaults, ::testing::ValuesIn(compare_cases({12040, 13030})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
