// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// Several streams in one session: forks and joins at any depth, events of cugraft's and of others'
// making, and what becomes of the streams of a session that fails.

namespace cugraft::testing {
namespace {

class EngineStreams : public EngineSuite {
 protected:
  foreign_calls calls_{driver()};
  event first_{context_}, second_{context_};
  stream other_{context_};
};

// A tree of forks, each joined where it was made, in the order of creation and against it.
TEST_P(EngineStreams, NestedForksAreMatched) {
  float value = 1;
  const std::function<void(graph_builder&, int)> tree = [&](graph_builder& gb, int depth) {
    add(gb, x_, depth == 0 ? value : 1.0F);
    if (depth == 0) return;
    auto forks = gb.fork(2);
    for (graph_builder& fork : forks) tree(fork, depth - 1);
    if (depth == 2) std::swap(forks[0], forks[1]);
    gb.join(forks);
  };
  const auto body = [&](graph_builder& gb) {
    tree(gb, 4);
    fill_async(gb, y_.data(), 0, 4);
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(g.node_count(), 32U);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  value = 2;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 16U);
}

TEST_P(EngineStreams, C076_ADifferenceInOneOfThreeHundredEdges) {
  bool joins_last = true;
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, 4);
    auto forks = gb.fork(300);
    for (graph_builder& fork : forks) fill_async(fork, y_.data(), 0, 4);
    const graph_builder last = forks.back();
    forks.pop_back();
    gb.join(forks);
    if (joins_last) gb.join(last);
    fill_async(gb, x_.data(), 1, 4);
    if (!joins_last) gb.join(last);
    fill_async(gb, x_.data(), 2, 4);
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  joins_last = false;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::dependencies);
  EXPECT_EQ(failure.nodes_matched, 301U);
  ASSERT_EQ(failure.involved.size(), 1U);
  EXPECT_EQ(to_string(failure.involved[0].path), "300");  // the edge that went
}

// Dependencies are a set: the order of the waits does not matter.
TEST_P(EngineStreams, WaitsInAnotherOrderAreTheSame) {
  bool swapped = false;
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, 4);
    graph_builder a = gb.fork(side_), b = gb.fork(other_);
    fill_async(a, y_.data(), 0, 4);
    fill_async(b, y_.data(), 1, 4);
    gb.join(swapped ? b : a);
    gb.join(swapped ? a : b);
    fill_async(gb, x_.data(), 1, 4);
  };
  graph g = capture(stream_, body);
  swapped = true;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

// What foreign code does, on engines that record it.
class ForeignStreams : public EngineStreams {};

// The same events, recorded and waited for by cugraft's calls in one pass and by others' in the
// next.
TEST_P(ForeignStreams, EventsOfCugraftAndOfOthersAreOneKind) {
  unsigned foreign = 0;
  const auto record = [&](stream_ref where, event& what, unsigned bit) {
    if ((foreign & bit) == 0) return where.record(what);
    EXPECT_EQ(calls_.event_record(what.get(), where.get()), 0);
  };
  const auto wait = [&](stream_ref where, event& what, unsigned bit) {
    if ((foreign & bit) == 0) return where.wait(what);
    EXPECT_EQ(calls_.stream_wait_event(where.get(), what.get(), 0), 0);
  };
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    record(gb.stream(), first_, 1);
    wait(side_, first_, 2);
    add(side_, y_, 2);
    record(side_, second_, 4);
    add(gb, x_, 3);
    wait(gb.stream(), second_, 8);
    add(gb, x_, 4);
  };
  graph g = capture(stream_, body);
  ASSERT_EQ(g.node_count(), 4U);
  EXPECT_EQ(g.node(3).dependencies().size(), 2U);
  for (foreign = 0; foreign < 16; ++foreign) {
    SCOPED_TRACE(foreign);
    EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
    EXPECT_FALSE(side_.is_capturing());
  }
}

// C037: where a stream waits for several nodes, what is enqueued next depends on all of them.
TEST_P(EngineStreams, C037_AFrontierOfSeveralNodes) {
  auto owner = std::make_shared<int>(1);
  const device_buffer third(context_, count * sizeof(float));
  const device_buffer* const targets[] = {&x_, &y_, &third};  // they run beside each other
  const auto add_to_each = [&](std::span<const graph_builder> forks) {
    for (std::size_t i = 0; i < forks.size(); ++i) add(forks[i], *targets[i], 1);
  };
  const auto body = [&](graph_builder& gb) {
    auto forks = gb.fork(3);
    add_to_each(forks);
    gb.join(forks);
    gb.keep(owner);
    gb.host_call([] {});
    auto more = gb.fork(2);
    add_to_each(more);
    gb.join(more);
  };
  graph g = capture(stream_, body);
  ASSERT_EQ(g.node_count(), 6U);
  EXPECT_EQ(g.node(3).dependencies().size(), 3U);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  graph_exec e = g.instantiate();
  clear(x_);
  EXPECT_EQ(run(e, y_), 2.0F);
  EXPECT_EQ(read(x_).front(), 2.0F);
}

