// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "capture/graph_state.hpp"
#include "model/report_state.hpp"

namespace cugraft {

/// A changed node, and where its new launch attributes can be copied from.
struct planned_change {
  std::uint32_t node = 0;
  raw_change raw;
  CUgraphNode attributes_from = nullptr;  ///< a node of another graph that has them; kernels only
};

/// Sets the changed nodes of the driver's graph, all or nothing: on a failure the earlier ones are
/// put back, and the result names the call.
///
/// Where putting back fails as well, the graph remembers the nodes and `repair` tries again.
/// @throws std::bad_alloc  before anything is set
call_result apply_changes(detail::graph_state& graph, std::span<const planned_change> changes);

/// Brings nodes that could not be put back to what the model says. To be called before the driver's
/// graph is used as a whole.
/// @throws cuda_error  if they still cannot be set; the graph is then refused
void repair(detail::graph_state& graph);

}  // namespace cugraft
