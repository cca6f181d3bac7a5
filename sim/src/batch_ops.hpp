// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_api.hpp"
#include "memory.hpp"
#include "operation.hpp"

// Batch memory operations: waits for and writes of single values, in streams and graphs.

namespace cugraft_sim {

/// Copies the caller's array; INVALID_VALUE where it is missing, empty or too long, or where kinds,
/// flags or addresses are wrong.
CUresult read_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS& from, moment when, batch_operation& made);

/// Does the operations, one after the other, on the calling thread. 700 where memory is gone.
CUresult run_batch(const batch_operation& batch);

/// Whether both are of the same operations, which may be of other values at other addresses, and
/// wait in another way (driver-rules 5.2).
bool same_batch_shape(const batch_operation& left, const batch_operation& right) noexcept;

/// Whether both do the same.
bool same_batch(const batch_operation& left, const batch_operation& right) noexcept;

}  // namespace cugraft_sim
