// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

// The only place that reads the environment.

namespace cugraft {

/// `CUGRAFT_DRIVER`: the driver that is loaded instead of the system's. Empty counts as unset.
std::optional<std::string> driver_from_environment();

}  // namespace cugraft
