// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ptx/thread.hpp"

// Handlers of calls, and the frames that they make.
namespace cugraft_sim::ptx {

/// Calls a function of the module.
const instruction* call_function(thread& t, const instruction* i);

/// Calls a hook, which stands for an external function.
const instruction* call_external(thread& t, const instruction* i);

/// `ret`: goes back to the caller; the thread exits where there is none.
const instruction* return_to_caller(thread& t, const instruction* i);

}  // namespace cugraft_sim::ptx
