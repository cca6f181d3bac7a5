// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "entry.hpp"
#include "graph.hpp"
#include "node_params.hpp"

namespace cugraft_sim {
namespace {

// What the getters hand out belongs to the node, and is made once per change.
CUresult view_of(CUgraphNode handle, std::shared_ptr<parameter_view>& view) {
  std::shared_ptr<graph_node> node;
  if (const CUresult result = find_node(handle, node)) return result;
  if (!node->view) node->view = std::make_shared<parameter_view>(node->work);
  view = node->view;
  return CUDA_SUCCESS;
}

template <class Parameters, class Read>
CUresult get(CUgraphNode node, CUgraphNodeType type, Parameters* parameters, Read read) {
  std::shared_ptr<parameter_view> view;
  if (const CUresult result = view_of(node, view)) return result;
  if (!parameters || view->get().type != type) return CUDA_ERROR_INVALID_VALUE;
  *parameters = read(view->get());
  return CUDA_SUCCESS;
}

template <class Make>
CUresult set(CUgraphNode handle, Make make) {
  std::shared_ptr<graph_node> node;
  if (const CUresult result = find_node(handle, node)) return result;
  operation changed;
  if (const CUresult result = make(node->work, changed)) return result;
  set_work(*node, std::move(changed));
  return CUDA_SUCCESS;
}

template <class Parameters>
CUresult set(CUgraphNode node, const Parameters* parameters,
             CUresult (*make)(const operation&, const Parameters&, operation&)) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return set(node, [&](const operation& old, operation& changed) {
    return make(old, *parameters, changed);
  });
}

CUresult set(CUgraphNode node, CUevent event,
             CUresult (*make)(const operation&, CUevent, operation&)) {
  return set(node,
             [&](const operation& old, operation& changed) { return make(old, event, changed); });
}

}  // namespace

CUresult impl::graph_node_get_params(CUgraphNode node, CUgraphNodeParams* parameters) {
  std::shared_ptr<parameter_view> view;
  if (const CUresult result = view_of(node, view)) return result;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  *parameters = view->get();
  return CUDA_SUCCESS;
}

CUresult impl::graph_node_set_params(CUgraphNode node, CUgraphNodeParams* parameters) {
  return set(node, parameters, with_parameters);
}

CUresult impl::graph_kernel_node_get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  return get(node, CU_GRAPH_NODE_TYPE_KERNEL, parameters, kernel_of);
}

CUresult impl::graph_kernel_node_set_params(CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return set(node, parameters, with_kernel);
}

CUresult impl::graph_memcpy_node_get_params(CUgraphNode node, CUDA_MEMCPY3D* parameters) {
  return get(node, CU_GRAPH_NODE_TYPE_MEMCPY, parameters,
             [](const CUgraphNodeParams& all) { return all.memcpy.copyParams; });
}

CUresult impl::graph_memcpy_node_set_params(CUgraphNode node, const CUDA_MEMCPY3D* parameters) {
  return set(node, parameters, with_copy);
}

CUresult impl::graph_memset_node_get_params(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  return get(node, CU_GRAPH_NODE_TYPE_MEMSET, parameters, fill_of);
}

CUresult impl::graph_memset_node_set_params(CUgraphNode node,
                                            const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return set(node, parameters, with_fill);
}

CUresult impl::graph_host_node_get_params(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  return get(node, CU_GRAPH_NODE_TYPE_HOST, parameters, host_of);
}

CUresult impl::graph_host_node_set_params(CUgraphNode node,
                                          const CUDA_HOST_NODE_PARAMS* parameters) {
  return set(node, parameters, with_host);
}

CUresult impl::graph_batch_mem_op_node_get_params(CUgraphNode node,
                                                  CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return get(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, parameters, batch_of);
}

CUresult impl::graph_batch_mem_op_node_set_params(CUgraphNode node,
                                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return set(node, parameters, with_batch);
}

CUresult impl::graph_child_graph_node_get_graph(CUgraphNode node, CUgraph* content) {
  return get(node, CU_GRAPH_NODE_TYPE_GRAPH, content,
             [](const CUgraphNodeParams& all) { return all.graph.graph; });
}

CUresult impl::graph_mem_alloc_node_get_params(CUgraphNode node,
                                               CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return get(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, parameters, alloc_of);
}

CUresult impl::graph_mem_free_node_get_params(CUgraphNode node, CUdeviceptr* address) {
  return get(node, CU_GRAPH_NODE_TYPE_MEM_FREE, address,
             [](const CUgraphNodeParams& all) { return all.free.dptr; });
}

CUresult impl::graph_event_record_node_get_event(CUgraphNode node, CUevent* event) {
  return get(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event,
             [](const CUgraphNodeParams& all) { return all.eventRecord.event; });
}

CUresult impl::graph_event_record_node_set_event(CUgraphNode node, CUevent event) {
  return set(node, event, with_recorded_event);
}

CUresult impl::graph_event_wait_node_get_event(CUgraphNode node, CUevent* event) {
  return get(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event,
             [](const CUgraphNodeParams& all) { return all.eventWait.event; });
}

CUresult impl::graph_event_wait_node_set_event(CUgraphNode node, CUevent event) {
  return set(node, event, with_awaited_event);
}

}  // namespace cugraft_sim
