// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <thread>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// How a re-capture fails: at its end, with a reason, and with the graph as it was.

namespace cugraft::testing {
namespace {

// fill, copy, kernel; each part can be left out or moved by the test's own bodies.
class EngineFailures : public EngineSuite {
 protected:
  void original(graph_builder& gb) {
    fill_async(gb, x_.data(), 1, x_.size());
    copy_async(gb, y_.data(), x_.data(), x_.size());
    add(gb, y_, 1);
  }

  graph graph_ = capture(stream_, [&](graph_builder& gb) { original(gb); });
  graph_exec exec_ = graph_.instantiate();
  CUgraph handle_ = graph_.get();

  void expect_untouched() {
    EXPECT_EQ(graph_.get(), handle_);
    EXPECT_EQ(graph_.generation(), 0U);
    EXPECT_TRUE(exec_.is_current());
    EXPECT_FALSE(graph_.is_lost());
    exec_.launch(stream_);
    stream_.synchronize();
    EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { original(gb); }).nodes_changed(), 0U);
  }
};

TEST_P(EngineFailures, AnotherKindAtAPosition) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 2, x_.size());
    fill_async(gb, y_.data(), 3, y_.size());
    add(gb, y_, 1);
  });
  EXPECT_EQ(failure.why, mismatch::node_kind);
  EXPECT_EQ(failure.code, 918);
  EXPECT_EQ(failure.nodes_matched, 1U);
  ASSERT_TRUE(failure.expected && failure.found);
  EXPECT_EQ(failure.expected->kind, node_kind::copy);
  EXPECT_EQ(failure.found->kind, node_kind::fill);
  expect_untouched();
}

TEST_P(EngineFailures, C067_OneNodeMore) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    original(gb);
    fill_async(gb, y_.data(), 3, y_.size());
  });
  EXPECT_EQ(failure.why, mismatch::node_count);
  EXPECT_EQ(failure.nodes_matched, 3U);
  EXPECT_FALSE(failure.expected);
  ASSERT_TRUE(failure.found);
  EXPECT_EQ(failure.found->kind, node_kind::fill);
  expect_untouched();
}

TEST_P(EngineFailures, OneNodeFewer) {
  const recapture_failure failure = fail(graph_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, x_.size());
    copy_async(gb, y_.data(), x_.data(), x_.size());
  });
  EXPECT_EQ(failure.why, mismatch::node_count);
  EXPECT_EQ(failure.nodes_matched, 2U);
  ASSERT_TRUE(failure.expected);
  EXPECT_EQ(failure.expected->name, "add_value");
  EXPECT_FALSE(failure.found);
  expect_untouched();
}

TEST_P(EngineFailures, C043_TheSameNodesInAnotherOrder) {
  bool swapped = false;
  const auto body = [&](graph_builder& gb) {
    auto forks = gb.fork(2);
    if (!swapped) add(forks[0], x_, 1);
    fill_async(forks[1], y_.data(), 1, 4);
    if (swapped) add(forks[0], x_, 1);
    gb.join(forks);
    fill_async(gb, x_.data(), 1, 4);
  };
  graph g = capture(stream_, body);
  swapped = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::node_order);
  EXPECT_EQ(failure.nodes_matched, 0U);
}

TEST_P(EngineFailures, C068_AnotherDependency) {
  bool parallel = false;
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, 4);
    graph_builder side = gb.fork(side_);
    add(gb, x_, 1);
    if (!parallel) {
      gb.join(side);
      side = gb.fork(side_);
    }
    add(side, y_, 1);
    gb.join(side);
    fill_async(gb, x_.data(), 1, 4);
  };
  graph g = capture(stream_, body);
  parallel = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::dependencies);
  EXPECT_EQ(failure.nodes_matched, 2U);
}

TEST_P(EngineFailures, AnotherKindOfEdge) {
  bool programmatic = false;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    launch(gb, {.grid = 2, .block = 32, .programmatic_serialization = programmatic}, add_, x_, 2.0F,
           static_cast<int>(count));
  };
  graph g = capture(stream_, body);
  programmatic = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::edge_data);
  EXPECT_EQ(failure.nodes_matched, 1U);
}

