// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <stdexcept>
#include <thread>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// Misuse: a clear error before the driver is called, and an open session that goes on unharmed.

namespace cugraft::testing {
namespace {

class EngineGuards : public EngineSuite {
 protected:
  void body(graph_builder& gb) { add(gb, x_, 1); }
  graph make() {
    return capture(stream_, [&](graph_builder& gb) { body(gb); });
  }
};

TEST_P(EngineGuards, BeginOnACapturingStream) {
  graph g = make();
  capture_session open = begin_capture(stream_);
  EXPECT_THROW_MSG(
      g.begin_recapture(stream_, with()), usage_error,
      fmt::format("stream {0} belongs to the capture that began on stream {0}: beginning another "
                  "capture on it would end the capture; end the session first",
                  fmt::ptr(stream_.get())));
  EXPECT_THROW(static_cast<void>(begin_capture(stream_)), usage_error);
  add(open, x_, 1);
  EXPECT_EQ(open.end().node_count(), 1U);
}

// What was captured has one owner, who gives it back once (check mode stops the second time).
TEST_P(EngineGuards, ARecaptureThatMatchedWholeMayBeGivenUp) {
  graph g = make();
  {
    recapture_session session = g.begin_recapture(stream_, with());
    body(session);
    session.abandon();
  }
  {
    recapture_session session = g.begin_recapture(stream_, with());
    body(session);
  }
  const auto throwing = [&](graph_builder& gb) {
    body(gb);
    throw std::runtime_error("at the end");
  };
  EXPECT_THROW(static_cast<void>(g.try_recapture(stream_, throwing, with())), std::runtime_error);
  EXPECT_EQ(recapture(g, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 0U);
}

TEST_P(EngineGuards, BeginOnTheLegacyStream) {
  graph g = make();
  EXPECT_THROW_MSG(g.begin_recapture(stream_ref::legacy(driver()), with()), usage_error,
                   "the legacy stream cannot capture: give a stream made by cugraft::stream, or "
                   "the per-thread stream");
  EXPECT_THROW(static_cast<void>(begin_capture({driver(), nullptr})), usage_error);
}

TEST_P(EngineGuards, BeginOnAnEmptyGraph) {
  graph g = make();
  graph moved = std::move(g);
  EXPECT_THROW_MSG(g.begin_recapture(stream_, with()), usage_error,
                   "the graph is empty: it was moved from, released, reset or closed");
  moved.close();
  EXPECT_THROW(static_cast<void>(moved.node_count()), usage_error);
  EXPECT_FALSE(moved);
}

TEST_P(EngineGuards, SecondSessionOfAGraph) {
  graph g = make();
  recapture_session open = g.begin_recapture(stream_, with());
  EXPECT_THROW_MSG(g.begin_recapture(side_, with()), usage_error,
                   fmt::format("graph {} has an open session: end or abandon it before "
                               "re-capturing it again",
                               fmt::ptr(g.get())));
  EXPECT_THROW(static_cast<void>(g.instantiate()), usage_error);
  EXPECT_THROW(g.resync(), usage_error);
  EXPECT_THROW(g.release(), usage_error);
  body(open);
  EXPECT_EQ(open.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, UpdateWhileASessionIsOpen) {
  graph g = make();
  graph_exec e = g.instantiate();
  recapture_session open = g.begin_recapture(stream_, with());
  EXPECT_THROW(e.update(), usage_error);
  body(open);
  EXPECT_EQ(open.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, EndTwiceAndUseAfterTheEnd) {
  graph g = make();
  recapture_session session = g.begin_recapture(stream_, with());
  body(session);
  graph_builder builder = session;
  session.end();
  EXPECT_THROW_MSG(session.end(), usage_error,
                   fmt::format("the re-capture that began on stream {} is over: begin another "
                               "session",
                               fmt::ptr(stream_.get())));
  EXPECT_FALSE(builder.is_building());
  EXPECT_THROW(static_cast<void>(builder.stream()), usage_error);
  EXPECT_THROW(add(builder, x_, 1), usage_error);
  EXPECT_THROW(static_cast<void>(builder.fork(1)), usage_error);
  EXPECT_THROW(builder.tag("late"), usage_error);
  EXPECT_THROW(builder.keep(nullptr), usage_error);
  EXPECT_THROW(builder.host_call([] {}), usage_error);
}

TEST_P(EngineGuards, BuildersOfOtherSessionsAndJoinedBuilders) {
  graph g = make();
  recapture_session session = g.begin_recapture(stream_, with());
  capture_session other = begin_capture(side_);
  EXPECT_THROW(session.join(other), usage_error);
  graph_builder fork = session.fork(1)[0];
  session.join(fork);
  EXPECT_THROW(session.join(fork), usage_error);
  EXPECT_THROW(add(fork, x_, 1), usage_error);
  EXPECT_THROW(session.join(session), usage_error);
  graph_builder second = session.fork(1)[0];
  EXPECT_THROW(second.join(session), usage_error);
  session.join(second);
  EXPECT_THROW(session.close(), usage_error);
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
  EXPECT_EQ(other.end().node_count(), 0U);
}

TEST_P(EngineGuards, AnotherDriver) {
  graph g = make();
  const simulator_copy second(contract_driver(GetParam().version));
  const class driver other_driver = second.load();
  const context other_context = context::primary(other_driver);
  const stream foreign(other_context);
  EXPECT_THROW(static_cast<void>(g.begin_recapture(foreign, with())), usage_error);
  recapture_session session = g.begin_recapture(stream_, with());
  EXPECT_THROW(static_cast<void>(session.fork(foreign)), usage_error);
  EXPECT_THROW(add(foreign, x_, 1), usage_error);  // a kernel of the other driver
  const event other_event(other_context);
  EXPECT_THROW(session.stream().record(other_event), usage_error);
  EXPECT_THROW(session.stream().wait(other_event), usage_error);
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, StreamsThatCannotJoin) {
  graph g = make();
  recapture_session session = g.begin_recapture(stream_, with());
  EXPECT_THROW(static_cast<void>(session.fork(stream_ref::legacy(driver()))), usage_error);
  const event event(context_);
  session.stream().record(event);
  EXPECT_THROW(stream_ref::legacy(driver()).wait(event), usage_error);
  capture_session other = begin_capture(side_);
  EXPECT_THROW(static_cast<void>(session.fork(side_)), usage_error);
  EXPECT_EQ(other.end().node_count(), 0U);
  EXPECT_THROW(static_cast<void>(g.begin_recapture(stream_, with())), usage_error);
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, AWaitThatDidNothingLeavesSessionAndStream) {
  graph g = make();
  recapture_session session = g.begin_recapture(stream_, with());
  const event event(context_);
  session.stream().record(event);
  fail_next("cuStreamWaitEvent", 2);
  EXPECT_THROW(side_.wait(event), cuda_error);
  EXPECT_FALSE(session.has_failed());
  fill_async(side_, y_.data(), 0, 4);  // belongs to no session: runs at once
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
  side_.synchronize();
}

TEST_P(EngineGuards, ReleasedGraphKeepsWhatItsNodesPointTo) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owner;
  graph g = capture(stream_, [&](graph_builder& gb) { gb.host_call([owner] {}); });
  owner.reset();
  graph again = graph::from_native_handle(driver(), g.release());
  EXPECT_FALSE(watched.expired());
  EXPECT_THROW_MSG(static_cast<void>(again.instantiate()), usage_error,
                   fmt::format("graph {} was made by others, so that its context is not known, and "
                               "this thread has none: make current the one that it is for",
                               fmt::ptr(again.get())));
  const current_context current(driver(), context_.get());
  graph_exec e = again.instantiate();
  e.launch(stream_);
  stream_.synchronize();
}

TEST_P(EngineGuards, PlainCaptureThatForeignCodeBrokeSaysSo) {
  const foreign_calls calls(driver());
  capture_session session = begin_capture(stream_);
  body(session);
  EXPECT_EQ(calls.stream_synchronize(stream_.get()), 900);
  try {
    static_cast<void>(session.end());
    ADD_FAILURE() << "no error";
  } catch (const capture_error& error) {
    EXPECT_EQ(error.failure().why, mismatch::capture_invalidated);
    EXPECT_EQ(error.code(), 901);
    EXPECT_EQ(error.failure().nodes_matched, 1U);
    EXPECT_NE(error.failure().message.find("capture mode thread-local"), std::string::npos);
  }
  EXPECT_FALSE(stream_.is_capturing());
}

TEST_P(EngineGuards, AssigningToTheBuilderOfASessionKeepsTheSession) {
  graph g = make();
  capture_session other = begin_capture(side_);
  recapture_session session = g.begin_recapture(stream_, with());
  body(session);
  static_cast<graph_builder&>(session) = other;
  EXPECT_EQ(session.end().nodes_changed(), 0U);
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_EQ(other.end().node_count(), 0U);
}

TEST_P(EngineGuards, ACaptureThatForeignCodeEndedAndBeganIsNotTaken) {
  const foreign_calls calls(driver());
  capture_session session = begin_capture(stream_);
  body(session);
  calls.end_and_begin_capture(stream_.get());
  body(session);
  EXPECT_THROW(static_cast<void>(session.end()), capture_error);
  EXPECT_FALSE(stream_.is_capturing());
}

TEST_P(EngineGuards, QueriesOfCapturingStreamsAndEvents) {
  graph g = make();
  const event event(context_);
  recapture_session session = g.begin_recapture(stream_, with());
  session.stream().record(event);
  EXPECT_THROW(stream_.synchronize(), usage_error);
  EXPECT_THROW(static_cast<void>(stream_.is_done()), usage_error);
  EXPECT_THROW(static_cast<void>(event.is_done()), usage_error);
  EXPECT_THROW(event.synchronize(), usage_error);
  EXPECT_THROW(device_buffer(stream_, 64), usage_error);
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, BadArgumentsOfLaunchesCopiesAndFills) {
  graph g = make();
  recapture_session session = g.begin_recapture(stream_, with());
  EXPECT_THROW_MSG(launch(session, {}, add_, x_), usage_error,
                   "kernel \"add_value\" takes 3 arguments, 1 given");
  EXPECT_THROW_MSG(launch(session, {}, add_, x_, 1.0, 2), usage_error,
                   "kernel \"add_value\", argument 1: 4 bytes wanted, 8 given; cast to the "
                   "parameter's type");
  EXPECT_THROW_MSG(launch(session, {.grid = 0}, add_, x_, 1.0F, 2), usage_error,
                   "kernel \"add_value\": an extent of the grid is 0; every extent is at least 1");
  EXPECT_THROW(launch(session, {.grid = dim3(1, 0), .block = 64}, add_, x_, 1.0F, 2), usage_error);
  EXPECT_THROW(launch(session, {.grid = 3, .cluster = 2}, add_, x_, 1.0F, 2), usage_error);
  EXPECT_THROW(copy_async(session, x_.data(), y_.data(), 0), usage_error);
  EXPECT_THROW(fill_async(session, x_.data(), 256, 4), usage_error);
  EXPECT_THROW(fill_async(session, x_.data(), 1, 4, 3), usage_error);
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, ADriverErrorThatDidNothingLeavesTheSession) {
  graph g = make();
  recapture_session session = g.begin_recapture(stream_, with());
  fail_next("cuLaunchKernelEx", 1);
  if (captures())
    EXPECT_THROW(add(session, x_, 1), cuda_error);
  else
    EXPECT_THROW(launch(session, {.grid = 1, .block = 64}, add_, x_, 1.0F, 3), cuda_error);
  EXPECT_FALSE(session.has_failed());
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, StreamDestroyedInItsSession) {
  graph g = make();
  std::optional<stream> passing(std::in_place, context_);
  recapture_session session = g.begin_recapture(*passing, with());
  passing.reset();
  EXPECT_FALSE(session.is_building());
  EXPECT_THROW(session.end(), usage_error);
  EXPECT_EQ(recapture(g, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 0U);
}

TEST_P(EngineGuards, GraphDestroyedInItsSession) {
  std::optional<graph> g(make());
  recapture_session session = g->begin_recapture(stream_, with());
  g.reset();
  body(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, SessionsMayBeMoved) {
  graph g = make();
  recapture_session first = g.begin_recapture(stream_, with());
  recapture_session second = std::move(first);
  EXPECT_FALSE(first.is_building());
  EXPECT_THROW(first.end(), usage_error);
  body(second);
  EXPECT_EQ(second.end().nodes_changed(), 0U);
}

TEST_P(EngineGuards, BlocksThatNoDeviceTakesAreRefusedBeforeTheDriverIsAsked) {
  capture_session session = begin_capture(stream_);
  const auto launch_block = [&](dim3 block) {
    launch(session, {.grid = 1, .block = block}, add_, x_, 1.0F, static_cast<int>(count));
  };
  EXPECT_THROW(launch_block(2048), usage_error);
  EXPECT_THROW(launch_block({64, 64, 1}), usage_error);
  EXPECT_THROW(launch_block({1U << 31, 2, 1}), usage_error);
  launch_block({32, 32, 1});
  EXPECT_EQ(session.end().node_count(), 1U);
}

// Waiting on a thread that captures would end the capture (driver rules, 2.3).
TEST_P(EngineGuards, WaitingForOtherStreamsAndEventsEndsNobodysCapture) {
  event other(context_);
  side_.record(other);
  for (const capture_mode mode : {capture_mode::thread_local_, capture_mode::global}) {
    capture_session session = begin_capture(stream_, mode);
    add(session, x_, 1);
    side_.synchronize();
    EXPECT_TRUE(side_.is_done());
    other.synchronize();
    EXPECT_TRUE(other.is_done());
    EXPECT_EQ(session.end().node_count(), 1U);
  }
}

class EngineOnTwoDevices : public ::testing::TestWithParam<engine_case> {};

TEST_P(EngineOnTwoDevices, C071_TheContextOfTheGraphNeedNotBeCurrent) {
  const simulator_copy copy(contract_driver(GetParam().version));
  if (!has_real_driver()) copy.control().set_device_count(2);
  const driver driver = copy.load();
  if (driver.device_count() < 2) GTEST_SKIP() << "needs two devices";
  const context here = context::primary(driver, 0), there = context::primary(driver, 1);
  const auto set_current =
      reinterpret_cast<int (*)(CUcontext)>(driver.entry_point("cuCtxSetCurrent", 4000));
  ASSERT_EQ(set_current(here.get()), 0);
  const stream main(there);
  const device_buffer x(there, 64);
  const library kernels = load_kernels(there);
  const kernel add = kernels.get_kernel("add_value");
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    for (int i = 0; i < 3; ++i) launch(gb, {.grid = 1, .block = 16}, add, x, value, 16);
  };
  graph g = capture(main, body);
  graph_exec exec = g.instantiate();
  value = 2;
  copy.control().plan({.function = "cuGraphKernelNodeSetParams", .nth = 2, .code = 999});
  if (GetParam().which == engine::compare) {
    EXPECT_FALSE(g.try_recapture(main, body, {.with = GetParam().which}));
    EXPECT_EQ(context::current(driver), here);
  }
  copy.control().clear_faults();
  EXPECT_EQ(g.recapture(main, body, {.with = GetParam().which}).nodes_changed(), 3U);
  EXPECT_EQ(exec.update().nodes_patched, 3U);
  exec.launch(main);
  main.synchronize();
  EXPECT_EQ(context::current(driver), here);
  ASSERT_EQ(set_current(nullptr), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineOnTwoDevices, ::testing::ValuesIn(engine_cases()),
                         &case_name);
INSTANTIATE_TEST_SUITE_P(Engines, EngineGuards, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
