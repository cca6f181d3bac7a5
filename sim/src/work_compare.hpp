// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_api.hpp"
#include "operation.hpp"

namespace cugraft_sim {

/// Whether two operations are of one kind and have equal parameters; attributes do not count.
bool same_parameters(const operation& left, const operation& right);

/// Whether a copy is one row.
bool is_one_dimensional(const CUDA_MEMCPY3D& copy) noexcept;

/// Whether a setter of an executable takes `now` where it holds `held` (driver-rules 5.2, facts).
bool can_patch(const operation& held, const operation& now);

/// What a whole-graph update depends on beside the two nodes.
struct update_conditions {
  bool node_priorities = false;  ///< instantiated with USE_NODE_PRIORITY
  bool from_origin = false;      ///< from the graph that the executable was instantiated from
};

/// Whether a whole-graph update takes `now` where the executable holds `held` (driver-rules 4.3,
/// facts). The two are of one kind.
CUgraphExecUpdateResult check_update(const operation& held, const operation& now,
                                     const update_conditions& conditions);

}  // namespace cugraft_sim
