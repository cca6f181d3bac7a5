// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cugraft/launch.hpp"
#include "model/values.hpp"

// What the attributes of a launch make of its node.

namespace cugraft {

/// The attributes that the node has; those of `launch_config::attributes` that have a member of
/// their own are found there as well, and what makes edges is in none. `priority` is what counts
/// where the launch has none.
model::attributes node_attributes(const launch_config& config, int priority);

/// Whether the launch may start before the kernel ahead has ended, whichever way it says so.
bool is_programmatic(const launch_config& config) noexcept;

}  // namespace cugraft
