// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "context.hpp"
#include "entry.hpp"
#include "exec.hpp"
#include "node_params.hpp"
#include "work_compare.hpp"

namespace cugraft_sim {
namespace {

// What all setters do: later launches run with the new values, the graph's node is left alone.
template <class Make>
CUresult patch(CUgraphExec which, CUgraphNode node, Make make) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  exec_node* held = nullptr;
  if (const CUresult result = find_exec_node(*exec, node, held)) return result;
  operation changed;
  if (const CUresult result = make(*held->work, changed)) return result;
  if (!can_patch(*held->work, changed)) return CUDA_ERROR_INVALID_VALUE;
  held->work = std::make_shared<const operation>(std::move(changed));
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult patch(CUgraphExec which, CUgraphNode node, const Parameters* parameters,
               CUresult (*make)(const operation&, const Parameters&, operation&)) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return patch(which, node, [&](const operation& held, operation& changed) {
    return make(held, *parameters, changed);
  });
}

CUresult patch(CUgraphExec which, CUgraphNode node, CUevent event,
               CUresult (*make)(const operation&, CUevent, operation&)) {
  return patch(which, node, [&](const operation& held, operation& changed) {
    return make(held, event, changed);
  });
}

}  // namespace

// A child's content goes by its graph; everything else as by the setter of its kind.
CUresult impl::graph_exec_node_set_params(CUgraphExec which, CUgraphNode node,
                                          CUgraphNodeParams* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return is_clean(*parameters)
               ? graph_exec_child_graph_node_set_params(which, node, parameters->graph.graph)
               : CUDA_ERROR_INVALID_VALUE;
  return patch(which, node, static_cast<const CUgraphNodeParams*>(parameters), with_parameters);
}

CUresult impl::graph_exec_kernel_node_set_params(CUgraphExec which, CUgraphNode node,
                                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  // Without a context, driver 580 crashes (H200).
  if (current_context_handle() == nullptr && !(parameters && parameters->ctx))
    return CUDA_ERROR_INVALID_CONTEXT;
  return patch(which, node, parameters, with_kernel);
}

// Any context is taken here and below (facts).
CUresult impl::graph_exec_memcpy_node_set_params(CUgraphExec which, CUgraphNode node,
                                                 const CUDA_MEMCPY3D* parameters, CUcontext) {
  return patch(which, node, parameters, with_copy);
}

CUresult impl::graph_exec_memset_node_set_params(CUgraphExec which, CUgraphNode node,
                                                 const CUDA_MEMSET_NODE_PARAMS* parameters,
                                                 CUcontext) {
  return patch(which, node, parameters, with_fill);
}

CUresult impl::graph_exec_host_node_set_params(CUgraphExec which, CUgraphNode node,
                                               const CUDA_HOST_NODE_PARAMS* parameters) {
  return patch(which, node, parameters, with_host);
}

namespace {

bool can_be_disabled(const operation& work) noexcept {
  return std::holds_alternative<kernel_operation>(work.what) ||
         std::holds_alternative<copy_operation>(work.what) ||
         std::holds_alternative<fill_operation>(work.what);
}

CUresult find_switchable(CUgraphExec which, CUgraphNode node, exec_node*& held) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  if (const CUresult result = find_exec_node(*exec, node, held)) return result;
  return can_be_disabled(*held->work) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

// Kernels, copies and fills only; a disabled node is an empty one, and keeps its parameters
// (driver-rules 5.2).
CUresult impl::graph_node_set_enabled(CUgraphExec which, CUgraphNode node, unsigned is_enabled) {
  exec_node* held = nullptr;
  if (const CUresult result = find_switchable(which, node, held)) return result;
  held->is_enabled = is_enabled != 0;
  return CUDA_SUCCESS;
}

CUresult impl::graph_node_get_enabled(CUgraphExec which, CUgraphNode node, unsigned* is_enabled) {
  exec_node* held = nullptr;
  if (const CUresult result = find_switchable(which, node, held)) return result;
  if (!is_enabled) return CUDA_ERROR_INVALID_VALUE;
  *is_enabled = held->is_enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult impl::graph_exec_batch_mem_op_node_set_params(
    CUgraphExec which, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return patch(which, node, parameters, with_batch);
}

CUresult impl::graph_exec_event_record_node_set_event(CUgraphExec which, CUgraphNode node,
                                                      CUevent event) {
  return patch(which, node, event, with_recorded_event);
}

CUresult impl::graph_exec_event_wait_node_set_event(CUgraphExec which, CUgraphNode node,
                                                    CUevent event) {
  return patch(which, node, event, with_awaited_event);
}

}  // namespace cugraft_sim
