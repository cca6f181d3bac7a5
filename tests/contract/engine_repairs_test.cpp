// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <optional>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// What is left after failures of putting back, and after calls that fail once their work is done:
// nothing mixed is ever handed out or run.

namespace cugraft::testing {
namespace {

class EngineRepairs : public EngineSuite {
 protected:
  static constexpr int length = 4;

  void body(graph_builder& gb) {
    for (int i = 0; i < length; ++i) add(gb, x_, value_);
  }
  recapture_result again(recapture_options options = {}) {
    return graph_.try_recapture(
        stream_, [&](graph_builder& gb) { body(gb); }, with(options));
  }
  std::size_t differences() { return again({.compare_only = true}).report().nodes_changed(); }

  // A re-capture of which the driver takes the first node only, not even back.
  recapture_failure fail_to_put_back() {
    value_ = 2;
    simulator().plan(
        {.function = "cuGraphKernelNodeSetParams", .nth = 2, .code = 999, .from_then_on = true});
    const recapture_result result = again();
    simulator().clear_faults();
    value_ = 1;
    if (!result) return result.failure();
    ADD_FAILURE() << "the re-capture succeeded";
    return {};
  }

  void fail_to_put_back_in_the_executable() {
    value_ = 2;
    ASSERT_TRUE(again());
    simulator().plan({.function = "cuGraphExecKernelNodeSetParams",
                      .nth = 2,
                      .code = 999,
                      .from_then_on = true});
    EXPECT_FALSE(exec_.update({.may_instantiate = false}));
  }

  void add_an_empty_node() {
    using add_empty = int (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t);
    CUgraphNode made = nullptr;
    ASSERT_EQ(reinterpret_cast<add_empty>(driver().entry_point("cuGraphAddEmptyNode", 10000))(
                  &made, graph_.get(), nullptr, 0),
              0);
  }

  float value_ = 1;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(EngineRepairs, TheFailureSaysThatNotAllWasPutBack) {
  const recapture_failure failure = fail_to_put_back();
  EXPECT_EQ(failure.why, mismatch::driver_failure);
  EXPECT_NE(failure.message.find("put all of it back, which is tried again"), std::string::npos)
      << failure.message;
}

TEST_P(EngineRepairs, ResyncPutsBackBeforeItReads) {
  fail_to_put_back();
  graph_.resync();
  EXPECT_EQ(differences(), 0U);
  graph_exec made = graph_.instantiate();
  EXPECT_EQ(run(made, x_), 4.0F);
}

TEST_P(EngineRepairs, AReleasedGraphIsWhole) {
  fail_to_put_back();
  graph released = graph::from_native_handle(driver(), graph_.release());
  const current_context current(driver(), context_.get());
  graph_exec made = released.instantiate();
  EXPECT_EQ(run(made, x_), 4.0F);
}

TEST_P(EngineRepairs, AGraphThatCannotBePutBackIsNotReleased) {
  fail_to_put_back();
  simulator().plan({.function = "cuGraphKernelNodeSetParams", .nth = 1, .code = 999});
  EXPECT_THROW(static_cast<void>(graph_.release()), cuda_error);
  EXPECT_EQ(differences(), 0U);
}

TEST_P(EngineRepairs, ARepairThatFailsAgainLeavesANewExecutable) {
  fail_to_put_back_in_the_executable();
  const exec_update update = exec_.update();  // the setter still fails
  simulator().clear_faults();
  EXPECT_EQ(update.method, update_method::instantiated);
  ASSERT_FALSE(update.refused.empty());
  EXPECT_EQ(update.refused[0].function, "cuGraphExecKernelNodeSetParams");
  EXPECT_EQ(run(exec_, x_), 8.0F);
}

TEST_P(EngineRepairs, AMixedExecutableOfAnotherStructureIsReplaced) {
  fail_to_put_back_in_the_executable();
  simulator().clear_faults();
  add_an_empty_node();
  graph_.resync();
  EXPECT_THROW(exec_.launch(stream_), usage_error);
  EXPECT_THROW(exec_.update({.may_instantiate = false}), usage_error);
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(run(exec_, x_), 8.0F);
}

TEST_P(EngineRepairs, AFailureBeforeAnythingIsSetIsAFailureOfTheRecapture) {
  value_ = 2;
  const recapture_result result = again({.on_mismatch = [&](const node_change&) {
    simulator().clear_faults();
    fail_next("cuCtxGetCurrent", 999);
    return hook_answer::accept;
  }});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::driver_failure);
  EXPECT_EQ(result.failure().function, "cuCtxGetCurrent");
  EXPECT_TRUE(graph_.last_failure());
  value_ = 1;
  EXPECT_EQ(differences(), 0U);
}

TEST_P(EngineRepairs, AGraphThatCannotBeReadAfterItsCaptureIsAFailureOfTheCapture) {
  capture_session session = begin_capture(stream_);
  add(session, x_, 1);
  fail_next("cuGraphGetNodes", 999);
  try {
    static_cast<void>(session.end());
    ADD_FAILURE() << "the end succeeded";
  } catch (const capture_error& error) {
    EXPECT_EQ(error.failure().function, "cuGraphGetNodes");
  }
  EXPECT_FALSE(stream_.is_capturing());
}

// Host functions tell which generation ran.
class EngineGenerations : public EngineSuite {
 protected:
  struct generation {
    int number;
    std::shared_ptr<int> kept;  // read when it runs: a dead one shows under the address sanitizer
    std::vector<int>* ran;
    void operator()() const { ran->push_back(number * *kept); }
    bool operator==(const generation& other) const { return number == other.number; }
  };

