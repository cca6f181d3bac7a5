// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "entry.hpp"
#include "forms.hpp"

// Forms for programs that were built against older headers, or that ask for an older version
// (driver-rules 1.1, 6). What they lack has the value that it had when there was nothing else.

namespace cugraft_sim {

CUresult impl::device_primary_ctx_release_v1(CUdevice of) { return device_primary_ctx_release(of); }

CUresult impl::ctx_create_v1(CUcontext* made, unsigned flags, CUdevice on) {
  return ctx_create(made, flags, on);
}

CUresult impl::ctx_destroy_v1(CUcontext which) { return ctx_destroy(which); }

CUresult impl::ctx_push_current_v1(CUcontext which) { return ctx_push_current(which); }

CUresult impl::ctx_pop_current_v1(CUcontext* popped) { return ctx_pop_current(popped); }

CUresult impl::stream_destroy_v1(CUstream which) { return stream_destroy(which); }

CUresult impl::event_destroy_v1(CUevent which) { return event_destroy(which); }

// The first form of these needs an option of the kernel module, which is off by default (attribute
// CAN_USE_STREAM_MEM_OPS_V1).
CUresult impl::stream_batch_mem_op_v1(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult impl::stream_wait_value32_v1(CUstream, CUdeviceptr, cuuint32_t, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult impl::stream_write_value32_v1(CUstream, CUdeviceptr, cuuint32_t, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult impl::stream_wait_value64_v1(CUstream, CUdeviceptr, cuuint64_t, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult impl::stream_write_value64_v1(CUstream, CUdeviceptr, cuuint64_t, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// As in the relaxed mode: an H200 lets other threads do what ends a global capture.
CUresult impl::stream_begin_capture_v1(CUstream on) {
  return stream_begin_capture(on, CU_STREAM_CAPTURE_MODE_RELAXED);
}

CUresult impl::stream_get_capture_info_v1(CUstream of, CUstreamCaptureStatus* status,
                                          cuuint64_t* id) {
  return stream_get_capture_info(of, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult impl::stream_get_capture_info_v2(CUstream of, CUstreamCaptureStatus* status,
                                          cuuint64_t* id, CUgraph* into, const CUgraphNode** nodes,
                                          std::size_t* count) {
  return stream_get_capture_info(of, status, id, into, nodes, nullptr, count);
}

CUresult impl::stream_update_capture_dependencies_v1(CUstream of, CUgraphNode* nodes,
                                                     std::size_t count, unsigned flags) {
  return stream_update_capture_dependencies(of, nodes, nullptr, count, flags);
}

CUresult impl::graph_get_edges_v1(CUgraph of, CUgraphNode* from, CUgraphNode* to,
                                  std::size_t* count) {
  return graph_get_edges(of, from, to, nullptr, count);
}

CUresult impl::graph_node_get_dependencies_v1(CUgraphNode of, CUgraphNode* nodes,
                                              std::size_t* count) {
  return graph_node_get_dependencies(of, nodes, nullptr, count);
}

CUresult impl::graph_node_get_dependent_nodes_v1(CUgraphNode of, CUgraphNode* nodes,
                                                 std::size_t* count) {
  return graph_node_get_dependent_nodes(of, nodes, nullptr, count);
}

CUresult impl::graph_add_dependencies_v1(CUgraph to, const CUgraphNode* from,
                                         const CUgraphNode* nodes, std::size_t count) {
  return graph_add_dependencies(to, from, nodes, nullptr, count);
}

CUresult impl::graph_remove_dependencies_v1(CUgraph of, const CUgraphNode* from,
                                            const CUgraphNode* to, std::size_t count) {
  return graph_remove_dependencies(of, from, to, nullptr, count);
}

CUresult impl::graph_add_node_v1(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                 std::size_t count, CUgraphNodeParams* parameters) {
  return graph_add_node(made, to, nodes, nullptr, count, parameters);
}

namespace {

// Before 12.0 a kernel was named by its function alone.
CUDA_KERNEL_NODE_PARAMS with_function_only(const CUDA_KERNEL_NODE_PARAMS_v1& given) {
  CUDA_KERNEL_NODE_PARAMS all{};
  all.func = given.func;
  all.gridDimX = given.gridDimX;
  all.gridDimY = given.gridDimY;
  all.gridDimZ = given.gridDimZ;
  all.blockDimX = given.blockDimX;
  all.blockDimY = given.blockDimY;
  all.blockDimZ = given.blockDimZ;
  all.sharedMemBytes = given.sharedMemBytes;
  all.kernelParams = given.kernelParams;
  all.extra = given.extra;
  return all;
}

CUDA_KERNEL_NODE_PARAMS_v1 without_kernel(const CUDA_KERNEL_NODE_PARAMS& all) {
  return {all.func,      all.gridDimX,  all.gridDimY,       all.gridDimZ,     all.blockDimX,
          all.blockDimY, all.blockDimZ, all.sharedMemBytes, all.kernelParams, all.extra};
}

}  // namespace

CUresult impl::graph_add_kernel_node_v1(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                        std::size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS all = with_function_only(*parameters);
  return graph_add_kernel_node(made, to, nodes, count, &all);
}

CUresult impl::graph_kernel_node_get_params_v1(CUgraphNode of,
                                               CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  CUDA_KERNEL_NODE_PARAMS all{};
  if (const CUresult result = graph_kernel_node_get_params(of, parameters ? &all : nullptr))
    return result;
  *parameters = without_kernel(all);
  return CUDA_SUCCESS;
}

CUresult impl::graph_kernel_node_set_params_v1(CUgraphNode which,
                                               const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  if (!parameters) return graph_kernel_node_set_params(which, nullptr);
  const CUDA_KERNEL_NODE_PARAMS all = with_function_only(*parameters);
  return graph_kernel_node_set_params(which, &all);
}

CUresult impl::graph_exec_kernel_node_set_params_v1(CUgraphExec of, CUgraphNode which,
                                                    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  if (!parameters) return graph_exec_kernel_node_set_params(of, which, nullptr);
  const CUDA_KERNEL_NODE_PARAMS all = with_function_only(*parameters);
  return graph_exec_kernel_node_set_params(of, which, &all);
}

// The node on the other side of an edge is not told.
CUresult impl::graph_exec_update_v1(CUgraphExec which, CUgraph from, CUgraphNode* at_fault,
                                    CUgraphExecUpdateResult* refusal) {
  CUgraphExecUpdateResultInfo info{CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  const CUresult result = graph_exec_update(which, from, &info);
  if (at_fault) *at_fault = info.errorNode;
  if (refusal) *refusal = info.result;
  return result;
}

// In place of the number of the result there is a text.
CUresult impl::graph_instantiate(CUgraphExec* made, CUgraph from, CUgraphNode* at_fault, char* log,
                                 std::size_t log_size) {
  CUDA_GRAPH_INSTANTIATE_PARAMS all{};
  const CUresult result = graph_instantiate_with_params(made, from, &all);
  if (at_fault) *at_fault = all.hErrNode_out;
  if (log && log_size > 0) {
    const std::string_view text = result == CUDA_SUCCESS ? "" : "the graph cannot be instantiated";
    log[text.copy(log, log_size - 1)] = '\0';
  }
  return result;
}

CUresult impl::graph_instantiate_v1(CUgraphExec* made, CUgraph from, CUgraphNode* at_fault,
                                    char* log, std::size_t log_size) {
  return graph_instantiate(made, from, at_fault, log, log_size);
}

}  // namespace cugraft_sim
