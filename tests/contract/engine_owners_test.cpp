// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"

// Host functions and owners: who keeps what alive, and until when.

namespace cugraft::testing {
namespace {

struct add_to {
  std::atomic<int>* sum;
  int value;
  void operator()() const { *sum += value; }
  friend bool operator==(const add_to&, const add_to&) = default;
};

TEST_P(EngineSuite, EqualHostFunctionsAreUnchanged) {
  std::atomic<int> sum{0};
  int value = 1;
  const auto body = [&](graph_builder& gb) {
    gb.host_call(add_to{&sum, value});
    gb.host_call([p = &sum] { *p += 100; });
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  value = 2;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].kind, node_kind::host);
  EXPECT_EQ(report.changes()[0].effect, verdict::patchable);
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(sum.exchange(0), 101);
  EXPECT_EQ(e.update().nodes_patched, 1U);
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(sum, 102);
}

TEST_P(EngineSuite, HostFunctionsThatCannotBeComparedAlwaysChange) {
  const auto body = [&](graph_builder& gb) {
    gb.host_call([p = std::make_unique<int>(7)] { static_cast<void>(*p); });
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
}

void count_up(void* data) { ++*static_cast<std::atomic<int>*>(data); }

TEST_P(EngineSuite, PlainFunctionsAreTheSameByBothPointers) {
  std::atomic<int> first{0}, second{0};
  std::atomic<int>* data = &first;
  const auto body = [&](graph_builder& gb) { gb.host_call({count_up, data}); };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  data = &second;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
  e.update();
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST_P(EngineSuite, OwnersLiveUntilGraphAndExecutablesHaveMovedOn) {
  auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  std::weak_ptr<int> watched = first;
  std::shared_ptr<int> owner = std::move(first);
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    gb.keep(owner);
    add(gb, x_, value);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  owner = second;
  value = 2;
  recapture(g, body);
  EXPECT_FALSE(watched.expired());  // the executable still runs the first generation
  e.launch(stream_);
  e.update();
  e.launch(stream_);
  stream_.synchronize();
  e.launch(stream_);  // sees that the launch behind the update is done
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
  stream_.synchronize();
}

TEST_P(EngineSuite, C016_SameValuesAndAnotherOwnerMoveTheOwner) {
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> watched = owner;
  const auto body = [&](graph_builder& gb) {
    gb.keep(owner);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  owner = std::make_shared<int>(2);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  EXPECT_TRUE(e.is_current());  // in its values; its owner is still the first
  EXPECT_EQ(g.generation(), 1U);
  EXPECT_EQ(e.generation(), 0U);
  const exec_update update = e.update();
  EXPECT_EQ(update.method, update_method::none);
  EXPECT_EQ(update.driver_calls, 0U);
  EXPECT_EQ(e.generation(), 1U);
  e.launch(stream_);
  stream_.synchronize();
  e.launch(stream_);
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
  stream_.synchronize();
}

TEST_P(EngineSuite, FailedAndAbandonedSessionsReleaseWhatTheyWereGiven) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owner;
  graph g = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
  {
    recapture_session session = g.begin_recapture(stream_, with());
    session.keep(owner);
    session.host_call([owner] {});
    EXPECT_FALSE(session.try_end());
  }
  {
    recapture_session session = g.begin_recapture(stream_, with());
    session.keep(owner);
  }
  owner.reset();
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST_P(EngineSuite, KernelsOutliveTheirLibraryObject) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    const library passing = load_kernels(context_);
    launch(gb, {.grid = 2, .block = 32}, passing.get_kernel("add_value"), x_, 4.0F,
           static_cast<int>(count));
  });
  graph_exec e = g.instantiate();
  g.reset();
  EXPECT_EQ(run(e, x_), 4.0F);  // C038: the executable keeps what it needs
}

TEST_P(EngineSuite, ExceptionsOfHostFunctionsAreReported) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    gb.host_call([] { throw std::runtime_error("from a host function"); });
  });
  graph_exec e = g.instantiate();
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(take_reports(),
            std::vector<std::string>{"a host function threw: from a host function"});
}

TEST_P(EngineSuite, HostCallThatFailsAfterItsWorkRunsOnceAndIsDestroyedOnce) {
  auto sum = std::make_shared<std::atomic<int>>(0);
  fail_after_next("cuLaunchHostFunc", 700);
  EXPECT_THROW(host_call(stream_, [sum] { ++*sum; }), cuda_error);
  fail_next("cuLaunchHostFunc", 2);
  EXPECT_THROW(host_call(stream_, [sum] { ++*sum; }), cuda_error);
  stream_.synchronize();
  EXPECT_EQ(*sum, 1);
  EXPECT_TRUE(eventually([&] { return sum.use_count() == 1; }));
}

TEST_P(EngineSuite, ReportsKeepNoOwnersAlive) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owner;
  change_report report;
  {
    graph g = capture(stream_, [&](graph_builder& gb) { gb.host_call([owner] {}); });
    owner = std::make_shared<int>(2);
    report = recapture(g, [&](graph_builder& gb) { gb.host_call([owner] {}); });
  }
  EXPECT_EQ(report.nodes_changed(), 1U);
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST_P(EngineSuite, RecordsThatWereNeverLaunchedDoNotPileUp) {
  auto owner = std::make_shared<int>(0);
  std::weak_ptr<int> watched = owner;
  const auto body = [&](graph_builder& gb) {
    gb.keep(owner);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  owner = std::make_shared<int>(1);
  recapture(g, body);
  e.update();
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST_P(EngineSuite, HostCallOutsideASessionRunsOnce) {
  auto sum = std::make_shared<std::atomic<int>>(0);
  host_call(stream_, [sum] { ++*sum; });
  stream_.synchronize();
  EXPECT_EQ(*sum, 1);
  EXPECT_TRUE(eventually([&] { return sum.use_count() == 1; }));
}

}  // namespace
}  // namespace cugraft::testing