  void body(graph_builder& gb, int number) {
    gb.host_call(generation{number, std::make_shared<int>(1), &ran_});
  }
  void recapture_to(int number) {
    recapture(graph_, [&](graph_builder& gb) { body(gb, number); });
  }

  std::vector<int> ran_;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb, 1); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(EngineGenerations, AWholeUpdateThatFailsAfterItsWorkIsUndone) {
  recapture_to(2);
  fail_after_next("cuGraphExecUpdate", 999);
  const exec_update refused = exec_.update({.force = update_method::whole});
  EXPECT_FALSE(refused);
  ASSERT_EQ(refused.refused.size(), 1U);
  EXPECT_EQ(refused.refused[0].code, 999);
  recapture_to(3);  // the graph lets go of the second function
  exec_.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(ran_, std::vector<int>{1});
  EXPECT_TRUE(exec_.update());
  exec_.launch(stream_);
  exec_.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(ran_, (std::vector<int>{1, 3, 3}));
}

TEST_P(EngineGenerations, AWholeUpdateThatFailsBeforeItsWorkChangesNothing) {
  recapture_to(2);
  fail_next("cuGraphExecUpdate", 999);
  EXPECT_FALSE(exec_.update({.force = update_method::whole}));
  exec_.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(ran_, std::vector<int>{1});
}

// The graph goes on with its own function where the new one is as good, foreign nodes before it or
// not.
TEST_P(EngineGenerations, AFunctionThatIsAsGoodLeavesTheGraphsOwnInPlace) {
  const foreign_calls calls(driver());
  const auto with_foreign_work = [&](graph_builder& gb) {
    if (captures())
      calls.memset_d8(reinterpret_cast<CUdeviceptr>(x_.data()), 0, 8, gb.stream().get());
    body(gb, 7);
  };
  graph g = capture(stream_, with_foreign_work);
  graph_exec e = g.instantiate();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(recapture(g, with_foreign_work).nodes_changed(), 0U);
    e.update();
    e.launch(stream_);
    stream_.synchronize();
  }
  EXPECT_EQ(ran_, (std::vector<int>{7, 7, 7}));
}

TEST_P(EngineGenerations, OwnersAreTheSameByTheirCareNotByTheirAddress) {
  const auto released = std::make_shared<std::atomic<int>>(0);
  const auto keep_one = [&](graph_builder& gb) {
    gb.keep(std::shared_ptr<void>(nullptr, [released](void*) { ++*released; }));
    body(gb, 1);
  };
  std::optional<graph> g = capture(stream_, keep_one);
  EXPECT_EQ(recapture(*g, keep_one).nodes_changed(), 0U);
  simulator().settle();
  EXPECT_EQ(*released, 1);  // the capture's
  EXPECT_EQ(g->generation(), 1U);
  g.reset();
  simulator().settle();
  EXPECT_EQ(*released, 2);
}

TEST_P(EngineGenerations, WholeUpdatesBetweenLaunchesKeepNothing) {
  // The last ones may go after the test.
  const auto alive = std::make_shared<std::atomic<int>>(0);
  const auto keep_one = [&](graph_builder& gb) {
    ++*alive;
    gb.keep(std::shared_ptr<void>(alive.get(), [alive](void*) { --*alive; }));
    body(gb, *alive);
  };
  graph g = capture(stream_, keep_one);
  graph_exec e = g.instantiate();
  const auto settled = [&] {
    eventually([&] { return *alive <= 3; });
    return alive->load();
  };
  for (int i = 0; i < 100; ++i) {
    recapture(g, keep_one);
    EXPECT_TRUE(e.update({.force = update_method::whole}));
  }
  EXPECT_LE(settled(), 3);
  for (int i = 0; i < 100; ++i) {
    recapture(g, keep_one);
    fail_next("cuGraphExecUpdate", 910);
    EXPECT_FALSE(e.update({.force = update_method::whole}));
  }
  EXPECT_LE(settled(), 3);
}

// The driver runs it and lets go of it on threads that must not call CUDA (driver rules, 6.4).
TEST_P(EngineGenerations, FunctionsThatOnlyTheDriverKnowsAreDestroyedElsewhere) {
  const auto owning = [&](int number) {
    return [this, number, memory = std::make_shared<device_buffer>(context_, 64)] {
      ran_.push_back(number);
    };
  };
  host_call(stream_, owning(1));
  stream_.synchronize();
  const foreign_calls calls(driver());
  const current_context current(driver(), context_.get());
  calls.begin_capture(side_.get());
  host_call(side_, owning(2));
  calls.launch_captured(side_.get());
  simulator().settle();
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
  EXPECT_TRUE(eventually([&] { return simulator().live().device_allocations == 2; }))
      << "more than the fixture's";
}

TEST_P(EngineGenerations, AnExecutableThatWasDestroyedForAnotherIsEmpty) {
  recapture_to(2);
  fail_next("cuGraphInstantiateWithParams", 2);
  EXPECT_THROW(exec_.update({.destroy_first = true, .force = update_method::instantiated}),
               cuda_error);
  EXPECT_FALSE(exec_);
  EXPECT_THROW(static_cast<void>(exec_.get()), usage_error);
  EXPECT_THROW(static_cast<void>(exec_.release()), usage_error);
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
}

// Owners may call CUDA when they go; on a thread that captures, that would end the capture.
TEST_P(EngineGenerations, OwnersThatCallCudaEndNobodysCapture) {
  const auto frees = [&] {
    return std::shared_ptr<void>(this, [calls = foreign_calls(driver()), in = context_.get()](
                                           void*) { calls.allocate_and_free(in); });
  };
  std::optional<graph> holder = capture(side_, [&](graph_builder& gb) {
    gb.keep(frees());
    gb.host_call([owner = frees()] { static_cast<void>(owner); });
  });
  capture_session session = begin_capture(stream_);
  add(session, x_, 1);
  holder.reset();
  {
    capture_session abandoned = begin_capture(side_);
    abandoned.keep(frees());
    abandoned.host_call([owner = frees()] { static_cast<void>(owner); });
  }
  EXPECT_EQ(session.end().node_count(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineRepairs, ::testing::ValuesIn(engine_cases()), &case_name);
INSTANTIATE_TEST_SUITE_P(Engines, EngineGenerations, ::testing::ValuesIn(engine_cases()),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
