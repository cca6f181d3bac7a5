// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "contract/contract_driver.hpp"
#include "cugraft/cugraft.hpp"
#include "cugraft_sim/control.hpp"
#include "support/kernels.hpp"

// What a re-capture engine is: the same cases for each engine on each driver that it supports, and
// for each behaviour that the driver's documentation leaves open. On a real driver there is one
// case for each engine that it can have.

namespace cugraft::testing {

struct engine_case {
  engine which = engine::native;
  int version = 13030;
  /// What the simulated driver does the other way, if anything (sim/README.md, Choices).
  std::optional<cugraft_sim::choice> other = std::nullopt;
};

/// Every engine, for what depends on the engine alone, or takes long.
std::vector<engine_case> engine_cases();

/// Those of the engine `compare`; of simulated drivers, those of these versions.
std::vector<engine_case> compare_cases(const std::vector<int>& versions);

/// Those of the engine `direct`, likewise.
std::vector<engine_case> direct_cases(const std::vector<int>& versions);

void PrintTo(const engine_case& shown, std::ostream* out);

std::string case_name(const ::testing::TestParamInfo<engine_case>& info);

/// The cases of each driver version, and those of each choice set to its other value that cugraft
/// says it can work with. For suites of which the cost counts, the versions alone will do: those
/// that make every call fail in turn (engine_faults_test), and those of thousands of steps
/// (engine_loops_test).
std::vector<engine_case> all_cases();

/// Those of `all_cases` whose engine has the driver capture, so that foreign work is recorded.
std::vector<engine_case> capturing_cases();

/// Choices of which the other value makes the engine's self-test refuse the driver.
const std::vector<cugraft_sim::choice>& refused_choices();

/// A readable name of the choice's other value, for test names.
std::string name_of_other(cugraft_sim::choice which);

/// The fixture also proves that the engine asked for is the one that ran.
class EngineSuite : public ContractTest, public ::testing::WithParamInterface<engine_case> {
 protected:
  static constexpr std::size_t count = 64;  // elements of each buffer

  EngineSuite();

  /// Whether the driver of the case does this the other way.
  bool is_other(cugraft_sim::choice which) const { return GetParam().other == which; }

  /// Whether the engine has the driver capture; else its calls are compared as they are made.
  bool captures() const { return GetParam().which != engine::direct; }

  recapture_options with(recapture_options options = {}) const {
    options.with = GetParam().which;
    return options;
  }

  /// Re-captures, and expects that the engine of the case did it.
  template <class Body>
  change_report recapture(graph& graph, Body&& body, recapture_options options = {}) {
    const change_report report = graph.recapture(stream_, body, with(options));
    EXPECT_EQ(report.engine_used(), GetParam().which);
    return report;
  }

  template <class Body>
  recapture_failure fail(graph& graph, Body&& body, recapture_options options = {}) {
    const recapture_result result = graph.try_recapture(stream_, body, with(options));
    if (result) {
      ADD_FAILURE() << "the re-capture succeeded";
      return {};
    }
    EXPECT_EQ(result.failure().used, GetParam().which);
    EXPECT_FALSE(stream_.is_capturing());
    EXPECT_FALSE(side_.is_capturing());
    return result.failure();
  }

  void add(stream_ref stream, const device_buffer& x, float value, unsigned grid = 2) const {
    launch(stream, {.grid = grid, .block = 32}, add_, x, value, static_cast<int>(count));
  }

  /// The buffer's floats, after all work of `stream_`.
  std::vector<float> read(const device_buffer& x);
  void clear(const device_buffer& x);
  /// Clears `x`, launches `exec`, and gives the first element.
  float run(graph_exec& exec, const device_buffer& x);

  context context_ = context::primary(driver());
  library library_ = load_kernels(context_);
  kernel add_ = library_.get_kernel("add_value");
  kernel scale_ = library_.get_kernel("scale");
  kernel saxpy_ = library_.get_kernel("saxpy");
  stream stream_{context_};
  stream side_{context_};
  device_buffer x_{context_, count * sizeof(float)};
  device_buffer y_{context_, count * sizeof(float)};
  host_buffer host_{context_, count * sizeof(float)};
};

}  // namespace cugraft::testing
