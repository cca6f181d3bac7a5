// SPDX-License-Identifier: Apache-2.0
#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// Which way of several that apply a change an executable takes.

namespace cugraft::testing {
namespace {

class CheapestUpdate : public EngineSuite {
 protected:
  static constexpr unsigned length = 64;

  // The first `changed_` of the launches take another value.
  void body(graph_builder& gb) const {
    for (unsigned i = 0; i < length; ++i) add(gb, x_, i < changed_ ? 2 : 1);
  }
  void change(unsigned how_many) {
    changed_ = how_many;
    recapture(graph_, [&](graph_builder& gb) { body(gb); });
  }
  float expected() const { return static_cast<float>(length + changed_); }

  unsigned changed_ = 0;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(CheapestUpdate, MostNodesAreUpdatedAtOnce) {
  change(length);
  const exec_update update = exec_.update();
  EXPECT_EQ(update.method, update_method::whole);
  EXPECT_EQ(update.nodes_patched, 0U);
  EXPECT_EQ(update.driver_calls, 1U);
  EXPECT_EQ(run(exec_, x_), expected());
  EXPECT_TRUE(exec_.is_current());
}

TEST_P(CheapestUpdate, HalfOfThemAreSetOneByOne) {
  change(length / 2);
  const exec_update update = exec_.update();
  EXPECT_EQ(update.method, update_method::patched);
  EXPECT_EQ(update.nodes_patched, length / 2);
  EXPECT_EQ(run(exec_, x_), expected());
}

TEST_P(CheapestUpdate, AWayThatIsAskedForIsTaken) {
  change(length);
  EXPECT_EQ(exec_.update({.force = update_method::patched}).nodes_patched, length);
  EXPECT_EQ(run(exec_, x_), expected());
}

// The driver's code decides: what it refuses to do at once is set one by one.
TEST_P(CheapestUpdate, ARefusalLeadsToPatches) {
  change(length);
  fail_next("cuGraphExecUpdate", 910);
  const exec_update update = exec_.update({.may_instantiate = false});
  EXPECT_TRUE(update.up_to_date);
  EXPECT_EQ(update.method, update_method::patched);
  ASSERT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(update.refused[0].tried, update_method::whole);
  EXPECT_EQ(update.refused[0].code, 910);
  EXPECT_EQ(update.driver_calls, length + 1);
  EXPECT_EQ(run(exec_, x_), expected());
}

TEST_P(CheapestUpdate, AFailureLeavesWhatItHeld) {
  change(length);
  fail_after_next("cuGraphExecUpdate", 999);
  const exec_update update = exec_.update({.may_instantiate = false});
  EXPECT_FALSE(update.up_to_date);
  ASSERT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(update.refused[0].code, 999);
  EXPECT_EQ(run(exec_, x_), static_cast<float>(length));
  EXPECT_EQ(exec_.update().method, update_method::whole);
  EXPECT_EQ(run(exec_, x_), expected());
}

TEST_P(CheapestUpdate, OneChangeThatNothingPatchesLeadsToANewOne) {
  changed_ = length;
  const auto urgent = [&](graph_builder& gb) {
    for (unsigned i = 0; i + 1 < length; ++i) add(gb, x_, 2);
    launch(gb, {.grid = 2, .block = 32, .cooperative = true}, add_, x_, 2.0F,
           static_cast<int>(count));
  };
  recapture(graph_, urgent);
  const exec_update update = exec_.update();
  EXPECT_EQ(update.method, update_method::instantiated);
  ASSERT_EQ(update.refused.size(), 1U);
  EXPECT_EQ(update.refused[0].rule, "kernel.cooperative");
  EXPECT_EQ(run(exec_, x_), expected());
}

// The whole-graph call would drop what its owner attached to it.
TEST_P(CheapestUpdate, ABorrowedOneIsPatched) {
  const foreign_calls calls(driver());
  const current_context current(driver(), context_.get());
  const CUgraphExec native = calls.instantiate(graph_.get());
  {
    graph_exec exec = graph_exec::borrow(driver(), native, graph_);
    change(length);
    EXPECT_EQ(exec.update().method, update_method::patched);
    EXPECT_EQ(run(exec, x_), expected());
  }
  EXPECT_EQ(calls.destroy(native), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, CheapestUpdate, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
