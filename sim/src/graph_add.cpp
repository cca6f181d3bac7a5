// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "node_params.hpp"

// Nodes made by hand.

namespace cugraft_sim {
namespace {

bool has_duplicates(const std::vector<dependency>& dependencies) {
  for (auto each = dependencies.begin(); each != dependencies.end(); ++each)
    if (std::find_if(dependencies.begin(), each,
                     [&](const dependency& earlier) { return earlier.node == each->node; }) != each)
      return true;
  return false;
}

// What an added node does in a re-capture is documented nowhere, so none is taken there.
CUresult add_by_hand(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                     operation work) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(to, found)) return result;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  std::vector<dependency> dependencies;
  if (const CUresult result = read_dependencies(*found, nodes, nullptr, count, dependencies))
    return result;
  if (has_duplicates(dependencies)) return CUDA_ERROR_INVALID_VALUE;
  if (found->recapturing) return CUDA_ERROR_NOT_SUPPORTED;
  graph_node& node = add_node(*found, std::move(work), std::move(dependencies));
  leave_open(node);
  *made = node.handle;
  return CUDA_SUCCESS;
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
  if (const CUresult result = with_copy({in, copy_operation{}}, *parameters, work)) return result;
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

// The graph is cloned into the node (driver-rules 1.2 L). A graph inside itself is its copy of now.
CUresult impl::graph_add_child_graph_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                          std::size_t count, CUgraph content) {
  std::shared_ptr<graph> original;
  if (const CUresult result = find_graph(content, original)) return result;
  child_operation child{copy_graph(*original)};
  child.content->is_child = true;
  const std::shared_ptr<graph> copy = child.content;
  const CUresult result =
      add_by_hand(made, to, nodes, count, {current_context_handle(), std::move(child)});
  if (result != CUDA_SUCCESS) drop_graph(*copy);
  return result;
}

}  // namespace cugraft_sim
