// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "contract/engine_suite.hpp"
#include "support/expect.hpp"
#include "support/foreign_calls.hpp"

// Native handles that one object of cugraft has are not given to another.

namespace cugraft::testing {
namespace {

class HeldHandles : public EngineSuite {
 protected:
  void body(graph_builder& gb) const { add(gb, x_, value_); }

  graph captured() {
    return capture(stream_, [&](graph_builder& gb) { body(gb); });
  }

  float value_ = 1;
  current_context current_{driver(), context_.get()};
  foreign_calls calls_{driver()};
  graph graph_ = captured();
  graph other_ = captured();
};

TEST_P(HeldHandles, AnExecutableOfAnotherGraphObjectIsRefused) {
  graph_exec exec = graph_.instantiate();
  const std::string refusal = fmt::format(
      "executable graph {} belongs to a graph_exec already: use that one, or release it first",
      fmt::ptr(exec.get()));
  for (graph* const each : {&graph_, &other_}) {
    EXPECT_THROW_MSG(graph_exec::adopt(driver(), exec.get(), *each), usage_error, refusal);
    EXPECT_THROW_MSG(graph_exec::borrow(driver(), exec.get(), *each), usage_error, refusal);
  }
  EXPECT_EQ(run(exec, x_), 1.0F);
}

TEST_P(HeldHandles, ABorrowedExecutableIsBorrowedOnce) {
  const CUgraphExec native = calls_.instantiate(graph_.get());
  {
    graph view = graph::borrow(driver(), graph_.get());
    const graph_exec borrowed = graph_exec::borrow(driver(), native, view);
    EXPECT_THROW(graph_exec::borrow(driver(), native, graph_), usage_error);
    EXPECT_THROW(graph_exec::adopt(driver(), native, graph_), usage_error);
  }
  graph_exec adopted = graph_exec::adopt(driver(), native, graph_);
  EXPECT_EQ(run(adopted, x_), 1.0F);
}

TEST_P(HeldHandles, WhatWasReleasedIsTaken) {
  graph_exec exec = graph_.instantiate();
  graph_exec moved = std::move(exec);
  const CUgraphExec native = moved.release();
  exec = graph_exec::adopt(driver(), native, graph_);
  EXPECT_EQ(exec.get(), native);
  value_ = 3;
  graph_.recapture(stream_, [&](graph_builder& gb) { body(gb); });
  EXPECT_TRUE(exec.update());
  EXPECT_EQ(run(exec, x_), 3.0F);
}

TEST_P(HeldHandles, AnExecutableInstantiatedAnewLetsGoOfTheOldHandle) {
  graph_exec exec = graph_.instantiate();
  const CUgraphExec before = exec.get();
  value_ = 3;
  graph_.recapture(stream_, [&](graph_builder& gb) { body(gb); });
  exec.update({.force = update_method::instantiated});
  ASSERT_NE(exec.get(), before);
  EXPECT_THROW(graph_exec::adopt(driver(), exec.get(), other_), usage_error);
  exec.close();
  EXPECT_THROW(graph_exec::adopt(driver(), before, other_), cuda_error) << "it is nobody's";
}

TEST_P(HeldHandles, TheHandleOfAGraphIsNoGraphToUpdateFrom) {
  const CUgraph handle = other_.get();
  EXPECT_THROW_MSG(static_cast<void>(graph_.try_update_from(handle)), usage_error,
                   fmt::format("update_from: graph {} is the handle of a cugraft::graph, which "
                               "does not show what its nodes need: give that graph, or release "
                               "it first",
                               fmt::ptr(handle)));
  const graph moved = std::move(other_);
  EXPECT_THROW(static_cast<void>(graph_.try_update_from(handle)), usage_error);
  EXPECT_EQ(graph_.generation(), 0U);
}

TEST_P(HeldHandles, OtherHandlesAreGraphsToUpdateFrom) {
  value_ = 2;
  calls_.begin_capture(stream_.get());
  add(stream_, x_, value_);
  const CUgraph foreign = calls_.end_capture(stream_.get());
  const graph view = graph::borrow(driver(), foreign);  // to look at it is not to have it
  EXPECT_EQ(graph_.update_from(foreign).nodes_changed(), 1U);
  value_ = 3;
  const CUgraph released = captured().release();
  EXPECT_EQ(graph_.update_from(released).nodes_changed(), 1U);
  EXPECT_EQ(calls_.destroy(released), 0);
  EXPECT_EQ(calls_.destroy(foreign), 0);
}

TEST_P(HeldHandles, AGraphThatReplacedAnotherHasItsHandle) {
  graph_exec exec = graph_.instantiate();
  graph_.recapture(stream_,
                   [&](graph_builder& gb) {
                     body(gb);
                     body(gb);
                   },
                   {.replace_structure = true});
  EXPECT_THROW(static_cast<void>(other_.try_update_from(graph_.get())), usage_error);
}

INSTANTIATE_TEST_SUITE_P(Engines, HeldHandles, ::testing::ValuesIn(compare_cases({12040, 13030})),
                         &case_name);

// Handles are numbers of a driver: two drivers have the same ones.
TEST(HeldHandlesOfDrivers, AreTheirOwn) {
  CUGRAFT_NEEDS_SIMULATOR();
  struct world {
    simulator_copy copy{contract_driver()};
    cugraft::driver driver = copy.load();
    context primary = context::primary(driver);
    current_context current{driver, primary.get()};
    stream main{primary};
    graph made = capture(main, [](graph_builder&) {});
    graph_exec exec = made.instantiate();
  };
  world first, second;
  ASSERT_EQ(first.exec.get(), second.exec.get());
  const CUgraphExec native = second.exec.release();
  second.exec = graph_exec::adopt(second.driver, native, second.made);
  EXPECT_EQ(second.exec.get(), first.exec.get());
}

}  // namespace
}  // namespace cugraft::testing
