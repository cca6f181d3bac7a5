// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/expect.hpp"
#include "support/foreign_calls.hpp"

// Executables that other code instantiated, adopted or borrowed.

namespace cugraft::testing {
namespace {

class ForeignExec : public EngineSuite {
 protected:
  static constexpr int length = 4;

  ~ForeignExec() override {
    if (native_ != nullptr) {
      EXPECT_EQ(calls_.destroy(native_), 0);
    }
  }

  void body(graph_builder& gb) {
    for (int i = 0; i < length; ++i)
      launch(gb, {.grid = 2, .block = 32, .cluster = cluster_, .priority = priority_}, add_, x_,
             value_, static_cast<int>(count));
  }
  graph captured() {
    return capture(stream_, [&](graph_builder& gb) { body(gb); });
  }
  void change(float value) {
    value_ = value;
    recapture(graph_, [&](graph_builder& gb) { body(gb); });
  }

  graph_exec borrowed(held_values held = held_values::as_graph) {
    return graph_exec::borrow(driver(), native_, graph_, held);
  }
  graph_exec adopted(held_values held = held_values::as_graph) {
    return graph_exec::adopt(driver(), std::exchange(native_, nullptr), graph_, held);
  }

  // A body of one host function, which waits for `gone`; `watched` is what the last one owns.
  static auto waiting_host(std::shared_future<void> gone, std::weak_ptr<int>& watched) {
    return [gone = std::move(gone), &watched](graph_builder& gb) {
      auto owned = std::make_shared<int>(0);
      watched = owned;
      gb.host_call([owned, gone] {
        gone.wait();
        ++*owned;
      });
    };
  }

  // What the owner's own launch leaves behind.
  float run_native(CUgraphExec exec) {
    clear(x_);
    EXPECT_EQ(calls_.launch(exec, stream_.get()), 0);
    return read(x_).front();
  }

