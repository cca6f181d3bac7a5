// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_api.hpp"
#include "memory.hpp"

namespace cugraft_sim {

/// Copies on the calling thread; ILLEGAL_ADDRESS where the memory is gone by now.
CUresult run_copy(const CUDA_MEMCPY3D& parameters);

/// Fills on the calling thread, with the same error.
CUresult run_fill(const CUDA_MEMSET_NODE_PARAMS& parameters);

/// Checks a copy: extent, memory types, and that each side lies in one allocation.
CUresult check_copy(const CUDA_MEMCPY3D& parameters, moment when);

/// Checks what a fill says of itself: element size, alignment and dimensions.
CUresult check_fill_form(const CUDA_MEMSET_NODE_PARAMS& parameters);

/// `check_fill_form`, and that the destination lies in one allocation.
CUresult check_fill(const CUDA_MEMSET_NODE_PARAMS& parameters, moment when);

}  // namespace cugraft_sim
