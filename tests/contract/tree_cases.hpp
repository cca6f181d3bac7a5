// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "contract/engine_suite.hpp"

namespace cugraft::testing {

/// Those of the engines that take graphs inside of nodes; of simulated drivers, those of these
/// versions.
inline std::vector<engine_case> tree_cases(const std::vector<int>& versions) {
  std::vector<engine_case> cases = compare_cases(versions);
  for (const engine_case& each : direct_cases(versions)) cases.push_back(each);
  return cases;
}

}  // namespace cugraft::testing
