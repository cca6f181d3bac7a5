// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cugraft/cugraft.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"
#include "support/kernels.hpp"
#include "support/simulator_copy.hpp"

// The relay that stands before real drivers, before a simulated one: that has counts of its own, so
// that both can be compared.

namespace cugraft::testing {
namespace {

class Relay : public ::testing::Test {
 protected:
  void expect_same_counts() {
    EXPECT_TRUE(eventually([&] {
      relay_.control().settle();
      return relay_.control().live() == simulated_.control().live();
    }));
  }

  simulator_copy simulated_{13000};
  simulator_copy relay_{driver_source{.real = simulated_.path()}};
};

TEST_F(Relay, IsTheDriverThatItStandsBefore) {
  const driver driver = relay_.load();
  EXPECT_EQ(driver.version(), 13000);
  EXPECT_EQ(relay_.control().version(), 13000);
  EXPECT_TRUE(driver.supports(feature::parameter_layouts));
  EXPECT_FALSE(driver.supports(feature::node_params_query));
  EXPECT_EQ(driver.entry_point("cuNoSuchFunction", 12000), nullptr);
}

TEST_F(Relay, CountsWhatIsAlive) {
  const driver driver = relay_.load();
  const foreign_calls calls(driver);
  std::atomic<int> destroyed{0};
  {
    const context home = context::primary(driver);
    const stream main(home), side(home);
    const event mark(home);
    const device_buffer x(home, 64);
    const device_buffer ordered(main, 64);
    const host_buffer host(home, 64);
    const library kernels = load_kernels(home);
    graph made = capture(main, [&](graph_builder& gb) {
      gb.host_call([] {});
      calls.attach_user_object(main.get(), destroyed);
    });
    graph_exec exec = made.instantiate();
    expect_same_counts();
    EXPECT_EQ(relay_.control().live().streams, 2U);
    EXPECT_EQ(relay_.control().live().graphs, 1U);
    EXPECT_GE(relay_.control().live().user_objects, 2U);
    const current_context current(driver, home.get());
    calls.begin_capture(side.get());
    EXPECT_EQ(relay_.control().live().capturing_streams, 1U);
    calls.launch_captured(side.get());
    expect_same_counts();
  }
  expect_same_counts();
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(relay_.control().live(), cugraft_sim::live_handles{});
}

TEST_F(Relay, CountsAGraphUntilACaptureIntoItFails) {
  const driver driver = relay_.load();
  const context home = context::primary(driver);
  const stream main(home);
  const current_context current(driver, home.get());
  const auto create =
      reinterpret_cast<int (*)(CUgraph*, unsigned)>(driver.entry_point("cuGraphCreate", 10000));
  const auto begin =
      reinterpret_cast<int (*)(CUstream, CUgraph, const void*, const void*, std::size_t, int mode)>(
          driver.entry_point("cuStreamBeginCaptureToGraph", 12030));
  const auto end = reinterpret_cast<int (*)(CUstream, CUgraph*)>(
      driver.entry_point("cuStreamEndCapture", 10000));
  CUgraph into = nullptr, ended = nullptr;
  ASSERT_EQ(create(&into, 0), 0);
  ASSERT_EQ(begin(main.get(), into, nullptr, nullptr, 0, 1), 0);
  ASSERT_EQ(end(main.get(), &ended), 0);
  EXPECT_EQ(ended, into);
  EXPECT_EQ(relay_.control().live().graphs, 1U);
  ASSERT_EQ(begin(main.get(), into, nullptr, nullptr, 0, 1), 0);
  EXPECT_EQ(foreign_calls(driver).stream_synchronize(main.get()), 900);
  EXPECT_EQ(end(main.get(), &ended), 901);
  EXPECT_EQ(relay_.control().live().graphs, 0U);
  expect_same_counts();
}

TEST_F(Relay, CountsTheContextsOfAThread) {
  const driver driver = relay_.load();
  const context home = context::primary(driver);
  const auto set_current =
      reinterpret_cast<int (*)(CUcontext)>(driver.entry_point("cuCtxSetCurrent", 4000));
  for (const CUcontext current : {home.get(), home.get(), CUcontext(), CUcontext()}) {
    ASSERT_EQ(set_current(current), 0);
    EXPECT_EQ(relay_.control().context_stack_depth(), current != nullptr ? 1U : 0U);
  }
}

TEST_F(Relay, FailsCallsBeforeAndAfterTheirWork) {
  const context home = context::primary(relay_.load());
  const std::uint64_t before = simulated_.control().calls("cuEventCreate");
  relay_.control().start_log();
  relay_.control().plan({.function = "cuEventCreate", .nth = 2, .code = 2});
  const event first(home);
  EXPECT_THROW(event{home}, cuda_error);
  EXPECT_EQ(simulated_.control().calls("cuEventCreate"), before + 1);
  relay_.control().plan({.function = "cuEventCreate", .code = 700, .after_effect = true});
  EXPECT_THROW(event{home}, cuda_error);
  EXPECT_EQ(simulated_.control().calls("cuEventCreate"), before + 2);
  EXPECT_EQ(relay_.control().faults_hit(), 2U);
  EXPECT_EQ(relay_.control().calls("cuEventCreate"), 3U);
  std::vector<int> results;
  for (const cugraft_sim::call& call : relay_.control().take_log())
    if (call.function == "cuEventCreate") results.push_back(call.result);
  EXPECT_EQ(results, (std::vector<int>{0, 2, 700}));
}

TEST_F(Relay, HidesFunctions) {
  relay_.control().hide("cuFuncGetParamInfo");
  EXPECT_FALSE(relay_.load().supports(feature::parameter_layouts));
}

TEST_F(Relay, CannotMakeADriverAnother) {
  cugraft_sim::simulator& control = relay_.control();
  EXPECT_THROW(control.set_version(13030), std::logic_error);
  EXPECT_THROW(control.set(cugraft_sim::choice::get_nodes_order, 1), std::logic_error);
  EXPECT_THROW(control.set_device_count(2), std::logic_error);
  EXPECT_THROW(control.register_kernel("add_value", nullptr), std::logic_error);
  EXPECT_THROW(control.set_device_memory(1), std::logic_error);
}

TEST(RelayWithoutADriver, SaysWhatToSet) {
  const simulator_copy relay(driver_source{.real = "/no/such/driver.so"});
  try {
    static_cast<void>(relay.load());
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("set CUGRAFT_RELAY_DRIVER to the path of one"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace cugraft::testing