TEST_P(EngineFailures, MismatchShowsAtTheEndOnly) {
  recapture_session session = graph_.begin_recapture(stream_, with());
  add(session, x_, 1);  // a fill was expected
  EXPECT_EQ(session.has_failed(), GetParam().which != engine::compare);
  copy_async(session, y_.data(), x_.data(), x_.size());
  session.host_call([] {});
  auto forks = session.fork(2);
  add(forks[0], x_, 1);
  session.join(forks);
  EXPECT_TRUE(session.is_building());
  try {
    session.end();
    FAIL() << "no error";
  } catch (const recapture_error& error) {
    EXPECT_EQ(error.reason(), mismatch::node_kind);
    EXPECT_EQ(error.code(), 918);
    EXPECT_EQ(error.code_name(), "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE");
    EXPECT_EQ(error.failure().nodes_matched, 0U);
  }
  EXPECT_FALSE(session.is_building());
  EXPECT_FALSE(stream_.is_capturing());
  expect_untouched();
}

TEST_P(EngineFailures, WorkBehindAMismatchRunsNowhere) {
  clear(x_);
  recapture_session session = graph_.begin_recapture(stream_, with());
  add(session, x_, 1);
  const event forked(context_);
  session.stream().record(forked);
  side_.wait(forked);
  add(side_, x_, 1);  // the side stream belongs to the session: nothing runs for real by accident
  EXPECT_FALSE(session.try_end());
  EXPECT_EQ(read(x_).front(), 0.0F);
}

TEST_P(EngineFailures, HookSeesEveryChangeAndCanReject) {
  std::vector<std::string> seen;
  const auto changed = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 2, x_.size());
    copy_async(gb, y_.data(), x_.data(), 8);
    add(gb, y_, 1);
  };
  recapture_options options;
  options.on_mismatch = [&](const node_change& change) {
    seen.push_back(to_string(change.path));
    return change.kind == node_kind::copy ? hook_answer::reject : hook_answer::accept;
  };
  const recapture_failure failure = fail(graph_, changed, options);
  EXPECT_EQ(failure.why, mismatch::rejected);
  EXPECT_EQ(seen, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(failure.found->kind, node_kind::copy);
  expect_untouched();
}

TEST_P(EngineFailures, HookIsNotAskedWhereTheStructureDiffers) {
  recapture_options options;
  options.on_mismatch = [](const node_change&) -> hook_answer { throw std::logic_error("asked"); };
  EXPECT_EQ(fail(
                graph_, [&](graph_builder& gb) { fill_async(gb, x_.data(), 2, 8); }, options)
                .why,
            mismatch::node_count);
}

struct thrown_by_user {};

TEST_P(EngineFailures, ExceptionsOfHooksAndBodiesLeaveUnchanged) {
  recapture_options options;
  options.on_mismatch = [](const node_change&) -> hook_answer { throw thrown_by_user(); };
  const auto changed = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 2, x_.size());
    copy_async(gb, y_.data(), x_.data(), x_.size());
    add(gb, y_, 1);
  };
  EXPECT_THROW(static_cast<void>(graph_.try_recapture(stream_, changed, with(options))),
               thrown_by_user);
  EXPECT_FALSE(stream_.is_capturing());
  const auto throwing = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 2, x_.size());
    throw thrown_by_user();
  };
  EXPECT_THROW(static_cast<void>(graph_.try_recapture(stream_, throwing, with())), thrown_by_user);
  EXPECT_FALSE(stream_.is_capturing());
  expect_untouched();
}

TEST_P(EngineFailures, LastFailureTellsWhatABodysOwnExceptionHides) {
  const auto throwing = [&](graph_builder& gb) {
    add(gb, x_, 2);
    if (gb.has_failed()) throw thrown_by_user();
  };
  try {
    static_cast<void>(graph_.try_recapture(stream_, throwing, with()));
  } catch (const thrown_by_user&) {
  }
  ASSERT_TRUE(graph_.last_failure());
  EXPECT_EQ(graph_.last_failure()->why, mismatch::node_kind);
  expect_untouched();
}

TEST_P(EngineFailures, C085_UnjoinedWorkNamesItsLeaves) {
  const auto body = [&](graph_builder& gb) { original(gb); };
  graph g = capture(stream_, body);
  recapture_session session = g.begin_recapture(stream_, with());
  session.tag("main");
  fill_async(session, x_.data(), 1, x_.size());
  graph_builder side = session.fork(side_);
  session.tag("lost");
  copy_async(side, y_.data(), x_.data(), x_.size());
  session.tag("");
  add(side, y_, 1);
  const recapture_result result = session.try_end();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::capture_unjoined);
  EXPECT_EQ(result.failure().code, 904);
  ASSERT_EQ(result.failure().involved.size(), 1U);
  EXPECT_EQ(to_string(result.failure().involved[0].path), "2");
  EXPECT_EQ(result.failure().involved[0].name, "add_value");
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_FALSE(side_.is_capturing());
  expect_untouched();
}

