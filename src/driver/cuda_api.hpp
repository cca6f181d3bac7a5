// SPDX-License-Identifier: Apache-2.0
#pragma once

// The only file of the library that sees <cuda.h>, and the only one that asks which version it is.

#include <cuda.h>

#include <type_traits>

#include "driver/newer_types.hpp"

static_assert(CUDA_VERSION >= 12040, "cugraft builds against the headers of CUDA 12.4 or newer");
static_assert(sizeof(CUgraphNodeParams) == 256 && sizeof(CUDA_KERNEL_NODE_PARAMS) == 72 &&
              sizeof(CUDA_MEMCPY3D) == 200 && sizeof(CUDA_MEMSET_NODE_PARAMS) == 40 &&
              sizeof(CUDA_HOST_NODE_PARAMS) == 16 && sizeof(CUlaunchAttribute) == 72 &&
              sizeof(CUgraphEdgeData) == 8);

#if CUDA_VERSION >= 12080
static_assert(cugraft::newer::launch_attribute_preferred_cluster_dimension ==
              CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION);
#endif

#if CUDA_VERSION >= 13030
static_assert(sizeof(CUgraphRecaptureStatus) == sizeof(cugraft::newer::graph_recapture_status));
static_assert(std::is_same_v<std::underlying_type_t<CUgraphRecaptureStatus>,
                             std::underlying_type_t<cugraft::newer::graph_recapture_status>>);
static_assert(static_cast<int>(CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE) ==
                  cugraft::newer::graph_recapture_eligible_for_update &&
              static_cast<int>(CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE) ==
                  cugraft::newer::graph_recapture_ineligible_for_update &&
              static_cast<int>(CU_GRAPH_RECAPTURE_ERROR) == cugraft::newer::graph_recapture_error);
static_assert(CUDA_ERROR_GRAPH_RECAPTURE_FAILURE == cugraft::newer::error_graph_recapture_failure);
static_assert(std::is_same_v<CUgraphRecaptureCallback,
                             CUresult (*)(void*, CUgraphNode, const CUgraphNodeParams*,
                                          const CUgraphNodeParams*, CUgraphRecaptureStatus)>);
static_assert(std::is_same_v<decltype(&cuStreamBeginRecaptureToGraph),
                             CUresult (*)(CUstream, CUstreamCaptureMode, CUgraph,
                                          CUgraphRecaptureCallback, void*)>);
#endif
