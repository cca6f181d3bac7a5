// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "capture/graph_state.hpp"
#include "model/report_state.hpp"

namespace cugraft {

/// Sets the changed nodes of the driver's graph, all or nothing: on a failure the earlier ones are
/// put back, and the result names the call.
///
/// Where putting back fails as well, the graph remembers the nodes and `repair` tries again.
/// @throws std::bad_alloc  before anything is set
call_result apply_changes(detail::graph_state& graph, std::span<const raw_change> changes);

/// Brings nodes that could not be put back to what the model says. To be called before the driver's
/// graph is used as a whole.
/// @throws cuda_error  if they still cannot be set; the graph is then refused
void repair(detail::graph_state& graph);

}  // namespace cugraft
