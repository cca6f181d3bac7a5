// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cugraft/context.hpp"

namespace cugraft {

/// What the self-test of the driver's re-capture found.
struct self_test_result {
  std::vector<std::string> failed;  ///< which checks; empty if all passed
  std::string inconclusive;         ///< why it could not be run; empty if it was

  bool passed() const noexcept { return failed.empty() && inconclusive.empty(); }
  std::string summary() const;
};

/// Checks, once per driver and device unless inconclusive, what cugraft relies on and no document
/// says: re-capture of a clone, parameters overwritten, node handles and executables intact,
/// callbacks in creation order with old and new parameters, attributes, statuses. Runs
/// in relaxed mode on streams of its own; provokes no failure.
self_test_result native_self_test(const context& context);

}  // namespace cugraft
