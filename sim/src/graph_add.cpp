// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "node_params.hpp"
#include "work_compare.hpp"

// Nodes made by hand.

namespace cugraft_sim {
namespace {

bool has_duplicates(const std::vector<dependency>& dependencies) {
  std::vector<const graph_node*> nodes;
  for (const dependency& each : dependencies) nodes.push_back(each.node);
  std::ranges::sort(nodes);
  return std::ranges::adjacent_find(nodes) != nodes.end();
}

// What an added node does in a re-capture is documented nowhere, so none is taken there.
CUresult add_by_hand(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                     operation work, const CUgraphEdgeData* data = nullptr) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(to, found)) return result;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  std::vector<dependency> dependencies;
  if (const CUresult result = read_dependencies(*found, nodes, data, count, dependencies))
    return result;
  if (has_duplicates(dependencies)) return CUDA_ERROR_INVALID_VALUE;
  if (found->recapturing) return CUDA_ERROR_NOT_SUPPORTED;
  const graph_node shape{.work = work};
  for (const dependency& each : dependencies)
    if (!is_edge(*each.node, shape, each.data)) return CUDA_ERROR_INVALID_VALUE;
  graph_node& node = add_node(*found, std::move(work), std::move(dependencies));
  leave_open(node);
  *made = node.handle;
  return CUDA_SUCCESS;
}

// The graph is cloned into the node (driver-rules 1.2 L). A graph inside itself is its copy of now.
CUresult add_child(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                   CUgraph content, const CUgraphEdgeData* data = nullptr) {
  std::shared_ptr<graph> original;
  if (const CUresult result = find_graph(content, original)) return result;
  child_operation child{copy_graph(*original)};
  child.content->is_child = true;
  const std::shared_ptr<graph> copy = child.content;
  const CUresult result =
      add_by_hand(made, to, nodes, count, {current_context_handle(), std::move(child)}, data);
  if (result != CUDA_SUCCESS) drop_graph(*copy);
  return result;
}

}  // namespace

CUresult impl::graph_add_empty_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                    std::size_t count) {
  return add_by_hand(made, to, nodes, count, {});
}

CUresult impl::graph_add_kernel_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                     std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  const operation nothing{current_context_handle(), kernel_operation{}};
  operation work;
  if (const CUresult result = with_kernel(nothing, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

CUresult impl::graph_add_memcpy_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                     std::size_t count, const CUDA_MEMCPY3D* parameters,
                                     CUcontext in) {
  std::shared_ptr<context> where;
  if (const CUresult result = find_context(in, where)) return result;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  operation work;
  const copy_operation nothing{{}, !is_one_dimensional(*parameters)};
  if (const CUresult result = with_copy({in, nothing}, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

CUresult impl::graph_add_memset_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                     std::size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters,
                                     CUcontext in) {
  std::shared_ptr<context> where;
  if (const CUresult result = find_context(in, where)) return result;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  operation work;
  if (const CUresult result = with_fill({in, fill_operation{}}, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

CUresult impl::graph_add_host_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                   std::size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  const operation nothing{current_context_handle(), host_operation{}};
  operation work;
  if (const CUresult result = with_host(nothing, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

CUresult impl::graph_add_event_record_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                           std::size_t count, CUevent event) {
  const operation nothing{current_context_handle(), event_record_operation{}};
  operation work;
  if (const CUresult result = with_recorded_event(nothing, event, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

CUresult impl::graph_add_event_wait_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                         std::size_t count, CUevent event) {
  const operation nothing{current_context_handle(), event_wait_operation{}};
  operation work;
  if (const CUresult result = with_awaited_event(nothing, event, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

CUresult impl::graph_add_child_graph_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                          std::size_t count, CUgraph content) {
  return add_child(made, to, nodes, count, content);
}

namespace {

// An operation of the kind, without parameters.
bool nothing_of(const CUgraphNodeParams& parameters, operation& nothing) {
  nothing = {current_context_handle(), empty_operation{}};
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      nothing.what = kernel_operation{};
      return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      nothing.what = copy_operation{{}, !is_one_dimensional(parameters.memcpy.copyParams)};
      return true;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      nothing.what = fill_operation{};
      return true;
    case CU_GRAPH_NODE_TYPE_HOST:
      nothing.what = host_operation{};
      return true;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      nothing.what = event_record_operation{};
      return true;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      nothing.what = event_wait_operation{};
      return true;
    default:
      return false;
  }
}

}  // namespace

CUresult impl::graph_add_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                              const CUgraphEdgeData* data, std::size_t count,
                              CUgraphNodeParams* parameters) {
  if (!parameters || !is_clean(*parameters)) return CUDA_ERROR_INVALID_VALUE;
  if (parameters->type == CU_GRAPH_NODE_TYPE_EMPTY)
    return add_by_hand(made, to, nodes, count, {}, data);
  if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return add_child(made, to, nodes, count, parameters->graph.graph, data);
  operation nothing, work;
  if (!nothing_of(*parameters, nothing)) return CUDA_ERROR_NOT_SUPPORTED;
  if (const CUresult result = with_parameters(nothing, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work), data);
}

}  // namespace cugraft_sim
