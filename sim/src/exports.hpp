// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "entry.hpp"
#include "null_stream.hpp"

namespace cugraft_sim {

/// From here on stream 0 can be the thread's (cudaTypedefs.h).
inline constexpr int first_version_with_twins = 7000;

/// Where the newest form of a function begins that `version` has, null where it has none. With
/// `per_thread` its twin, if there is one (driver-rules 1.1, 1, 4 and 6).
void* find_form(function_id id, int version, null_stream_is null_stream) noexcept;

}  // namespace cugraft_sim
