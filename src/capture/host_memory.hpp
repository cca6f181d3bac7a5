// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "driver/table.hpp"

namespace cugraft {

/// What memory is at an address, as far as copies care.
enum class memory_place { pageable, pinned, device };

/// Calls `cuPointerGetAttribute`, in the current context.
/// @throws cuda_error
memory_place place_of(const driver_table& table, std::uintptr_t address);

}  // namespace cugraft
