// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>

#include "cugraft/cugraft.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"
#include "support/kernels.hpp"
#include "support/simulated_driver.hpp"

// What only the engine compare has: a scratch graph, read back in whatever order the driver gives,
// and foreign work that it sees.

namespace cugraft {
namespace {

using cugraft_sim::choice;

class CompareEngineTest : public testing::SimulatedDriverTest {
 protected:
  CompareEngineTest() : SimulatedDriverTest(12040) {}

  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), value_, 64);
    graph_builder side = gb.fork(side_);
    launch(side, {.grid = 1, .block = 32}, add_, y_, 1.0F, 16);
    copy_async(gb, z_.data(), x_.data(), 64);
    gb.join(side);
    launch(gb, {.grid = grid_, .block = 32}, add_, x_, 1.0F, 16);
  }

  template <class Body>
  recapture_result recapture(Body&& body, recapture_options options = {}) {
    options.with = engine::compare;
    return graph_.try_recapture(stream_, body, options);
  }

  recapture_result again(const recapture_options& options = {}) {
    return recapture([&](graph_builder& gb) { body(gb); }, options);
  }

  context context_ = context::primary(driver());
  library library_ = testing::load_kernels(context_);
  kernel add_ = library_.get_kernel("add_value");
  stream stream_{context_}, side_{context_};
  device_buffer x_{context_, 64}, y_{context_, 64}, z_{context_, 64};
  std::uint32_t value_ = 1;
  unsigned grid_ = 1;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  testing::foreign_calls calls_{driver()};
};

TEST_F(CompareEngineTest, NothingIsLeftOfTheScratchGraph) {
  const std::size_t before = simulator().live().graphs;
  for (unsigned i = 0; i < 3; ++i) {
    value_ = i + 2;
    ASSERT_TRUE(again());
    EXPECT_EQ(simulator().live().graphs, before);
  }
  const auto other = [&](graph_builder& gb) { fill_async(gb, y_.data(), 1, 64); };
  ASSERT_FALSE(recapture(other));
  EXPECT_EQ(simulator().live().graphs, before);
  {
    recapture_session session = graph_.begin_recapture(stream_, {.with = engine::compare});
    body(session);
  }
  EXPECT_EQ(simulator().live().graphs, before);
}

// The driver's own graph is set, nothing else: no clone, no update, no instantiation.
TEST_F(CompareEngineTest, OnlyChangedNodesAreSet) {
  grid_ = 2;
  simulator().start_log();
  const recapture_result result = again();
  ASSERT_TRUE(result);
  EXPECT_EQ(result.report().nodes_changed(), 1U);
  std::size_t setters = 0;
  for (const cugraft_sim::call& call : simulator().take_log()) {
    EXPECT_NE(call.function, "cuGraphClone");
    if (call.function.find("NodeSetParams") != std::string::npos) ++setters;
  }
  EXPECT_EQ(setters, 1U);
}

TEST_F(CompareEngineTest, CompareOnlyTouchesNothing) {
  value_ = 5;
  const recapture_result result = again({.compare_only = true});
  ASSERT_TRUE(result);
  EXPECT_EQ(result.report().nodes_changed(), 1U);
  EXPECT_EQ(graph_.generation(), 0U);
  EXPECT_EQ(again().report().nodes_changed(), 1U) << "still to be done";
}

// The order of cuGraphGetNodes is documented nowhere.
TEST_F(CompareEngineTest, TheDriversOrderOfNodesDoesNotMatter) {
  simulator().set(choice::get_nodes_order, 1);
  value_ = 3;
  grid_ = 2;
  const recapture_result result = again();
  ASSERT_TRUE(result) << result.failure().message;
  ASSERT_EQ(result.report().nodes_changed(), 2U);
  EXPECT_EQ(result.report().changes()[0].path.steps[0].node, 0U);
  EXPECT_EQ(result.report().changes()[1].path.steps[0].node, 3U);
}

TEST_F(CompareEngineTest, AMismatchNamesAForeignKernelOrFill) {
  const recapture_result result = recapture([&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, 64);
    EXPECT_EQ(calls_.memset_d8(reinterpret_cast<CUdeviceptr>(y_.data()), 1, 8, gb.stream().get()),
              0);
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::node_kind);
  ASSERT_TRUE(result.failure().found);
  EXPECT_EQ(result.failure().found->kind, node_kind::fill);
  EXPECT_EQ(result.failure().function, "") << "no driver call failed";
}

