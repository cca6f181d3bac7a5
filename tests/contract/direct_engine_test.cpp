// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "contract/engine_suite.hpp"
#include "support/expect.hpp"
#include "support/foreign_calls.hpp"

// What only the engine `direct` has: work that did not go through cugraft is found, named, and
// touches nothing.

namespace cugraft::testing {
namespace {

class DirectEngine : public EngineSuite {
 protected:
  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    add(gb, x_, value_);
  }
  /// Fails for foreign work, names `text`, and leaves all in order.
  void expect_found(const recapture_failure& failure, const std::string& text) {
    EXPECT_EQ(failure.why, mismatch::foreign_work) << failure.message;
    EXPECT_EQ(failure.code, 918);
    EXPECT_NE(failure.message.find(text), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find("did not go through cugraft"), std::string::npos);
    value_ = 1;
    EXPECT_EQ(run(exec_, x_), 1.0F);
    EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 0U);
  }

  foreign_calls calls_{driver()};
  CUdeviceptr foreign_target_ = reinterpret_cast<CUdeviceptr>(y_.data());
  float value_ = 1;
  stream third_{context_};
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(DirectEngine, ForeignNodesAreFoundWhereverTheyStand) {
  clear(y_);
  for (int where = 0; where < 3; ++where) {
    const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
      const auto foreign = [&](int at) {
        if (at != where) return;
        EXPECT_EQ(calls_.memset_d8(foreign_target_, 9, 8, gb.stream().get()), 0);
      };
      value_ = 5;
      foreign(0);
      fill_async(gb, x_.data(), 0, x_.size());
      foreign(1);
      add(gb, x_, value_);
      foreign(2);
    });
    ASSERT_EQ(failure.involved.size(), 1U);
    EXPECT_EQ(failure.involved[0].kind, node_kind::fill);
    expect_found(failure, "a node of the kind fill");
  }
  EXPECT_EQ(read(y_).front(), 0.0F);  // it ran nowhere
}

// By the calls' own words, and not as a change that a driver then refuses.
TEST_P(DirectEngine, AGridWithoutBlocksIsRefusedWhereOnlyThatDiffers) {
  const auto grid_of_graph = dim3(2);
  graph g = capture(stream_, [&](graph_builder& gb) {
    launch(gb, {.grid = grid_of_graph, .block = 64}, add_, x_, 1.0F, 3);
  });
  for (const dim3 none : {dim3(0), dim3(2, 0), dim3(2, 1, 0)}) {
    recapture_session session = g.begin_recapture(stream_, with());
    EXPECT_THROW(launch(session, {.grid = none, .block = 64}, add_, x_, 1.0F, 3), usage_error);
    launch(session, {.grid = grid_of_graph, .block = 64}, add_, x_, 1.0F, 3);
    EXPECT_EQ(session.end().nodes_changed(), 0U);
  }
}

TEST_P(DirectEngine, UnjoinedWorkIsNamedByTheTagThatItHasNow) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    graph_builder side = gb.fork(third_);
    add(side, y_, 1);
    add(gb, x_, 1);
    gb.join(side);
  });
  const recapture_failure failure = fail(g, [&](graph_builder& gb) {
    graph_builder side = gb.fork(third_);
    gb.tag("now");
    add(side, y_, 1);
    gb.tag("");
    add(gb, x_, 1);
  });
  EXPECT_EQ(failure.why, mismatch::capture_unjoined);
  ASSERT_EQ(failure.involved.size(), 1U);
  EXPECT_EQ(failure.involved[0].tag, "now");
  EXPECT_NE(failure.message.find("tag \"now\""), std::string::npos) << failure.message;
}

TEST_P(DirectEngine, ForeignWorkExplainsAMismatch) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    EXPECT_EQ(calls_.memset_d8(foreign_target_, 9, 8, gb.stream().get()), 0);
    add(gb, x_, value_);
  });
  expect_found(failure, "a node of the kind fill");
}

TEST_P(DirectEngine, ForeignKernelsAreNamed) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    body(gb);
    calls_.launch_kernel(add_.get(), foreign_target_, 1, 1, gb.stream().get());
  });
  ASSERT_EQ(failure.involved.size(), 1U);
  EXPECT_EQ(failure.involved[0].name, "add_value");
  expect_found(failure, "a node of the kind kernel \"add_value\"");
}

TEST_P(DirectEngine, ForeignWaitsBetweenItsStreamsAreFound) {
  const event passed(context_);
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    body(gb);
    const graph_builder other = gb.fork(side_);
    EXPECT_EQ(calls_.event_record(passed.get(), gb.stream().get()), 0);
    EXPECT_EQ(calls_.stream_wait_event(side_.get(), passed.get(), 0), 0);
    gb.join(other);
  });
  expect_found(failure, "waits for work that is not cugraft's");
}

