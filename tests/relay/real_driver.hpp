// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "entry.hpp"

namespace cugraft_relay {

using cugraft_sim::function_id;

/// The driver that calls are passed on to: its version, and the functions of the list in the form
/// listed there, null where it has none.
struct real_driver {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  CUresult(*member) types = nullptr;
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION

  int version = 0;
};

/// The driver that `CUGRAFT_RELAY_DRIVER` names, else the system's; loaded at the first use and
/// never unloaded. All relays of a process share it.
/// @throws std::runtime_error  if it cannot be loaded, or is no driver
const real_driver& real();

/// Where the function begins, as the driver's own `cuGetProcAddress` gives it; null without it.
void* real_address(function_id id);

}  // namespace cugraft_relay
