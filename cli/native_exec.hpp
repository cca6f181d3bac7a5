// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cugraft/context.hpp"
#include "cugraft/graph_exec.hpp"
#include "cugraft/stream.hpp"

namespace cugraft::cli {

/// An executable graph used through the driver's own calls, as programs without cugraft do.
class native_exec {
 public:
  /// Takes `exec` over.
  native_exec(const driver& driver, graph_exec exec);
  ~native_exec();
  native_exec(const native_exec&) = delete;
  native_exec& operator=(const native_exec&) = delete;

  /// Calls `cuGraphExecUpdate`.
  /// @throws cuda_error  also if the driver refuses
  void update(const graph& graph);

  /// Calls `cuGraphLaunch`.
  /// @throws cuda_error
  void launch(stream_ref stream);

 private:
  struct update_result_info;  // CUgraphExecUpdateResultInfo
  using update_function = int(CUgraphExec, CUgraph, update_result_info*);
  using launch_function = int(CUgraphExec, CUstream);
  using destroy_function = int(CUgraphExec);

  update_function* update_;
  launch_function* launch_;
  destroy_function* destroy_;
  CUgraphExec handle_;
};

/// Makes a context current on this thread, as the driver's own calls need it, and puts back what
/// was.
class current_context {
 public:
  explicit current_context(const context& context);
  ~current_context();
  current_context(const current_context&) = delete;
  current_context& operator=(const current_context&) = delete;

 private:
  driver driver_;
};

}  // namespace cugraft::cli
