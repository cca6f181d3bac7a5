// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "entry.hpp"

namespace cugraft_sim {

/// Where a driver function begins, as `cuGetProcAddress` gives it.
void* exported_address(function_id id) noexcept;

}  // namespace cugraft_sim