// A fork waits for what is ahead of it, and nobody for the fork.
TEST_P(EngineStreams, AForkOfAForkJoinsNothing) {
  bool joins = true;
  const auto body = [&](graph_builder& gb) {
    const graph_builder side = gb.fork(side_);
    add(side, x_, 1);
    graph_builder first = side;
    const std::vector<graph_builder> further = first.fork(1);
    if (joins) gb.join(side);
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  joins = false;
  EXPECT_EQ(fail(g, body).why, mismatch::capture_unjoined);
}

TEST_P(EngineStreams, ExternalEventNodesOnSeveralStreams) {
  event third(context_);
  event* recorded = &first_;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    graph_builder side = gb.fork(side_);
    side.stream().wait_external(second_);
    add(side, y_, 1);
    gb.stream().record_external(*recorded);
    gb.join(side);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  ASSERT_EQ(g.node_count(), 5U);
  EXPECT_EQ(g.node(1).kind(), node_kind::event_wait);
  EXPECT_EQ(g.node(3).kind(), node_kind::event_record);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  graph_exec e = g.instantiate();
  recorded = &third;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].rule, "event.event");
  EXPECT_TRUE(e.update({.may_instantiate = false}));
  other_.record(second_);
  EXPECT_EQ(run(e, x_), 2.0F);
  third.synchronize();
}

// External events by others' calls are nodes like any.
TEST_P(ForeignStreams, ExternalEventsOfForeignCode) {
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    EXPECT_EQ(calls_.stream_wait_event(gb.stream().get(), second_.get(), 1), 0);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  ASSERT_EQ(g.node_count(), 3U);
  EXPECT_EQ(g.node(1).kind(), node_kind::event_wait);
  EXPECT_EQ(g.node(1).event(), second_.get());
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

// What brings streams in: forks of ours, the caller's, events of cugraft's and of others'.
TEST_P(EngineStreams, EveryStreamOfAFailedSessionIsIdleAndNamed) {
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, 4);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  recapture_session session = g.begin_recapture(stream_, with());
  fill_async(session, x_.data(), 0, 4);
  graph_builder side = session.fork(side_);
  add(side, y_, 1);
  session.stream().record(first_);
  other_.wait(first_);
  add(other_, y_, 1);
  EXPECT_NE(calls_.stream_synchronize(side_.get()), 0);  // ends the capture
  const recapture_result result = session.try_end();
  ASSERT_FALSE(result);
  for (const stream* each : {&stream_, &side_, &other_}) {
    EXPECT_FALSE(each->is_capturing());
    each->synchronize();
  }
  if (result.failure().why != mismatch::capture_invalidated) return;  // a mismatch goes before it
  EXPECT_EQ(result.failure().code, 901);
}

// The streams that were not joined yet are named, the others not.
TEST_P(ForeignStreams, OpenForksOfABrokenCaptureAreNamed) {
  bool breaks = false;
  const auto body = [&](graph_builder& gb) {
    graph_builder side = gb.fork(side_);
    graph_builder third = gb.fork(other_);
    add(side, x_, 1);
    add(third, y_, 1);
    gb.join(third);
    if (breaks) {
      EXPECT_EQ(calls_.stream_synchronize(gb.stream().get()), 900);
      return add(gb, x_, 1);
    }
    add(gb, x_, 1);
    gb.join(side);
  };
  graph g = capture(stream_, body);
  breaks = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::capture_invalidated);
  EXPECT_EQ(failure.nodes_matched, 2U);
  const std::string open = fmt::format("not joined yet: stream {}", fmt::ptr(side_.get()));
  EXPECT_NE(failure.message.find(open), std::string::npos) << failure.message;
  EXPECT_FALSE(other_.is_capturing());
  breaks = false;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, ForeignStreams, ::testing::ValuesIn(capturing_cases()),
                         &case_name);
INSTANTIATE_TEST_SUITE_P(Engines, EngineStreams, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
