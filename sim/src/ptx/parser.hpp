// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ptx/syntax.hpp"

namespace cugraft_sim::ptx {

/// Parses PTX text; the result points into `text`.
/// @throws load_error
syntax::source parse(std::string_view text);

}  // namespace cugraft_sim::ptx
