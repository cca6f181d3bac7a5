// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ptx/function_builder.hpp"
#include "ptx/program.hpp"
#include "ptx/syntax.hpp"

namespace cugraft_sim::ptx {

/// Lays the module's variables out and adds them to `names`; their initial values go to `into`.
/// @throws load_error
void lay_out_globals(const syntax::source& what, program& into, module_symbols& names);

}  // namespace cugraft_sim::ptx
