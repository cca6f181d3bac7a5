// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cugraft/error.hpp"
#include "cugraft/event.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/memory.hpp"
#include "cugraft/stream.hpp"
#include "driver/table.hpp"
#include "support/kernels.hpp"
#include "support/simulated_driver.hpp"

// Every driver call that the handles make fails once, before and after it did its work: nothing may
// be left behind, and each failure shows exactly once.

namespace cugraft {
namespace {

void use_every_handle(const driver& driver) {
  const context home = context::primary(driver);
  const stream stream(home);
  const event event(home);
  const device_buffer device(home, 64);
  const device_buffer in_order(stream, 64);
  const host_buffer host(home, 64);
  const library library = testing::load_kernels(home);
  const kernel kernel = library.get_kernel("scale");
  kernel.allow_shared_memory(64 * 1024);
  (void)event.is_done();
  event.synchronize();
  (void)stream.is_done();
  stream.synchronize();
}

struct failure_kind {
  int code;
  bool after_effect;
};

class HandleFaultsTest : public testing::SimulatedDriverTest,
                         public ::testing::WithParamInterface<failure_kind> {
 protected:
  using counts = std::map<std::string, std::uint64_t>;

  counts count_calls() const {
    return {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, parameters) \
  {name, simulator().calls(name)},
#include "driver/functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
    };
  }

  /// How often the scenario calls each function.
  counts calls_of_the_scenario() const {
    counts calls = count_calls();
    use_every_handle(driver());
    for (auto& [function, before] : calls) before = simulator().calls(function) - before;
    return calls;
  }

  /// The function that the scenario's error names.
  std::optional<std::string> run() const {
    try {
      use_every_handle(driver());
      return std::nullopt;
    } catch (const cuda_error& error) {
      return error.function();
    }
  }

  void expect_one_failure(const std::string& function, unsigned nth) {
    const testing::world_check world(simulator());
    simulator().plan({.function = function,
                      .nth = nth,
                      .code = GetParam().code,
                      .after_effect = GetParam().after_effect});
    const std::optional<std::string> thrown = run();
    ASSERT_EQ(simulator().faults_hit(), 1U);
    simulator().clear_faults();
    const auto reports = take_reports();
    EXPECT_EQ(thrown.value_or(function), function);
    for (const std::string& report : reports)
      EXPECT_EQ(report.find(function + " failed"), 0U) << report;
    EXPECT_EQ((thrown ? 1U : 0U) + reports.size(), is_question(function, thrown) ? 0U : 1U);
    world.expect_unchanged();
  }

  /// Whether a free asks with this call which way to go, and takes the safe one if it fails.
  static bool is_question(const std::string& function, const std::optional<std::string>& thrown) {
    return function == "cuStreamIsCapturing" && !thrown;
  }
};

TEST_P(HandleFaultsTest, NothingIsLeftBehindAndEachFailureShowsOnce) {
  int failures = 0;
  for (const auto& [function, calls] : calls_of_the_scenario()) {
    for (unsigned nth = 1; nth <= calls; ++nth) {
      SCOPED_TRACE(function + ", call " + std::to_string(nth));
      expect_one_failure(function, nth);
      ++failures;
    }
  }
  EXPECT_GT(failures, 40);
}

// A refusal did nothing, so the release is tried again; the error of earlier work says nothing
// about the call, which did its own.
INSTANTIATE_TEST_SUITE_P(Kinds, HandleFaultsTest,
                         ::testing::Values(failure_kind{900, false}, failure_kind{700, true}),
                         [](const auto& kind) {
                           return kind.param.after_effect ? "AfterEffect" : "BeforeEffect";
                         });

}  // namespace
}  // namespace cugraft
