// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/program.hpp"
#include "ptx/thread.hpp"

namespace cugraft_sim::ptx {

/// The special register of this name ("%tid.x"), if it keeps its value while a thread runs.
std::optional<special> special_named(std::string_view name) noexcept;

/// What `what` holds for a thread.
std::uint64_t value_of(special what, const thread& t) noexcept;

}  // namespace cugraft_sim::ptx
