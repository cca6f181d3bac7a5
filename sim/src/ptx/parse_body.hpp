// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ptx/cursor.hpp"
#include "ptx/syntax.hpp"

namespace cugraft_sim::ptx {

/// Parses a function's statements, from '{' to its '}'.
std::vector<syntax::statement> parse_body(cursor& at);

}  // namespace cugraft_sim::ptx
