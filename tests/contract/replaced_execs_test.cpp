// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "contract/engine_suite.hpp"
#include "contract/fault_sweep.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Another structure takes the graph's place while executables are damaged, borrowed or adopted, or
// while any driver call fails; and out of a graph that cannot be compared.

namespace cugraft::testing {
namespace {

class ReplacedExecs : public EngineSuite {
 protected:
  void body(graph_builder& gb) const {
    for (int i = 0; i < launches_; ++i) add(gb, x_, value_);
  }

  graph captured() {
    return capture(stream_, [&](graph_builder& gb) { body(gb); });
  }

  recapture_result replace(graph& which) {
    return which.try_recapture(stream_, [&](graph_builder& gb) { body(gb); },
                               {.replace_structure = true});
  }

  int launches_ = 3;
  float value_ = 1;
  current_context current_{driver(), context_.get()};
  foreign_calls calls_{driver()};
};

TEST_P(ReplacedExecs, ADamagedOneIsPutBackFirst) {
  graph g = captured();
  graph_exec exec = g.instantiate();
  value_ = 2;
  recapture(g, [&](graph_builder& gb) { body(gb); });
  simulator().plan(
      {.function = "cuGraphExecKernelNodeSetParams", .nth = 2, .code = 999, .from_then_on = true});
  EXPECT_FALSE(exec.update({.may_instantiate = false}).up_to_date);
  simulator().clear_faults();
  launches_ = 1;
  ASSERT_TRUE(replace(g));
  EXPECT_EQ(run(exec, x_), 3.0F) << "what it held before the update that failed";
  EXPECT_EQ(exec.update().method, update_method::instantiated);
  EXPECT_EQ(run(exec, x_), 2.0F);
}

TEST_P(ReplacedExecs, OneThatCannotBePutBackKeepsTheGraph) {
  graph g = captured();
  graph_exec exec = g.instantiate();
  value_ = 2;
  recapture(g, [&](graph_builder& gb) { body(gb); });
  const CUgraph before = g.get();
  simulator().plan(
      {.function = "cuGraphExecKernelNodeSetParams", .nth = 2, .code = 999, .from_then_on = true});
  EXPECT_FALSE(exec.update({.may_instantiate = false}).up_to_date);
  launches_ = 1;
  bool is_replaced = false;
  try {
    is_replaced = static_cast<bool>(replace(g));
  } catch (const cuda_error& thrown) {
    EXPECT_EQ(thrown.function(), "cuGraphExecKernelNodeSetParams");
  }
  EXPECT_FALSE(is_replaced);
  EXPECT_EQ(g.get(), before);
  EXPECT_EQ(g.node_count(), 3U);
  simulator().clear_faults();
  EXPECT_EQ(run(exec, x_), 3.0F);
}

TEST_P(ReplacedExecs, ABorrowedOneStaysItsOwnersAndIsRefused) {
  graph g = captured();
  const CUgraphExec native = calls_.instantiate(g.get());
  {
    graph_exec exec = graph_exec::borrow(driver(), native, g);
    launches_ = 1;
    ASSERT_TRUE(replace(g));
    EXPECT_EQ(run(exec, x_), 3.0F);
    const exec_update update = exec.update();
    EXPECT_FALSE(update.up_to_date);
    ASSERT_FALSE(update.refused.empty());
    EXPECT_EQ(update.refused[0].rule, "graph.structure");
    EXPECT_EQ(exec.get(), native);
  }
  g.close();
  clear(x_);
  EXPECT_EQ(calls_.launch(native, stream_.get()), 0);
  EXPECT_EQ(read(x_).front(), 3.0F);
  EXPECT_EQ(calls_.destroy(native), 0);
}

TEST_P(ReplacedExecs, AnAdoptedOneIsInstantiatedAnew) {
  graph g = captured();
  graph_exec exec = graph_exec::adopt(driver(), calls_.instantiate(g.get()), g);
  launches_ = 1;
  ASSERT_TRUE(replace(g));
  EXPECT_EQ(run(exec, x_), 3.0F);
  EXPECT_EQ(exec.update().method, update_method::instantiated);
  EXPECT_EQ(run(exec, x_), 1.0F);
}

TEST_P(ReplacedExecs, AGraphWithForeignAllocationsIsReplacedAgain) {
  bool allocates = true;
  const auto with_memory = [&](graph_builder& gb) {
    body(gb);
    if (!allocates) return;
    CUdeviceptr memory = 0;
    EXPECT_EQ(calls_.mem_alloc_async(memory, 64, gb.stream().get()), 0);
    EXPECT_EQ(calls_.memset_d8(memory, 1, 64, gb.stream().get()), 0);
    EXPECT_EQ(calls_.mem_free_async(memory, gb.stream().get()), 0);
  };
  const auto again = [&](graph& which) {
    return which.try_recapture(stream_, with_memory, {.replace_structure = true});
  };
  graph g = captured();
  graph_exec exec = g.instantiate();
  ASSERT_TRUE(again(g));
  EXPECT_EQ(g.node_count(), 6U);
  EXPECT_TRUE(exec.update());
  EXPECT_EQ(run(exec, x_), 3.0F);

  value_ = 2;
  ASSERT_TRUE(again(g)) << "the same work once more";
  EXPECT_EQ(g.node_count(), 6U);
  EXPECT_TRUE(exec.update());
  EXPECT_EQ(run(exec, x_), 6.0F);

  allocates = false;
  ASSERT_TRUE(again(g));
  EXPECT_EQ(g.node_count(), 3U);
  EXPECT_TRUE(exec.update());
  EXPECT_EQ(run(exec, x_), 6.0F);
  value_ = 3;
  EXPECT_EQ(recapture(g, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Engines, ReplacedExecs, ::testing::ValuesIn(compare_cases({12040, 13030})),
                         &case_name);

// Every call of a replacement with an executable that follows it.
class ReplacementFaults : public EngineSuite {
 protected:
  struct injected {
    std::string function;
    unsigned nth = 1;
    int code = 999;
    bool after_effect = false;
  };

  struct scenario {
    explicit scenario(ReplacementFaults& test) : test_(test) {}

    void body(graph_builder& gb, int launches) {
      gb.keep(std::make_shared<int>(launches));
      graph_builder side = gb.fork(test_.side_);
      fill_async(side, test_.y_.data(), 0, test_.y_.size());
      gb.join(side);
      for (int i = 0; i < launches; ++i) test_.add(gb, test_.x_, 1);
    }

    void replace(int launches) {
      const recapture_result result =
          graph_.try_recapture(test_.stream_, [&](graph_builder& gb) { body(gb, launches); },
                               {.replace_structure = true});
      if (!result) named_.insert(result.failure().function);
    }

    void run() {
      step([&] { replace(1); });
      step([&] {
        for (const refusal& refused : exec_.update().refused)
          if (!refused.function.empty()) named_.insert(refused.function);
      });
      step([&] { exec_.launch(test_.stream_); });
    }

    void step(const std::function<void()>& what) {
      note_failure_of(what, named_);
      EXPECT_EQ(test_.simulator().live().capturing_streams, 0U);
    }

    void expect_old_or_new_and_recover() {
      EXPECT_TRUE(graph_.node_count() == 4U || graph_.node_count() == 2U);
      const float result = test_.run(exec_, test_.x_);
      EXPECT_TRUE(result == 3.0F || result == 1.0F) << result;
      replace(5);
      EXPECT_TRUE(exec_.update());
      EXPECT_EQ(test_.run(exec_, test_.x_), 5.0F);
    }

    ReplacementFaults& test_;
    std::set<std::string> named_;
    graph graph_ = capture(test_.stream_, [&](graph_builder& gb) { body(gb, 3); });
    graph_exec exec_ = graph_.instantiate();
  };

  std::map<std::string, unsigned> calls() {
    { scenario(*this).run(); }  // what is made once is made before anything is counted
    scenario run(*this);
    simulator().settle();
    simulator().start_log();
    run.run();
    EXPECT_TRUE(run.named_.empty());
    std::map<std::string, unsigned> result;
    for (const cugraft_sim::call& call : simulator().take_log()) ++result[call.function];
    return result;
  }

  void inject(const injected& fault) {
    SCOPED_TRACE(fault.function + " call " + std::to_string(fault.nth) + " gives " +
                 std::to_string(fault.code) + (fault.after_effect ? " after its work" : ""));
    const world_check world(simulator());
    {
      scenario run(*this);
      simulator().settle();
      simulator().plan({.function = fault.function,
                        .nth = fault.nth,
                        .code = fault.code,
                        .after_effect = fault.after_effect});
      run.run();
      // How often the library's own thread sets its capture mode depends on who is there first.
      if (fault.function != "cuThreadExchangeStreamCaptureMode") {
        EXPECT_EQ(simulator().faults_hit(), 1U);
      }
      simulator().clear_faults();
      stream_.synchronize();
      run.expect_old_or_new_and_recover();
    }
    world.expect_unchanged();
    take_reports();
  }
};

TEST_P(ReplacementFaults, EveryCallMayFail) {
  const std::map<std::string, unsigned> all = calls();
  for (const char* const function : {"cuStreamBeginCapture", "cuStreamEndCapture",
                                     "cuGraphInstantiateWithParams", "cuGraphDestroy"})
    EXPECT_TRUE(all.contains(function)) << function;
  for (const auto& [function, count_of_calls] : all)
    for (unsigned nth = 1; nth <= count_of_calls; ++nth)
      for (const bool after_effect : {false, true})
        for (const int code : {999, 2})
          if (!is_unjudged_release(function, code, after_effect))
            inject({function, nth, code, after_effect});
}

INSTANTIATE_TEST_SUITE_P(Engines, ReplacementFaults, ::testing::ValuesIn(compare_cases({12040})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
