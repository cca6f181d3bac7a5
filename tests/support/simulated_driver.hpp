// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cugraft/driver.hpp"
#include "cugraft_sim/control.hpp"
#include "support/expect.hpp"
#include "support/reports.hpp"
#include "support/simulator_copy.hpp"

namespace cugraft::testing {

/// What a simulated driver holds for a test, to be compared when the test is over.
class world_check {
 public:
  explicit world_check(cugraft_sim::simulator& simulator);

  /// Expects the world as it was: no context pushed, nothing captured, no handle more or less.
  void expect_unchanged() const;

 private:
  cugraft_sim::live_handles settled() const;

  cugraft_sim::simulator& simulator_;
  std::size_t context_depth_;
  cugraft_sim::live_handles live_;
};

/// Runs each test on a simulated driver of its own, through the loader: its handles are counted
/// from 1 (streams from 0x10), so that messages can be compared whole; or on a relay of its own to
/// a real driver. After the members of the
/// derived fixture are gone it expects the world as it was, and no report that nobody read.
class SimulatedDriverTest : public ::testing::Test {
 protected:
  explicit SimulatedDriverTest(int version = default_version);
  explicit SimulatedDriverTest(const driver_source& source);
  ~SimulatedDriverTest() override;

  const cugraft::driver& driver() const noexcept { return driver_; }
  cugraft_sim::simulator& simulator() const noexcept { return copy_.control(); }

  /// The next call of `function` (base name) fails with `code` and does nothing.
  void fail_next(const std::string& function, int code);

  /// The next call of `function` does its work, and returns `code`.
  void fail_after_next(const std::string& function, int code);

  /// What the report function got since the last call.
  std::vector<std::string> take_reports() { return reports_.take(); }

 private:
  report_collector reports_;
  simulator_copy copy_;
  cugraft::driver driver_;
  world_check world_;
};

}  // namespace cugraft::testing
