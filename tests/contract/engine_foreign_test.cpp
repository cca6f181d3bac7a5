// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/expect.hpp"
#include "support/foreign_calls.hpp"

// Raw driver calls inside a re-capture, and calls from outside that break it.

namespace cugraft::testing {
namespace {

class EngineForeign : public EngineSuite {
 protected:
  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    result_ = calls_.memset_d8(foreign_target_, value_, 8, gb.stream().get());
    add(gb, x_, 1);
  }
  change_report again() {
    return recapture(graph_, [&](graph_builder& gb) { body(gb); });
  }

  foreign_calls calls_{driver()};
  CUdeviceptr foreign_target_ = reinterpret_cast<CUdeviceptr>(y_.data());
  unsigned char value_ = 1;
  int result_ = 0;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(EngineForeign, ForeignNodesAreMatchedAndPatched) {
  EXPECT_EQ(graph_.node_count(), 3U);
  EXPECT_EQ(again().nodes_changed(), 0U);
  EXPECT_TRUE(exec_.is_current());
  EXPECT_EQ(graph_.generation(), 0U);
  value_ = 9;
  const change_report report = again();
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "1");
  EXPECT_EQ(exec_.update().nodes_patched, 1U);
  exec_.launch(stream_);
  read(y_);
  EXPECT_EQ(host_.as<unsigned char>()[7], 9);
}

TEST_P(EngineForeign, StreamsThatForeignCodeBringsInBelongToTheSession) {
  const event forked(context_), joined(context_);
  const auto with_side = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    EXPECT_EQ(calls_.event_record(forked.get(), gb.stream().get()), 0);
    EXPECT_EQ(calls_.stream_wait_event(side_.get(), forked.get(), 0), 0);
    add(side_, x_, 1);
    EXPECT_EQ(calls_.event_record(joined.get(), side_.get()), 0);
    EXPECT_EQ(calls_.stream_wait_event(gb.stream().get(), joined.get(), 0), 0);
  };
  graph g = capture(stream_, with_side);
  EXPECT_EQ(g.node_count(), 2U);
  EXPECT_EQ(recapture(g, with_side).nodes_changed(), 0U);
}

TEST_P(EngineForeign, UserObjectsOfForeignCodeLiveAsLongAsTheyAreNeeded) {
  std::atomic<int> destroyed{0};
  const auto attach = [&](graph_builder& gb) {
    body(gb);
    calls_.attach_user_object(gb.stream().get(), destroyed);
  };
  {
    graph g = capture(stream_, attach);
    graph_exec e = g.instantiate();
    value_ = 2;
    recapture(g, attach);
    EXPECT_EQ(destroyed, 0);  // the executable runs the first generation
    e.update();
    for (int i = 0; i < 3; ++i) {
      e.launch(stream_);
      stream_.synchronize();
    }
    value_ = 3;
    recapture(g, attach);
  }
  simulator().settle();
  eventually([&] { return destroyed >= 3; });
  simulator().settle();
  EXPECT_EQ(destroyed, 3);  // neither too early nor never
}

TEST_P(EngineForeign, GraphsWithForeignAllocationsRunAndAreNotRecaptured) {
  CUdeviceptr memory = 0;
  const auto allocating = [&](graph_builder& gb) {
    EXPECT_EQ(calls_.mem_alloc_async(memory, 64, gb.stream().get()), 0);
    EXPECT_EQ(calls_.memset_d8(memory, 1, 64, gb.stream().get()), 0);
    add(gb, x_, 1);
    EXPECT_EQ(calls_.mem_free_async(memory, gb.stream().get()), 0);
  };
  graph g = capture(stream_, allocating);
  EXPECT_EQ(g.node_count(), 4U);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 1.0F);
  EXPECT_EQ(run(e, x_), 1.0F);
  const std::string node =
      fmt::format("graph {}: node 0 is of the kind allocation", fmt::ptr(g.get()));
  const std::string by_compare = fmt::format(
      "engine::compare does not take graph {}: node 0 (allocation) was not made by graph_builder, "
      "and a second capture would have its memory at another address; allocate and free through "
      "graph_builder, or capture and instantiate it anew",
      fmt::ptr(g.get()));
  if (GetParam().which == engine::native)
    EXPECT_THROW_MSG(g.begin_recapture(stream_, with()), usage_error,
                     "engine::native does not take " + node +
                         ": a re-capture works on a clone, and the driver makes none of such a "
                         "graph; use recapture_options::in_place");
  else
    EXPECT_THROW_MSG(g.begin_recapture(stream_, with()), usage_error, by_compare);
  EXPECT_THROW_MSG(g.begin_recapture(stream_), usage_error, by_compare);
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_EQ(run(e, x_), 1.0F);
}

TEST_P(EngineForeign, ForeignMismatchFailsAtTheEndAndIsSwallowedUntilThen) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    add(gb, x_, 1);  // a fill was expected
    EXPECT_EQ(calls_.memset_d8(foreign_target_, 77, 8, gb.stream().get()), 0);
  });
  EXPECT_EQ(failure.why, mismatch::node_kind);
  clear(y_);
  EXPECT_EQ(host_.as<unsigned char>()[0], host_.as<unsigned char>()[1]);
  EXPECT_EQ(again().nodes_changed(), 0U);
}

