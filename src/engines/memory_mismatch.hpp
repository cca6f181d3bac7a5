// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "engines/outcome.hpp"

// Mismatches of a session, those of allocations included, which nothing in a driver can apply.

namespace cugraft {

/// The first position at which a session differs from the graph: in structure, or in what it
/// allocates or frees.
std::optional<model::structure_mismatch> first_mismatch(const detail::graph_state& graph,
                                                        const detail::session_state& session);

/// `function` is the driver's that told, empty where none did.
recapture_failure session_mismatch(const detail::graph_state& graph,
                                   const detail::session_state& session,
                                   const model::structure_mismatch& differs, engine used,
                                   const char* function);

/// The node of a graph that was captured elsewhere allocates or frees other memory.
recapture_failure other_memory(const detail::graph_state& graph, std::uint32_t node,
                               node_summary found);

}  // namespace cugraft
