// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "support/simulated_driver.hpp"

// The driver that the contract is tested on: simulated ones, or the real one that CUGRAFT_DRIVER
// names, "system" or the path of a file. A relay (tests/relay) stands before the real one, which
// counts, logs and fails its calls as the tests ask.

namespace cugraft::testing {

bool has_real_driver();

/// The version of the real driver, as it says itself.
/// @throws std::runtime_error  if it cannot be loaded
int real_driver_version();

/// The real driver, or a simulated one of this version.
driver_source contract_driver(int version = default_version);

/// A test of what holds on every driver.
class ContractTest : public SimulatedDriverTest {
 protected:
  explicit ContractTest(int version = default_version)
      : SimulatedDriverTest(contract_driver(version)) {}
};

}  // namespace cugraft::testing

/// For what only a simulated driver can be brought to show.
#define CUGRAFT_NEEDS_SIMULATOR() \
  if (::cugraft::testing::has_real_driver()) GTEST_SKIP() << "needs the simulator's control"
