// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/registry.hpp"

namespace cugraft {

/// Compares each of cugraft's calls with the graph's next node as it is made, and captures nothing
/// (any driver from 12.4 on). Sees no other work, and fails where there is some.
engine_info direct_engine_info();

}  // namespace cugraft
