// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/executable.hpp"
#include "cugraft/node_params.hpp"

// One node is made to do something else, beside re-capture; the graph's context is current.

namespace cugraft {

/// The node of the graph does `after` from now on; executables go on with what they hold. All or
/// nothing: where putting back fails as well, the graph remembers it (`repair`).
/// @throws cuda_error  if the driver refuses
node_update update_node(detail::graph_state& graph, std::uint32_t node, model::node_value after);

/// What the executable holds for a node.
model::node_value value_of(const executable& exec, std::uint32_t node);

/// The node of the executable alone does `after` from now on, until `graph_exec::update` brings the
/// graph's value back. All or nothing, as above.
/// @return what stands against it, if it is not applied
/// @throws cuda_error  if a call fails that is no refusal of the setter
node_update override_node(executable& exec, std::uint32_t node, model::node_value after);

}  // namespace cugraft