TEST_P(EngineFailures, C085_APlainCaptureNamesThemToo) {
  capture_session session = begin_capture(stream_);
  fill_async(session, x_.data(), 1, x_.size());
  graph_builder side = session.fork(side_);
  copy_async(side, y_.data(), x_.data(), x_.size());
  add(side, y_, 1);
  fill_async(session, x_.data(), 1, x_.size());
  try {
    static_cast<void>(session.end());
    ADD_FAILURE() << "no error";
  } catch (const capture_error& error) {
    ASSERT_EQ(error.failure().involved.size(), 1U);
    EXPECT_EQ(to_string(error.failure().involved[0].path), "2");
    EXPECT_EQ(error.failure().involved[0].name, "add_value");
  }
}

TEST_P(EngineFailures, AbandonedAndDroppedSessionsLeaveTheGraph) {
  {
    recapture_session dropped = graph_.begin_recapture(stream_, with());
    fill_async(dropped, x_.data(), 9, x_.size());
  }
  EXPECT_FALSE(stream_.is_capturing());
  recapture_session given_up = graph_.begin_recapture(stream_, with());
  fill_async(given_up, x_.data(), 9, x_.size());
  given_up.abandon();
  given_up.abandon();
  EXPECT_FALSE(given_up.is_building());
  EXPECT_THROW(given_up.end(), usage_error);
  expect_untouched();
}

TEST_P(EngineFailures, EndBelongsOnTheThreadThatBeganUnlessRelaxed) {
  recapture_session session = graph_.begin_recapture(stream_, with());
  std::thread([&] { EXPECT_THROW(session.end(), usage_error); }).join();
  EXPECT_TRUE(session.is_building());
  original(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);

  recapture_session relaxed =
      graph_.begin_recapture(stream_, with({.mode = capture_mode::relaxed}));
  original(relaxed);
  std::thread([&] { EXPECT_EQ(relaxed.end().nodes_changed(), 0U); }).join();

  recapture_session elsewhere = graph_.begin_recapture(stream_, with());
  std::thread([&] { elsewhere.abandon(); }).join();
  EXPECT_FALSE(stream_.is_capturing());
  expect_untouched();
}

TEST_P(EngineFailures, LaunchesOfOtherThreadsAreFound) {
  recapture_session session = graph_.begin_recapture(stream_, with());
  std::thread([&] { original(session); }).join();
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

// Who finds the capture broken and stops is told of that, not of the nodes that did not come.
TEST_P(EngineFailures, ABodyThatStopsAtABrokenCaptureIsToldOfIt) {
  const foreign_calls calls(driver());
  const recapture_failure returned = fail(graph_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, x_.size());
    EXPECT_EQ(calls.stream_synchronize(gb.stream().get()), 900);
    copy_async(gb, y_.data(), x_.data(), x_.size());
    EXPECT_EQ(gb.has_failed(), captures());  // else the next call asks no driver
  });
  const mismatch broken = captures() ? mismatch::capture_invalidated : mismatch::foreign_work;
  EXPECT_EQ(returned.why, broken);
  EXPECT_EQ(returned.nodes_matched, captures() ? 1U : 2U);
  const auto throwing = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 1, x_.size());
    if (calls.stream_synchronize(gb.stream().get()) != 0) throw std::runtime_error("foreign");
  };
  EXPECT_THROW(static_cast<void>(graph_.try_recapture(stream_, throwing, with())),
               std::runtime_error);
  ASSERT_TRUE(graph_.last_failure());
  EXPECT_EQ(graph_.last_failure()->why, broken);
  expect_untouched();
}

TEST_P(EngineFailures, ABodyThatThrowsBehindAMismatchLeavesTheReason) {
  const auto throwing = [&](graph_builder& gb) {
    add(gb, y_, 1);  // a fill was expected
    throw std::runtime_error("the body's own");
  };
  EXPECT_THROW(static_cast<void>(graph_.try_recapture(stream_, throwing, with())),
               std::runtime_error);
  ASSERT_TRUE(graph_.last_failure());
  EXPECT_EQ(graph_.last_failure()->why, mismatch::node_kind);
  expect_untouched();
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineFailures, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
