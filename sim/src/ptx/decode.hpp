// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ptx/function_builder.hpp"

namespace cugraft_sim::ptx {

/// Decodes the body of `what` into the program's function `index`.
/// @throws load_error
void decode_function(program& into, const module_symbols& names, const syntax::function& what,
                     std::uint32_t index);

}  // namespace cugraft_sim::ptx