// What was captured until then is known: a mismatch there goes before the broken capture.
TEST_F(CompareEngineTest, AMismatchGoesBeforeABrokenCapture) {
  const recapture_result mismatched = recapture([&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, 64);
    fill_async(gb, x_.data(), 1, 64);
    calls_.stream_synchronize(gb.stream().get());
    fill_async(gb, x_.data(), 1, 64);
  });
  ASSERT_FALSE(mismatched);
  EXPECT_EQ(mismatched.failure().why, mismatch::node_kind);
  EXPECT_EQ(mismatched.failure().nodes_matched, 1U);
  const recapture_result broken = recapture([&](graph_builder& gb) {
    body(gb);
    calls_.stream_synchronize(gb.stream().get());
  });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.failure().why, mismatch::capture_invalidated);
  EXPECT_EQ(broken.failure().nodes_matched, 4U);
  EXPECT_EQ(again().report().nodes_changed(), 0U);
}

TEST_F(CompareEngineTest, WhatForeignCodeAttachedLivesAsLongAsItIsUsed) {
  std::atomic<int> destroyed = 0;
  const auto with_foreign = [&](graph_builder& gb) {
    EXPECT_EQ(calls_.memset_d8(reinterpret_cast<CUdeviceptr>(x_.data()),
                               static_cast<unsigned char>(value_), 8, gb.stream().get()),
              0);
    calls_.attach_user_object(gb.stream().get(), destroyed);
  };
  graph made = capture(stream_, with_foreign);
  graph_exec exec = made.instantiate();
  for (int i = 0; i < 3; ++i) {
    ++value_;
    ASSERT_TRUE(made.try_recapture(stream_, with_foreign, {.with = engine::compare}));
    EXPECT_TRUE(exec.update());
    exec.launch(stream_);
    stream_.synchronize();
    EXPECT_LE(destroyed, i + 1);
  }
  exec.reset();
  made.reset();
  EXPECT_TRUE(testing::eventually([&] { return destroyed == 4; })) << destroyed;
}

TEST_F(CompareEngineTest, WhatCannotBeReadBackIsAFailure) {
  value_ = 7;
  fail_next("cuGraphMemsetNodeGetParams", 999);
  const recapture_result result = again();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::driver_failure);
  EXPECT_EQ(result.failure().function, "cuGraphMemsetNodeGetParams");
  EXPECT_EQ(result.failure().code, 999);
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_EQ(again().report().nodes_changed(), 1U);
}

// Then the failure alone is told: nobody knows how far the capture came.
TEST_F(CompareEngineTest, WhatCannotBeReadIsNoMismatch) {
  fail_next("cuGraphGetNodes", 999);
  const recapture_result broken = recapture([&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, 64);
    calls_.stream_synchronize(gb.stream().get());
    fill_async(gb, x_.data(), 1, 64);
  });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.failure().why, mismatch::capture_invalidated);
  fail_next("cuGraphGetNodes", 999);
  const recapture_result unjoined = recapture([&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, 64);
    graph_builder side = gb.fork(side_);
    fill_async(side, y_.data(), 1, 64);
  });
  ASSERT_FALSE(unjoined);
  EXPECT_EQ(unjoined.failure().why, mismatch::capture_unjoined);
  const recapture_result another = recapture([&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, 64);
    calls_.end_and_begin_capture(gb.stream().get());
    fill_async(gb, x_.data(), 1, 64);
  });
  ASSERT_FALSE(another);
  EXPECT_EQ(another.failure().why, mismatch::capture_invalidated);
  EXPECT_EQ(again().report().nodes_changed(), 0U);
}

TEST_F(CompareEngineTest, GraphsFromElsewhereAreTaken) {
  graph adopted = graph::from_native_handle(driver(), graph_.release());
  graph_ = std::move(adopted);
  value_ = 4;
  const recapture_result result = again();
  ASSERT_TRUE(result) << result.failure().message;
  EXPECT_EQ(result.report().nodes_changed(), 1U);
}

TEST_F(CompareEngineTest, ABodyThatMayReturnEarlyIsToldAtTheEndOnly) {
  recapture_session session = graph_.begin_recapture(stream_, {.with = engine::compare});
  fill_async(session, x_.data(), 1, 64);
  fill_async(session, x_.data(), 1, 64);
  EXPECT_FALSE(session.has_failed()) << "what was captured is compared when it is whole";
  EXPECT_FALSE(session.try_end());
}

}  // namespace
}  // namespace cugraft
