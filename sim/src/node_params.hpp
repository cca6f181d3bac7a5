// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cuda_api.hpp"
#include "operation.hpp"

namespace cugraft_sim {

/// Parameters of an operation as the driver hands them out. Everything that they point to lies in
/// this object and is overwritten when it goes, so that a use after that shows (driver-rules 8).
class parameter_view {
 public:
  explicit parameter_view(const operation& work);
  ~parameter_view();
  parameter_view(const parameter_view&) = delete;
  parameter_view& operator=(const parameter_view&) = delete;

  const CUgraphNodeParams& get() const noexcept { return params_; }

 private:
  void show(const empty_operation&) noexcept {}
  void show(const kernel_operation& kernel);
  void show(const copy_operation& copy);
  void show(const fill_operation& fill);
  void show(const host_operation& host);
  void show(const event_record_operation& record);
  void show(const event_wait_operation& wait);
  void show(const batch_operation& batch);
  void show(const child_operation& child);
  void show(const conditional_operation& conditional);
  void show(const alloc_operation& alloc);
  void show(const free_operation& freed) noexcept;

  CUgraphNodeParams params_{};
  CUcontext context_ = nullptr;
  std::vector<std::byte> arguments_;
  std::vector<void*> pointers_;
  std::size_t argument_bytes_ = 0;
  std::vector<CUstreamBatchMemOpParams> batch_;
  std::vector<CUmemAccessDesc> access_;
};

/// One kind's parameters in the form of the typed functions.
CUDA_KERNEL_NODE_PARAMS kernel_of(const CUgraphNodeParams& parameters);
CUDA_MEMSET_NODE_PARAMS fill_of(const CUgraphNodeParams& parameters);
CUDA_HOST_NODE_PARAMS host_of(const CUgraphNodeParams& parameters);
CUDA_BATCH_MEM_OP_NODE_PARAMS batch_of(const CUgraphNodeParams& parameters);
CUDA_MEM_ALLOC_NODE_PARAMS alloc_of(const CUgraphNodeParams& parameters);

/// Who owns the graph of a child graph's node: CUgraphChildGraphNodeOwnership (12.9).
int ownership_of(const CUgraphNodeParams& parameters) noexcept;

/// Whether every byte that a driver of the set version does not use is zero (driver-rules 9.1).
bool is_clean(const CUgraphNodeParams& parameters) noexcept;

// An operation with other parameters, as the setters on graph and executable make it. All of them
// give INVALID_VALUE where `old` is of another kind, and what is wrong with the parameters.

CUresult with_kernel(const operation& old, const CUDA_KERNEL_NODE_PARAMS& now, operation& made);
CUresult with_copy(const operation& old, const CUDA_MEMCPY3D& now, operation& made);
CUresult with_fill(const operation& old, const CUDA_MEMSET_NODE_PARAMS& now, operation& made);
CUresult with_host(const operation& old, const CUDA_HOST_NODE_PARAMS& now, operation& made);
CUresult with_batch(const operation& old, const CUDA_BATCH_MEM_OP_NODE_PARAMS& now,
                    operation& made);
CUresult with_recorded_event(const operation& old, CUevent now, operation& made);
CUresult with_awaited_event(const operation& old, CUevent now, operation& made);

/// Any of them; NOT_SUPPORTED for kinds whose parameters are fixed.
CUresult with_parameters(const operation& old, const CUgraphNodeParams& now, operation& made);

}  // namespace cugraft_sim
