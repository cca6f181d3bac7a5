// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/session_parts.hpp"

namespace cugraft {

/// What a re-capture adds to a body of a conditional node where calls are compared as they are
/// made: its streams are held in a capture of their own, and its calls are compared by `whole`,
/// which is that of the session it is in and outlives it. `context` is that of the body's stream.
std::unique_ptr<capture_client> make_held_body(call_comparer& whole, const model::graph& expected,
                                               CUcontext context);

}  // namespace cugraft