TEST_P(EngineForeign, MismatchOfAForeignCall) {
  int shown = 0;
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    shown = calls_.memset_d8(foreign_target_, 1, 8, gb.stream().get());
    shown = calls_.memset_d8(foreign_target_, 1, 8, gb.stream().get());
    shown = calls_.memset_d8(foreign_target_, 1, 8, gb.stream().get());
    add(gb, x_, 1);
  });
  if (GetParam().which == engine::compare) {
    EXPECT_EQ(shown, 0);
    EXPECT_EQ(failure.why, mismatch::node_kind);
    ASSERT_TRUE(failure.found);
    EXPECT_EQ(failure.found->kind, node_kind::fill);
  } else if (is_other(cugraft_sim::choice::recapture_failure_shows)) {
    // Nobody is told which foreign call differed; that the kernel after it went nowhere shows.
    EXPECT_EQ(shown, 0);
    EXPECT_EQ(failure.why, mismatch::node_kind);
    EXPECT_EQ(failure.found->name, "add_value");
  } else {
    EXPECT_NE(shown, 0);  // the one difference between engines: foreign code sees the error
    EXPECT_EQ(failure.why, mismatch::capture_invalidated);  // the driver's end says no more
    EXPECT_FALSE(failure.found);
  }
  EXPECT_EQ(again().nodes_changed(), 0U);
}

TEST_P(EngineForeign, C005_C010_InvalidationIsLocatedAtTheFirstRefusedCall) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    EXPECT_EQ(calls_.stream_synchronize(gb.stream().get()), 900);
    calls_.memset_d8(foreign_target_, 1, 8, gb.stream().get());
    add(gb, x_, 1);
  });
  EXPECT_EQ(failure.why, mismatch::capture_invalidated);
  EXPECT_EQ(failure.nodes_matched, 1U);
  ASSERT_TRUE(failure.expected);  // C005: what was recorded there
  EXPECT_EQ(to_string(failure.expected->path), "1");
  EXPECT_EQ(failure.expected->kind, node_kind::fill);
  EXPECT_EQ(failure.code, 901);
  EXPECT_NE(failure.message.find("capture mode thread-local"), std::string::npos)
      << failure.message;
  EXPECT_TRUE(exec_.is_current());
  exec_.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(again().nodes_changed(), 0U);
}

TEST_P(EngineForeign, C001_AnotherThreadsAllocationEndsAGlobalCaptureOnly) {
  const auto body_with_allocation = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    std::thread([&] { calls_.allocate_and_free(context_.get()); }).join();
    calls_.memset_d8(foreign_target_, value_, 8, gb.stream().get());
    add(gb, x_, 1);
  };
  const recapture_failure failure =
      fail(graph_, body_with_allocation, {.mode = capture_mode::global});
  EXPECT_EQ(failure.why, mismatch::capture_invalidated);
  EXPECT_NE(failure.message.find("capture mode global"), std::string::npos) << failure.message;
  EXPECT_EQ(run(exec_, x_), 1.0F);
  EXPECT_EQ(recapture(graph_, body_with_allocation).nodes_changed(), 0U);
}

TEST_P(EngineForeign, LibraryAllocationsEndNobodysCapture) {
  const auto allocating = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    const device_buffer scratch(context_, 64);
    const library loaded = load_kernels(context_);
    std::thread([&] { const device_buffer other(context_, 64); }).join();
    calls_.memset_d8(foreign_target_, value_, 8, gb.stream().get());
    add(gb, x_, 1);
  };
  EXPECT_EQ(recapture(graph_, allocating, {.mode = capture_mode::global}).nodes_changed(), 0U);
}

TEST_P(EngineForeign, ExecutablesMadeAndDestroyedMeanwhileEndNobodysCapture) {
  graph other = capture(side_, [&](graph_builder& gb) { add(gb, y_, 1); });
  const auto instantiating = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    {
      graph_exec passing = other.instantiate();
      passing.close();
    }
    { const graph_exec destroyed = other.instantiate(); }
    calls_.memset_d8(foreign_target_, value_, 8, gb.stream().get());
    add(gb, x_, 1);
  };
  EXPECT_EQ(recapture(graph_, instantiating).nodes_changed(), 0U);
}

TEST_P(EngineForeign, C086_TwoSessionsThatWaitOnEachOtherBothFail) {
  const event crossing(context_);
  graph other = capture(side_, [&](graph_builder& gb) { add(gb, y_, 1); });
  graph_exec other_exec = other.instantiate();
  recapture_session first = graph_.begin_recapture(stream_, with());
  recapture_session second = other.begin_recapture(side_, with());
  fill_async(first, x_.data(), 0, x_.size());
  first.stream().record(crossing);
  second.stream().wait(crossing);
  add(second, y_, 1);
  const recapture_result second_result = second.try_end();
  ASSERT_FALSE(second_result);
  EXPECT_EQ(second_result.failure().why, mismatch::capture_invalidated);
  EXPECT_EQ(second_result.failure().code, 902);
  add(first, x_, 1);
  const recapture_result first_result = first.try_end();
  ASSERT_FALSE(first_result);
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_FALSE(side_.is_capturing());
  exec_.launch(stream_);
  stream_.synchronize();  // both write to one buffer
  other_exec.launch(side_);
  side_.synchronize();
  EXPECT_EQ(again().nodes_changed(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineForeign, ::testing::ValuesIn(capturing_cases()),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
