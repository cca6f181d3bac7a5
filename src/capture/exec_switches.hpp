// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "capture/executable.hpp"

// Nodes of an executable that are switched off. The graph knows nothing of it, so that no update
// switches them on again, and a new executable has the same nodes off.

namespace cugraft {

/// Whether nodes of this kind can be switched off (driver rules, 5.2).
bool can_be_disabled(node_kind kind) noexcept;

/// Asks the driver. @throws cuda_error
bool is_enabled(const executable& exec, std::uint32_t node);

/// All or nothing: where putting back fails as well, `settle_switches` tries again.
/// @throws cuda_error
void set_enabled(executable& exec, std::uint32_t node, bool on);

/// The nodes that a new executable of the graph has to have switched off: those of `exec`, also
/// where its maker did that, as far as they are the graph's.
/// @throws cuda_error
std::vector<CUgraphNode> disabled_nodes(const executable& exec);

/// Every switch may be another than it is taken to be: a whole-graph update is not documented to
/// leave them. @throws std::bad_alloc
void unsettle_switches(executable& exec);

/// Sets the switches that may be wrong. To be called before a launch. @throws cuda_error
void settle_switches(executable& exec);

}  // namespace cugraft
