// SPDX-License-Identifier: Apache-2.0
#include "support/simulated_driver.hpp"

#include "support/eventually.hpp"

namespace cugraft::testing {
namespace {

void expect_same(const char* what, std::size_t now, std::size_t before) {
  if (now != before)
    ADD_FAILURE() << what << ": " << now << " after the test, " << before << " before it";
}

}  // namespace

world_check::world_check(cugraft_sim::simulator& simulator) : simulator_(simulator) {
  simulator_.settle();
  context_depth_ = simulator_.context_stack_depth();
  live_ = simulator_.live();
}

void world_check::expect_unchanged() const {
  const cugraft_sim::live_handles now = settled();
  expect_same("contexts on the stack", simulator_.context_stack_depth(), context_depth_);
  expect_same("capturing streams", now.capturing_streams, live_.capturing_streams);
  expect_same("primary contexts", now.primary_contexts, live_.primary_contexts);
  expect_same("contexts", now.contexts, live_.contexts);
  expect_same("streams", now.streams, live_.streams);
  expect_same("events", now.events, live_.events);
  expect_same("device allocations", now.device_allocations, live_.device_allocations);
  expect_same("host allocations", now.host_allocations, live_.host_allocations);
  expect_same("libraries", now.libraries, live_.libraries);
  expect_same("graphs", now.graphs, live_.graphs);
  expect_same("executable graphs", now.graph_execs, live_.graph_execs);
  expect_same("user objects", now.user_objects, live_.user_objects);
}

// What owners held goes on a thread of the library's own, soon after the last launch.
cugraft_sim::live_handles world_check::settled() const {
  cugraft_sim::live_handles now;
  eventually([&] {
    simulator_.settle();
    return (now = simulator_.live()) == live_;
  });
  return now;
}

SimulatedDriverTest::SimulatedDriverTest(int version)
    : SimulatedDriverTest(driver_source{version, {}}) {}

SimulatedDriverTest::SimulatedDriverTest(const driver_source& source)
    : copy_(source), driver_(copy_.load()), world_(copy_.control()) {}

SimulatedDriverTest::~SimulatedDriverTest() {
  simulator().clear_faults();
  world_.expect_unchanged();
  reports_.expect_none();
}

void SimulatedDriverTest::fail_next(const std::string& function, int code) {
  simulator().plan({.function = function, .nth = 1, .code = code});
}

void SimulatedDriverTest::fail_after_next(const std::string& function, int code) {
  simulator().plan({.function = function, .nth = 1, .code = code, .after_effect = true});
}

}  // namespace cugraft::testing
