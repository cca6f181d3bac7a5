// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/registry.hpp"

namespace cugraft {

/// Captures into a scratch graph, reads it back, and sets what changed (any driver from 12.4 on).
engine_info compare_engine_info();

}  // namespace cugraft
