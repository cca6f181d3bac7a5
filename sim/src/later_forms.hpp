// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "entry.hpp"

namespace cugraft_sim {

/// Where the form of a function begins that a driver gives out at `version`, if it has another
/// signature than the one in the list; else null.
void* find_later_form(function_id id, int version) noexcept;

}  // namespace cugraft_sim
