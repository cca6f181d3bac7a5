// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <thread>
#include <vector>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// What users of graph updates ran into, by the number of the case.

namespace cugraft::testing {
namespace {

// One thread re-captures on the first device, in the thread-local mode.
class C002OnTwoDevices : public ::testing::TestWithParam<engine_case> {
 protected:
  void SetUp() override {
    if (!has_real_driver()) copy_.control().set_device_count(2);
    driver_.emplace(copy_.load());
    if (driver_->device_count() < 2) GTEST_SKIP() << "needs two devices";
  }

  // Another thread synchronises the legacy stream of `device` meanwhile.
  recapture_result recapture_while_another_synchronises(int device, bool blocking) {
    const context here = context::primary(*driver_, 0);
    const context there = context::primary(*driver_, device);
    const stream main(here, {.blocking = blocking});
    const device_buffer x(here, 64);
    const library kernels = load_kernels(here);
    const kernel add = kernels.get_kernel("add_value");
    const auto launch_one = [&](graph_builder& gb) {
      launch(gb, {.grid = 1, .block = 16}, add, x, 1.0F, 16);
    };
    graph g = capture(main, launch_one);
    graph_exec exec = g.instantiate();
    recapture_result result =
        g.try_recapture(main,
                        [&](graph_builder& gb) {
                          std::thread([&] {
                            const current_context current(*driver_, there.get());
                            foreign_calls(*driver_).stream_synchronize(nullptr);
                          }).join();
                          launch_one(gb);
                        },
                        {.with = GetParam().which});
    EXPECT_FALSE(main.is_capturing());
    exec.launch(main);  // what was there before works
    main.synchronize();
    return result;
  }

  simulator_copy copy_{contract_driver(GetParam().version)};
  std::optional<driver> driver_;
};

TEST_P(C002OnTwoDevices, C002_TheLegacyStreamOfTheSameDeviceEndsABlockingCapture) {
  const recapture_result result = recapture_while_another_synchronises(0, true);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, GetParam().which == engine::direct
                                      ? mismatch::foreign_work
                                      : mismatch::capture_invalidated);
  const std::string& message = result.failure().message;
  EXPECT_NE(message.find("thread-local"), std::string::npos) << message;
  EXPECT_NE(message.find("the synchronisation of the device or of the legacy stream in any mode"),
            std::string::npos)
      << message;
}

TEST_P(C002OnTwoDevices, C002_OtherLegacyStreamsDoNot) {
  EXPECT_TRUE(recapture_while_another_synchronises(1, true));
  EXPECT_TRUE(recapture_while_another_synchronises(0, false));
}

INSTANTIATE_TEST_SUITE_P(Engines, C002OnTwoDevices, ::testing::ValuesIn(engine_cases()),
                         &case_name);

class UserCases : public EngineSuite {
 protected:
  void body(graph_builder& gb) {
    add(gb, x_, value_);
    launch(gb, {.grid = 2, .block = 32, .cluster = cluster_}, add_, x_, 1.0F,
           static_cast<int>(count));
    if (has_more_) add(gb, x_, 1);
  }

  recapture_result again(recapture_options options = {}) {
    return graph_.try_recapture(
        stream_, [&](graph_builder& gb) { body(gb); }, with(options));
  }

  // The executable does what it did before, whatever became of the graph.
  void expect_old_executable() { EXPECT_EQ(run(exec_, x_), 2.0F); }

  float value_ = 1;
  std::optional<dim3> cluster_;
  bool has_more_ = false;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(UserCases, C079_AProgrammaticEdgeIsNoSilentMatch) {
  bool programmatic = true;
  const auto launches = [&](graph_builder& gb) {
    add(gb, x_, 1);
    launch(gb, {.grid = 2, .block = 32, .programmatic_serialization = programmatic}, add_, x_, 2.0F,
           static_cast<int>(count));
  };
  graph g = capture(stream_, launches);
  programmatic = false;
  const recapture_failure failure = fail(g, launches);
  EXPECT_EQ(failure.why, mismatch::edge_data);
  EXPECT_EQ(failure.nodes_matched, 1U);
  EXPECT_NE(failure.message.find("another kind of edge"), std::string::npos) << failure.message;
}

TEST_P(UserCases, C101_GoodRecapturesLeaveTheExecutableAlone) {
  EXPECT_EQ(again().report().nodes_changed(), 0U);
  expect_old_executable();
  value_ = 5;
  const change_report report = again().report();
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].effect, verdict::patchable);
  expect_old_executable();
  EXPECT_TRUE(exec_.update());
  EXPECT_EQ(run(exec_, x_), 6.0F);
}

TEST_P(UserCases, C101_AnIneligibleChangeIsMarkedInTheReport) {
  cluster_ = 2;
  const change_report report = again().report();
  ASSERT_EQ(report.nodes_changed(), 1U);  // its rows are the report's own
  EXPECT_EQ(to_string(report.changes()[0].path), "1");
  EXPECT_EQ(report.changes()[0].effect, verdict::needs_instantiate);
  expect_old_executable();
}

TEST_P(UserCases, C101_AnExtraNodeFailsAndTheGraphWorksOn) {
  has_more_ = true;
  EXPECT_EQ(fail(graph_, [&](graph_builder& gb) { body(gb); }).why, mismatch::node_count);
  expect_old_executable();
  has_more_ = false;
  EXPECT_EQ(again().report().nodes_changed(), 0U);
  graph_exec fresh = graph_.instantiate();
  EXPECT_EQ(run(fresh, x_), 2.0F);
}

TEST_P(UserCases, C101_ACallbackThatStopsFailsAndTheGraphWorksOn) {
  value_ = 5;
  std::vector<node_change> seen;
  const recapture_result result = again({.on_mismatch = [&](const node_change& change) {
    seen.push_back(change);
    return hook_answer::reject;
  }});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::rejected);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(to_string(seen[0].path), "0");  // copied, and still whole
  EXPECT_FALSE(seen[0].fields.empty());
  expect_old_executable();
  graph_exec fresh = graph_.instantiate();
  EXPECT_EQ(run(fresh, x_), 2.0F);
}

INSTANTIATE_TEST_SUITE_P(Engines, UserCases, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
