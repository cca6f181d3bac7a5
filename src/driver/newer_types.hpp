// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

// What is newer than the oldest header that cugraft builds against (12.4), declared here and
// nowhere else, under names of our own, so that no declaration depends on the header at hand. To be
// included after <cuda.h>. `cuda_api.hpp` proves with 13.3+ headers that these and theirs agree.

namespace cugraft::newer {

/// CUgraphRecaptureStatus (13.3).
enum graph_recapture_status : unsigned {
  graph_recapture_eligible_for_update = 0,
  graph_recapture_ineligible_for_update = 1,
  graph_recapture_error = 2,
};

/// CUgraphRecaptureCallback (13.3). The two parameter blocks live for the call only (driver rules,
/// R8).
using graph_recapture_callback = CUresult (*)(void* data, CUgraphNode node,
                                              const CUgraphNodeParams* original,
                                              const CUgraphNodeParams* recaptured,
                                              graph_recapture_status status);

/// CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER (13.0).
inline constexpr auto error_call_requires_newer_driver = static_cast<CUresult>(36);

/// CUDA_ERROR_GRAPH_RECAPTURE_FAILURE (13.3).
inline constexpr auto error_graph_recapture_failure = static_cast<CUresult>(918);

/// CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION (12.8).
inline constexpr auto launch_attribute_preferred_cluster_dimension =
    static_cast<CUlaunchAttributeID>(11);

/// CUDA_CHILD_GRAPH_NODE_PARAMS since 12.9; before, it was the graph alone.
struct child_graph_params {
  CUgraph graph = nullptr;
  int ownership = 0;  ///< CUgraphChildGraphNodeOwnership; 0: the content is cloned
  int unused = 0;
};

/// CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE (12.9).
inline constexpr int child_graph_move = 1;

/// Makes `child` the content of the parameters. The header's member may be shorter.
inline void set_child_graph(CUgraphNodeParams& params, const child_graph_params& child) noexcept {
  std::memcpy(params.reserved1, &child, sizeof child);
}

}  // namespace cugraft::newer