TEST_P(DirectEngine, ForeignWaitsForTheCallersEventsAreFound) {
  const event passed(context_);
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    body(gb);
    gb.stream().record(passed);
    const graph_builder other = gb.fork(side_);
    EXPECT_EQ(calls_.stream_wait_event(side_.get(), passed.get(), 0), 0);
    gb.join(other);
  });
  expect_found(failure, "waits for work that is not cugraft's");
}

TEST_P(DirectEngine, AStreamThatForeignCodeBringsInIsFound) {
  const event forked(context_);
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    body(gb);
    EXPECT_EQ(calls_.event_record(forked.get(), gb.stream().get()), 0);
    EXPECT_EQ(calls_.stream_wait_event(side_.get(), forked.get(), 0), 0);
    add(side_, x_, 1);  // cugraft's own, on a stream that it does not know
  });
  expect_found(failure, "waits for work that is not cugraft's");
}

TEST_P(DirectEngine, AWaitForAnEventThatWasNeverRecordedIsNothing) {
  const event unused(context_);
  const change_report report = recapture(graph_, [&](graph_builder& gb) {
    body(gb);
    gb.stream().wait(unused);
  });
  EXPECT_EQ(report.nodes_changed(), 0U);
}

TEST_P(DirectEngine, ACallThatEndsTheHeldCaptureIsFound) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    body(gb);
    EXPECT_EQ(calls_.stream_synchronize(gb.stream().get()), 900);
  });
  EXPECT_NE(failure.message.find("capture mode thread-local"), std::string::npos);
  expect_found(failure, "a call that a capture forbids");
}

TEST_P(DirectEngine, AnotherThreadsAllocationEndsAGlobalSessionOnly) {
  const auto with_allocation = [&](graph_builder& gb) {
    body(gb);
    std::thread([&] { calls_.allocate_and_free(context_.get()); }).join();
  };
  const recapture_failure failure = fail(graph_, with_allocation, {.mode = capture_mode::global});
  EXPECT_NE(failure.message.find("capture mode global"), std::string::npos);
  expect_found(failure, "a call that a capture forbids");
  EXPECT_EQ(recapture(graph_, with_allocation).nodes_changed(), 0U);
}

TEST_P(DirectEngine, WorkOnOtherStreamsRunsAsAlways) {
  clear(y_);
  const change_report report = recapture(graph_, [&](graph_builder& gb) {
    body(gb);
    add(side_, y_, 3);
    EXPECT_EQ(calls_.memset_d8(foreign_target_ + 8, 0, 8, side_.get()), 0);
  });
  EXPECT_EQ(report.nodes_changed(), 0U);
  side_.synchronize();
  EXPECT_EQ(read(y_).front(), 3.0F);
}

TEST_P(DirectEngine, TheBodyMayRunOnceMoreWithCompare) {
  int runs = 0;
  const auto with_foreign_work = [&](graph_builder& gb) {
    ++runs;
    body(gb);
    EXPECT_EQ(calls_.memset_d8(foreign_target_, 9, 8, gb.stream().get()), 0);
  };
  graph g = capture(stream_, with_foreign_work);
  graph_exec e = g.instantiate();
  value_ = 4;
  runs = 0;
  const change_report report =
      g.recapture(stream_, with_foreign_work, with({.may_rerun_body = true}));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(report.engine_used(), engine::compare);
  EXPECT_EQ(report.nodes_changed(), 1U);
  EXPECT_FALSE(g.last_failure());
  e.update();
  EXPECT_EQ(run(e, x_), 4.0F);
}

TEST_P(DirectEngine, ABodyIsNotRunTwiceWhereCompareWouldFailAsWell) {
  int runs = 0;
  const recapture_result result = graph_.try_recapture(
      stream_,
      [&](graph_builder& gb) {
        ++runs;
        add(gb, x_, 1);
      },
      with({.may_rerun_body = true}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::node_kind);
  EXPECT_EQ(runs, 1);
}

TEST_P(DirectEngine, AnotherStructureIsTakenByRunningTheBodyWithCompare) {
  const change_report report = graph_.recapture(
      stream_,
      [&](graph_builder& gb) {
        body(gb);
        add(gb, x_, 2);
      },
      with({.may_rerun_body = true, .replace_structure = true}));
  EXPECT_TRUE(report.structure_replaced());
  EXPECT_EQ(graph_.node_count(), 3U);
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 3.0F);
  value_ = 7;
  const change_report after = recapture(graph_, [&](graph_builder& gb) {
    body(gb);
    add(gb, x_, 2);
  });
  EXPECT_EQ(after.nodes_changed(), 1U);
}