  current_context current_{driver(), context_.get()};
  foreign_calls calls_{driver()};
  float value_ = 1;
  int priority_ = 0;
  std::optional<dim3> cluster_;
  graph graph_ = captured();
  CUgraphExec native_ = calls_.instantiate(graph_.get());
};

TEST_P(ForeignExec, ABorrowedOneIsPatched) {
  {
    graph_exec exec = borrowed();
    EXPECT_TRUE(exec.is_current());
    EXPECT_EQ(exec.get(), native_);
    EXPECT_EQ(exec.update().method, update_method::none);
    change(3);
    EXPECT_FALSE(exec.is_current());
    const exec_update update = exec.update();
    EXPECT_EQ(update.method, update_method::patched);
    EXPECT_EQ(update.nodes_patched, 4U);
    EXPECT_EQ(exec.get(), native_);
    EXPECT_EQ(run(exec, x_), 12.0F);
    exec.upload(stream_);
    stream_.synchronize();
  }
  EXPECT_EQ(run_native(native_), 12.0F);  // it is the caller's, and lives on
}

TEST_P(ForeignExec, AnAdoptedOneIsPatchedAndDestroyed) {
  const std::size_t others = simulator().live().graph_execs - 1;
  const CUgraphExec handle = native_;
  {
    graph_exec exec = adopted();
    EXPECT_TRUE(exec.is_current());
    change(3);
    EXPECT_EQ(exec.update().method, update_method::patched);
    EXPECT_EQ(exec.get(), handle);
    EXPECT_EQ(run(exec, x_), 12.0F);
  }
  EXPECT_EQ(simulator().live().graph_execs, others);
}

TEST_P(ForeignExec, ItFollowsWhatTheGraphDidSinceAsOthersDo) {
  graph_exec own = graph_.instantiate();
  change(2);
  EXPECT_TRUE(own.update());
  graph_exec exec = graph_exec::borrow(driver(), calls_.instantiate(graph_.get()), graph_);
  change(5);
  EXPECT_TRUE(exec.update());
  EXPECT_TRUE(own.update());
  EXPECT_EQ(run(exec, x_), 20.0F);
  EXPECT_EQ(run(own, x_), 20.0F);
  EXPECT_EQ(calls_.destroy(exec.release()), 0);
}

TEST_P(ForeignExec, ABorrowedOneOfUnknownValuesIsRefused) {
  change(3);
  graph_exec exec = borrowed(held_values::unknown);
  EXPECT_FALSE(exec.is_current());
  for (const update_method force :
       {update_method::automatic, update_method::patched, update_method::whole}) {
    const exec_update update = exec.update({.force = force});
    EXPECT_FALSE(update);
    ASSERT_EQ(update.refused.size(), 1U);
    EXPECT_EQ(update.refused[0].rule, "exec.unknown");
    EXPECT_EQ(update.refused[0].predicted, verdict::needs_instantiate);
    EXPECT_EQ(update.driver_calls, 0U);
  }
  EXPECT_EQ(run(exec, x_), 4.0F);  // launches run what it holds
}

TEST_P(ForeignExec, AnAdoptedOneOfUnknownValuesIsInstantiatedAnew) {
  change(3);
  const CUgraphExec handle = native_;
  graph_exec exec = adopted(held_values::unknown);
  EXPECT_FALSE(exec.is_current());
  EXPECT_EQ(exec.update({.may_instantiate = false}).refused.size(), 1U);
  EXPECT_EQ(exec.get(), handle);
  const exec_update update = exec.update();
  EXPECT_EQ(update.method, update_method::instantiated);
  ASSERT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(update.refused[0].rule, "exec.unknown");
  EXPECT_NE(exec.get(), handle);
  EXPECT_TRUE(exec.is_current());
  EXPECT_EQ(run(exec, x_), 12.0F);
  change(4);
  EXPECT_EQ(exec.update().method, update_method::patched);
}

TEST_P(ForeignExec, ABorrowedOneIsNeverReplaced) {
  graph_exec exec = borrowed();
  cluster_ = dim3(2);
  change(3);
  const exec_update update = exec.update({.destroy_first = true});
  EXPECT_FALSE(update);
  ASSERT_EQ(update.refused.size(), 4U);
  EXPECT_EQ(update.refused[0].rule, "kernel.cluster");
  EXPECT_EQ(update.refused[0].code, 0);
  const std::string name = fmt::format("executable graph {}", fmt::ptr(native_));
  EXPECT_THROW_MSG(exec.update({.force = update_method::instantiated}), usage_error,
                   "update_options: force = instantiated replaces the executable, and " + name +
                       " is borrowed: instantiate the graph, or adopt the executable");
  EXPECT_EQ(exec.update({.force = update_method::whole}).refused.size(),
            4U);  // it would be dropped
  EXPECT_EQ(exec.get(), native_);
  EXPECT_EQ(run(exec, x_), 4.0F);
}

TEST_P(ForeignExec, WholeOnlyIfForcedSinceItDropsWhatItsOwnerAttached) {
  std::atomic<int> destroyed = 0;
  const CUgraph others = captured().release();
  void* const object = calls_.attach_user_object(others, destroyed);
  const CUgraphExec exec_of_others = calls_.instantiate(others);
  EXPECT_EQ(calls_.detach_user_object(others, object), 0);
  graph taken = graph::from_native_handle(driver(), others);
  graph_exec exec = graph_exec::borrow(driver(), exec_of_others, taken);
  value_ = 3;
  EXPECT_EQ(taken.update_from(captured()).nodes_changed(), 4U);
  EXPECT_EQ(exec.update().method, update_method::patched);
  simulator().settle();
  EXPECT_EQ(destroyed, 0);
  value_ = 5;
  EXPECT_EQ(taken.update_from(captured()).nodes_changed(), 4U);
  EXPECT_EQ(exec.update({.force = update_method::whole}).method, update_method::whole);
  EXPECT_EQ(run(exec, x_), 20.0F);
  simulator().settle();
  EXPECT_EQ(destroyed, 1);  // the executable refers to it no longer
  taken.reset();
  exec.reset();
  EXPECT_EQ(run_native(exec_of_others), 20.0F);
  EXPECT_EQ(calls_.destroy(exec_of_others), 0);
}

// The driver does not tell (docs/driver/observations.md), so a change of priority is not patched.
TEST_P(ForeignExec, WhetherItUsesPrioritiesIsNotKnown) {
  constexpr unsigned long long use_node_priority = 8;
  const CUgraphExec with_priority = calls_.instantiate(graph_.get(), use_node_priority);
  {
    graph_exec exec = graph_exec::borrow(driver(), with_priority, graph_);
    priority_ = -1;
    change(1);
    const exec_update update = exec.update();
    ASSERT_EQ(update.refused.size(), 4U);
    EXPECT_EQ(update.refused[0].rule, "kernel.priority_in_use");
  }
  graph_exec exec = graph_exec::adopt(driver(), with_priority, graph_, held_values::unknown);
  EXPECT_EQ(exec.update().method, update_method::instantiated);
  priority_ = 0;
  change(1);
  EXPECT_EQ(exec.update().method, update_method::patched);  // made here, without that option
}

TEST_P(ForeignExec, HowElseItWasInstantiatedIsAsked) {
  constexpr unsigned long long auto_free_on_launch = 1;
  graph_exec exec =
      graph_exec::adopt(driver(), calls_.instantiate(graph_.get(), auto_free_on_launch), graph_,
                        held_values::unknown);
  EXPECT_EQ(exec.update().method, update_method::instantiated);
  EXPECT_EQ(calls_.flags_of(exec.get()), auto_free_on_launch);
}

// Only the driver knows which graph an executable is of.
TEST_P(ForeignExec, OneOfAnotherGraphIsFoundByTheDriversRefusal) {
  graph other = captured();
  const CUgraphExec of_other = calls_.instantiate(other.get());
  graph_exec exec = graph_exec::borrow(driver(), of_other, graph_);
  change(3);
  const exec_update update = exec.update();
  EXPECT_FALSE(update);
  ASSERT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(update.refused[0].rule, "exec.origin");
  EXPECT_EQ(update.refused[0].code, 1);
  EXPECT_EQ(update.refused[0].function, "cuGraphExecKernelNodeSetParams");
  EXPECT_EQ(update.refused[0].predicted, verdict::needs_instantiate);
  EXPECT_EQ(run(exec, x_), 4.0F);  // nothing changed, and nothing is left to be put back
  exec.close();

  graph_exec taken = graph_exec::adopt(driver(), of_other, graph_);
  EXPECT_EQ(run(taken, x_), 12.0F);  // the whole-graph update needs no origin
  change(5);
  const exec_update anew = taken.update();
  EXPECT_EQ(anew.method, update_method::instantiated);
  EXPECT_EQ(anew.refused[0].rule, "exec.origin");
  EXPECT_EQ(run(taken, x_), 20.0F);
}

TEST_P(ForeignExec, OneOfAnotherStructureIsInstantiatedAnewWhereItIsAdopted) {
  graph other = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
  graph_exec exec = graph_exec::adopt(driver(), calls_.instantiate(other.get()), graph_);
  EXPECT_FALSE(exec.is_current());
  EXPECT_EQ(exec.update().refused[0].rule, "exec.unknown");
  EXPECT_EQ(run(exec, x_), 4.0F);
}

TEST_P(ForeignExec, ARefusedPatchPutsEarlierNodesBack) {
  graph_exec exec = borrowed();
  change(3);
  for (unsigned nth = 1; nth <= length; ++nth) {
    simulator().plan({.function = "cuGraphExecKernelNodeSetParams", .nth = nth, .code = 1});
    const exec_update update = exec.update();
    EXPECT_FALSE(update);
    ASSERT_EQ(update.refused.size(), 1U);
    EXPECT_EQ(update.refused[0].rule, "kernel.arguments");
    EXPECT_EQ(to_string(update.refused[0].node.path), std::to_string(nth - 1));
    EXPECT_EQ(run_native(native_), 4.0F) << nth;
  }
  EXPECT_TRUE(exec.update());
  EXPECT_EQ(run_native(native_), 12.0F);
}

TEST_P(ForeignExec, WhatCouldNotBePutBackIsPutBackAtTheEnd) {
  const auto leave_damage = [&](graph_exec& exec) {
    simulator().plan({.function = "cuGraphExecKernelNodeSetParams",
                      .nth = 3,
                      .code = 999,
                      .from_then_on = true});
    EXPECT_FALSE(exec.update());
  };
  graph_exec exec = borrowed();
  change(3);
  leave_damage(exec);
  EXPECT_THROW(exec.launch(stream_), cuda_error);  // never a mixture
  simulator().clear_faults();
  exec.reset();
  EXPECT_EQ(run_native(native_), 4.0F);

  change(1);
  exec = borrowed();
  change(3);
  leave_damage(exec);
  EXPECT_THROW(exec.close(), cuda_error);
  EXPECT_FALSE(exec);
  EXPECT_TRUE(take_reports().empty());
  simulator().clear_faults();

  change(1);
  exec = borrowed();
  change(3);
  leave_damage(exec);
  exec.reset();
  EXPECT_EQ(take_reports().size(), 1U);
  simulator().clear_faults();
}

TEST_P(ForeignExec, BadInputIsRefusedAndTheExecutableStaysTheCallers) {
  const std::string name = fmt::format("executable graph {}", fmt::ptr(native_));
  const std::string of_graph = fmt::format("graph {}", fmt::ptr(graph_.get()));
  EXPECT_THROW_MSG(graph_exec::adopt(driver(), nullptr, graph_), usage_error,
                   "graph_exec::adopt: the executable graph is null: give one");
  EXPECT_THROW_MSG(graph_exec::borrow(driver(), nullptr, graph_), usage_error,
                   "graph_exec::borrow: the executable graph is null: give one");
  graph empty = captured();
  empty.reset();
  EXPECT_THROW_MSG(graph_exec::adopt(driver(), native_, empty), usage_error,
                   "graph_exec::adopt: the graph is empty: give the one that " + name +
                       " was instantiated from");
  simulator_copy other_copy(GetParam().version);
  const auto other_driver = other_copy.load();
  EXPECT_THROW_MSG(graph_exec::adopt(other_driver, native_, graph_), usage_error,
                   name + " and " + of_graph +
                       " are of two drivers: give the graph that it was instantiated from");
  {
    const recapture_session open = graph_.begin_recapture(stream_, with());
    EXPECT_THROW_MSG(graph_exec::borrow(driver(), native_, graph_), usage_error,
                     of_graph +
                         " has an open session: end or abandon it before taking an "
                         "executable of it");
  }
  const graph_exec exec = borrowed();
  const std::string twice =
      name + " belongs to a graph_exec already: use that one, or release it first";
  EXPECT_THROW_MSG(graph_exec::adopt(driver(), native_, graph_), usage_error, twice);
  EXPECT_THROW_MSG(borrowed(), usage_error, twice);
  graph_exec own = graph_.instantiate();
  EXPECT_THROW(graph_exec::adopt(driver(), own.get(), graph_), usage_error);
  EXPECT_EQ(run_native(native_), 4.0F);
}

TEST_P(ForeignExec, ReleaseGivesTheHandleBack) {
  graph_exec exec = adopted();
  change(3);
  EXPECT_TRUE(exec.update());
  native_ = exec.release();
  EXPECT_FALSE(exec);
  EXPECT_EQ(run_native(native_), 12.0F);
  graph_exec again = borrowed();
  EXPECT_EQ(again.release(), native_);
  EXPECT_EQ(run_native(native_), 12.0F);
}

TEST_P(ForeignExec, MovingMovesTheTask) {
  graph_exec exec = borrowed();
  graph_exec second = std::move(exec);
  EXPECT_FALSE(exec);
  EXPECT_EQ(second.get(), native_);
  second.reset();
  second = adopted();
  EXPECT_TRUE(second);
}

// C038: it keeps its graph, so that it can be updated after the caller has let go of that.
TEST_P(ForeignExec, C038_KeepsItsGraphAlive) {
  graph_exec exec = borrowed();
  change(3);
  graph_.reset();
  EXPECT_EQ(exec.update().nodes_patched, 4U);
  EXPECT_EQ(run(exec, x_), 12.0F);
}

TEST_P(ForeignExec, WhatAPatchBroughtInIsKeptByTheWrapper) {
  std::weak_ptr<int> watched;
  const auto with_host = [&](graph_builder& gb) {
    auto owned = std::make_shared<int>(0);
    watched = owned;
    gb.host_call([owned] { ++*owned; });
  };
  graph hosting = capture(stream_, with_host);
  const CUgraphExec handle = calls_.instantiate(hosting.get());
  {
    graph_exec exec = graph_exec::borrow(driver(), handle, hosting);
    recapture(hosting, with_host);
    EXPECT_TRUE(exec.update());
    hosting.reset();
    EXPECT_EQ(calls_.launch(handle, stream_.get()), 0);
    stream_.synchronize();
    ASSERT_FALSE(watched.expired());
    EXPECT_EQ(*watched.lock(), 1);
  }
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
  EXPECT_EQ(calls_.destroy(handle), 0);
}

TEST_P(ForeignExec, WhatItsOwnerLaunchedIsKeptOverTheNextPatch) {
  std::promise<void> go;
  std::weak_ptr<int> watched;
  const auto with_host = waiting_host(go.get_future().share(), watched);
  graph hosting = capture(stream_, with_host);
  const CUgraphExec handle = calls_.instantiate(hosting.get());
  graph_exec exec = graph_exec::borrow(driver(), handle, hosting);
  recapture(hosting, with_host);
  EXPECT_TRUE(exec.update());
  const std::weak_ptr<int> launched = watched;
  EXPECT_EQ(calls_.launch(handle, stream_.get()), 0);
  recapture(hosting, with_host);
  EXPECT_TRUE(exec.update());
  EXPECT_FALSE(launched.expired());
  go.set_value();
  stream_.synchronize();
  exec.launch(stream_);  // behind it, nothing runs what was patched in before
  stream_.synchronize();
  exec.launch(stream_);
  EXPECT_TRUE(eventually([&] { return launched.expired(); }));
  stream_.synchronize();
  exec.reset();
  EXPECT_EQ(calls_.destroy(handle), 0);
}

// As with executables that were made here: the driver keeps what a running launch needs.
TEST_P(ForeignExec, AnAdoptedOneMayBeDestroyedWhileItRuns) {
  std::promise<void> go;
  std::weak_ptr<int> watched;
  const auto with_host = waiting_host(go.get_future().share(), watched);
  graph hosting = capture(stream_, with_host);
  graph_exec exec = graph_exec::adopt(driver(), calls_.instantiate(hosting.get()), hosting);
  recapture(hosting, with_host);
  EXPECT_EQ(exec.update().method, update_method::patched);
  exec.launch(stream_);
  exec.reset();
  hosting.reset();
  EXPECT_FALSE(watched.expired());
  go.set_value();
  stream_.synchronize();
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

INSTANTIATE_TEST_SUITE_P(Engines, ForeignExec, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
