// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cugraft/engine.hpp"
#include "driver_choice.hpp"

namespace cugraft::cli {

struct feature_status {
  std::string_view name;
  int required_version = 0;
  bool supported = false;
};

struct device_status {
  int ordinal = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
};

/// What is missing, and what to do about it.
struct finding {
  std::string missing;
  std::string advice;
};

/// What was found out about a driver.
struct diagnosis {
  std::optional<chosen_driver> chosen;  ///< none: no driver loads
  std::vector<device_status> devices;
  std::vector<feature_status> features;
  std::vector<engine_status> engines;
  std::vector<finding> findings;
  bool failures_checked = false;   ///< the engine native was made to fail, in a process of its own
  std::size_t failures_found = 0;  ///< of the findings, those of that

  /// Whether some engine runs.
  bool usable() const noexcept;
};

/// Looks at the driver that `options` ask for. Failures become findings.
diagnosis diagnose(const driver_options& options);

}  // namespace cugraft::cli