TEST_P(DirectEngine, AnUnchangedReCaptureMakesNoCallForItsNodes) {
  const auto calls = [&](int nodes) {
    const auto many = [&](graph_builder& gb) {
      for (int i = 0; i < nodes; ++i) add(gb, x_, 1);
    };
    graph g = capture(stream_, many);
    recapture(g, many);  // the first makes what is kept
    simulator().start_log();
    recapture(g, many);
    return simulator().take_log().size();
  };
  EXPECT_EQ(calls(4), calls(400));
}

TEST_P(DirectEngine, CallsOfAnotherThreadFindTheSession) {
  value_ = 6;
  recapture_session session = graph_.begin_recapture(stream_, with());
  std::thread([&] { body(session); }).join();
  EXPECT_EQ(session.end().nodes_changed(), 1U);
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 6.0F);
}

TEST_P(DirectEngine, AForeignRecordOfTheCallersEventIsFound) {
  const event passed(context_);
  const auto crossing = [&](graph_builder& gb, bool is_foreign) {
    fill_async(gb, x_.data(), 0, x_.size());
    const graph_builder other = gb.fork(side_);
    gb.stream().record(passed);
    if (is_foreign) {
      EXPECT_EQ(calls_.event_record(passed.get(), side_.get()), 0);
    }
    const graph_builder third = gb.fork(third_);
    third.stream().wait(passed);
    gb.join(std::array{other, third});
    add(gb, x_, value_);
  };
  EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { crossing(gb, false); }).nodes_changed(), 0U);
  expect_found(fail(graph_, [&](graph_builder& gb) { crossing(gb, true); }),
               "waits for work that is not cugraft's");
}

TEST_P(DirectEngine, DamageThatShowsAtAForkIsForeignWork) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    EXPECT_EQ(calls_.stream_synchronize(gb.stream().get()), 900);
    const graph_builder other = gb.fork(side_);
    body(gb);
    gb.join(other);
  });
  expect_found(failure, "a call that a capture forbids");
}

// A node that foreign code gave another function has the owner of what it did before.
TEST_P(DirectEngine, AnotherFunctionUnderTheSameOwnerIsAChange) {
  const auto one = [&](graph_builder& gb) { add(gb, x_, 2); };
  graph g = capture(stream_, one);
  graph_exec e = g.instantiate();
  const CUgraph scaling =
      capture(stream_, [&](graph_builder& gb) {
        launch(gb, {.grid = 2, .block = 32}, scale_, x_, 2.0F, static_cast<int>(count));
      }).release();
  EXPECT_EQ(g.update_from(scaling).nodes_changed(), 1U);
  EXPECT_EQ(calls_.destroy(scaling), 0);
  EXPECT_EQ(recapture(g, one).nodes_changed(), 1U);
  e.update();
  EXPECT_EQ(run(e, x_), 2.0F);
}

// What an older session holds is not what a newer one captured beside itself.
TEST_P(DirectEngine, BuildersOfFormerSessionsMayBeLetGoOfInALaterOne) {
  std::optional<graph_builder> last;
  unsigned block = 32;
  const auto keeping = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    launch(gb, {.grid = 2, .block = block, .priority = block == 32 ? 0 : -1}, add_, x_, value_,
           static_cast<int>(count));
    last = gb;
  };
  for (const unsigned each : {64U, 32U, 64U}) {
    block = each;
    EXPECT_EQ(recapture(graph_, keeping).nodes_changed(), 1U);
  }
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 1.0F);
}

TEST_P(DirectEngine, ChangedRowsOfTheGraphsOwnMemoryAskNoDriver) {
  std::size_t width = 16;
  const auto rows = [&](graph_builder& gb) {
    void* const memory = gb.allocate(256);
    copy_2d_async(gb, memory, 64, y_.data(), 64, width, 2);
    gb.free(memory);
  };
  graph g = capture(stream_, rows);
  width = 8;
  simulator().start_log();
  EXPECT_EQ(recapture(g, rows).nodes_changed(), 1U);
  for (const auto& each : simulator().take_log()) EXPECT_NE(each.function, "cuMemcpy2DAsync");
}

TEST_P(DirectEngine, LaunchesThatSignalEventsAreForeign) {
  const event passed(context_);
  launch_attribute signal;
  signal.id = 7;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
  const CUevent handle = passed.get();
  std::memcpy(signal.value.data(), &handle, sizeof handle);
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    launch(gb, {.grid = 2, .block = 32, .attributes = {&signal, 1}}, add_, x_, value_,
           static_cast<int>(count));
    side_.wait(passed);
    add(side_, y_, 1);
    gb.stream().wait(side_);
  });
  expect_found(failure, "signals an event");
}

INSTANTIATE_TEST_SUITE_P(Engines, DirectEngine,
                         ::testing::ValuesIn(direct_cases({12040, 13000, 13030})), &case_name);

}  // namespace
}  // namespace cugraft::testing
