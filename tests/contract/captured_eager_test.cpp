// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "contract/captured_suite.hpp"
#include "support/eventually.hpp"

// The builder of an eager run: the same calls, on real streams, at once. No engine takes part.

namespace cugraft::testing {
namespace {

class CapturedEager : public CapturedSuite {
 protected:
  /// Calls with `body` once, eagerly.
  void run(const std::function<void(graph_builder&)>& body) {
    captured front(stream_, body, {.warm_up_runs = 1});
    front();
    EXPECT_EQ(front.stats().eager_runs, 1U);
  }

  std::string name() const {
    std::ostringstream text;
    text << "the eager run on stream " << static_cast<const void*>(stream_.get());
    return text.str();
  }
};

TEST_P(CapturedEager, TheBuilderSaysSo) {
  std::vector<graph_builder> outlived;
  run([&](graph_builder& gb) {
    EXPECT_TRUE(gb.is_eager());
    EXPECT_TRUE(gb.is_building());
    EXPECT_FALSE(gb.has_failed());
    EXPECT_EQ(gb.stream().get(), stream_.get());
    EXPECT_FALSE(stream_.is_capturing());
    gb.tag("ignored");
    outlived.push_back(gb);
  });
  EXPECT_FALSE(outlived[0].is_building());
  EXPECT_THROW_MSG(outlived[0].tag("late"), usage_error,
                   name() + " is over: begin another session");
  EXPECT_THROW(static_cast<void>(outlived[0].stream()), usage_error);
  EXPECT_THROW(static_cast<void>(outlived[0].fork(1)), usage_error);
  EXPECT_THROW(static_cast<void>(outlived[0].allocate(4)), usage_error);
  EXPECT_THROW(outlived[0].keep(nullptr), usage_error);
  EXPECT_THROW(outlived[0].host_call([] {}), usage_error);
  graph made = capture(stream_, [](graph_builder& gb) { EXPECT_FALSE(gb.is_eager()); });
}

TEST_P(CapturedEager, ForksRunBesideAndJoinsWait) {
  clear(y_);
  run([&](graph_builder& gb) {
    add(gb, x_, 1);
    std::vector<graph_builder> forks = gb.fork(2);
    forks.push_back(gb.fork(side_));
    EXPECT_TRUE(forks[0].is_eager());
    EXPECT_NE(forks[0].stream(), forks[1].stream());
    EXPECT_EQ(forks[2].stream().get(), side_.get());
    add(forks[0], y_, 2);
    gb.join(forks);
    EXPECT_FALSE(forks[0].is_building());
    EXPECT_THROW(static_cast<void>(forks[0].stream()), usage_error);
    EXPECT_THROW(gb.join(gb), usage_error);
    copy_async(gb, x_.data(), y_.data(), 4);
  });
  EXPECT_EQ(read(x_)[0], read(y_)[0]);
}

// In a graph such a fork would be an error at the end; here the stream goes on behind it.
TEST_P(CapturedEager, ForksThatAreNotJoinedAreWaitedFor) {
  std::atomic<bool> ran{false};
  run([&](graph_builder& gb) {
    graph_builder side = gb.fork(1)[0];
    side.host_call([&ran] { ran = true; });
  });
  stream_.synchronize();
  EXPECT_TRUE(ran);
}

TEST_P(CapturedEager, ForkStreamsAreUsedAgain) {
  captured front(stream_, [&](graph_builder& gb) { gb.join(gb.fork(3)); }, {.warm_up_runs = 5});
  front();
  const std::size_t streams = simulator().live().streams;
  for (int i = 0; i < 4; ++i) front();
  EXPECT_EQ(simulator().live().streams, streams);
  EXPECT_EQ(front.stats().eager_runs, 5U);
}

TEST_P(CapturedEager, WhatIsKeptLivesUntilTheStreamHasPassed) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owner;
  std::atomic<bool> alive{false};
  run([&](graph_builder& gb) {
    gb.keep(owner);
    owner.reset();
    gb.host_call([&] { alive = !watched.expired(); });
  });
  stream_.synchronize();
  EXPECT_TRUE(alive);
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST_P(CapturedEager, MemoryIsAllocatedInTheStreamsOrder) {
  void* left = nullptr;
  run([&](graph_builder& gb) {
    void* const made = gb.allocate(x_.size());
    fill_async(gb, made, 0, x_.size());
    launch(gb, {.grid = 2, .block = 32}, add_, static_cast<float*>(made), 5.0F,
           static_cast<int>(count));
    copy_async(gb, x_.data(), made, x_.size());
    gb.free(made);
    EXPECT_THROW(gb.free(made), usage_error);
    EXPECT_THROW(gb.free(x_.data()), usage_error);
    EXPECT_THROW(static_cast<void>(gb.allocate(0)), usage_error);
    left = gb.allocate(64);
  });
  EXPECT_EQ(read(x_)[0], 5);
  free_async(stream_, left);
}

TEST_P(CapturedEager, ConditionsAndChildGraphsAreRefused) {
  graph child = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
  run([&](graph_builder& gb) {
    EXPECT_THROW_MSG(static_cast<void>(gb.create_condition()), unsupported_error,
                     name() +
                         " runs without a graph, and takes no condition: "
                         "ask graph_builder::is_eager, and do without");
    EXPECT_THROW(static_cast<void>(gb.if_then(condition{1})), unsupported_error);
    EXPECT_THROW_MSG(gb.embed(child), unsupported_error,
                     name() +
                         " runs without a graph, and takes no child graph: "
                         "ask graph_builder::is_eager, and enqueue its work");
    EXPECT_THROW(gb.embed(std::move(child)), unsupported_error);
    EXPECT_THROW(gb.close(), usage_error);
    add(gb, x_, 2);
  });
  EXPECT_TRUE(child);
  EXPECT_EQ(read(x_)[0], 2);
}

TEST_P(CapturedEager, AnExceptionFreesAndWaitsAndLeavesUnchanged) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owner;
  const std::size_t allocations = simulator().live().device_allocations;
  captured front(stream_,
                 [&](graph_builder& gb) {
                   graph_builder side = gb.fork(side_);
                   static_cast<void>(side.allocate(64));
                   gb.keep(std::exchange(owner, nullptr));
                   throw std::out_of_range("half way");
                 },
                 {.warm_up_runs = 1});
  EXPECT_THROW(front(), std::out_of_range);
  stream_.synchronize();
  EXPECT_EQ(simulator().live().device_allocations, allocations);
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
  EXPECT_EQ(front.stats().eager_runs, 1U);
}

TEST_P(CapturedEager, SessionsOfOthersAreLeftAlone) {
  run([&](graph_builder& gb) {
    capture_session other = begin_capture(side_);
    EXPECT_THROW(static_cast<void>(gb.fork(side_)), usage_error);
    add(other, y_, 1);
    EXPECT_THROW(gb.join(other), usage_error);
    EXPECT_EQ(other.end().node_count(), 1U);
    add(gb, x_, 1);
  });
  EXPECT_EQ(read(x_)[0], 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, CapturedEager, ::testing::ValuesIn(compare_cases({12040, 13030})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
