// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cuda_api.hpp"

namespace cugraft_sim {

/// The functions of the list, in its order.
enum class function_id : unsigned {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) member,
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  count_
};

inline constexpr std::size_t function_count = static_cast<std::size_t>(function_id::count_);

/// What the driver functions do. They run with the driver's lock held, after the checks that all
/// calls have in common (calls.hpp): the driver is initialised, the current context is sound.
namespace impl {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) CUresult member types;
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
}  // namespace impl

}  // namespace cugraft_sim
