// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "condition.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "exec.hpp"
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

bool is_inside(const graph& wanted, const graph& around) noexcept {
  return &wanted == &around || std::ranges::any_of(around.nodes, [&](const auto& node) {
    return std::ranges::any_of(inner_graphs(node->work),
                               [&](const auto& inner) { return is_inside(wanted, *inner); });
  });
}

// The graph is cloned into the node (driver-rules 1.2 L). A graph inside itself is its copy of now.
// An H200 takes no graph that is inside a node already.
CUresult clone_child(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                     CUgraph content, const CUgraphEdgeData* data = nullptr) {
  std::shared_ptr<graph> original;
  if (const CUresult result = find_graph(content, original)) return result;
  if (original->is_child || original->is_moved || has_memory_nodes(*original) ||
      has_conditional_nodes(*original))
    return CUDA_ERROR_NOT_SUPPORTED;
  const std::shared_ptr<graph> copy = copy_graph(*original);
  copy->is_child = true;
  const CUresult result =
      add_by_hand(made, to, nodes, count, {current_context_handle(), child_operation{copy}}, data);
  if (result != CUDA_SUCCESS) drop_graph(*copy);
  return result;
}

// A graph with memory nodes becomes nobody's child while it has an executable, and no child gets
// memory nodes (driver-rules 6.2).
CUresult check_move(const graph& content, const graph& to) {
  if (content.is_moved || has_conditional_nodes(content)) return CUDA_ERROR_NOT_SUPPORTED;
  if (content.is_child || is_inside(to, content)) return CUDA_ERROR_INVALID_VALUE;
  if (content.capturing) return CUDA_ERROR_ILLEGAL_STATE;
  const bool is_free =
      !has_memory_nodes(content) || !(to.is_child || is_instantiated(content.handle));
  return is_free ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

// By 12.9 the graph itself can become the node's.
CUresult move_child(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                    CUgraph content, const CUgraphEdgeData* data) {
  std::shared_ptr<graph> moved, parent;
  if (const CUresult result = find_graph(content, moved)) return result;
  if (const CUresult result = find_graph(to, parent)) return result;
  if (const CUresult result = check_move(*moved, *parent)) return result;
  const operation work{current_context_handle(), child_operation{moved}};
  if (const CUresult result = add_by_hand(made, to, nodes, count, work, data)) return result;
  moved->is_child = moved->is_moved = true;
  parent->has_memory |= moved->has_memory;
  return CUDA_SUCCESS;
}

CUresult add_child(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                   const CUgraphNodeParams& parameters, const CUgraphEdgeData* data) {
  constexpr int moves = 1;  // an ownership that is none clones (H200)
  return ownership_of(parameters) == moves
             ? move_child(made, to, nodes, count, parameters.graph.graph, data)
             : clone_child(made, to, nodes, count, parameters.graph.graph, data);
}

CUresult add_conditional(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                         CUgraphNodeParams& parameters, const CUgraphEdgeData* data) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(to, found)) return result;
  operation work;
  if (const CUresult result = make_conditional(*found, parameters, work)) return result;
  const auto conditional = std::get<conditional_operation>(work.what);
  const CUresult result = add_by_hand(made, to, nodes, count, std::move(work), data);
  if (result == CUDA_SUCCESS) {
    parameters.conditional.phGraph_out = conditional.shown->data();
  } else {
    give_condition_back(*found, conditional.condition);
    for (const auto& body : conditional.bodies) drop_graph(*body);
  }
  return result;
}

// Memory nodes, which no child gets (driver-rules 6.2).
CUresult add_memory_node(CUgraphNode* made, graph& to, const CUgraphNode* nodes, std::size_t count,
                         const operation& work, const CUgraphEdgeData* data) {
  if (to.is_child) return CUDA_ERROR_NOT_SUPPORTED;
  if (const CUresult result = add_by_hand(made, to.handle, nodes, count, work, data)) return result;
  note_memory_node(to, work);
  return CUDA_SUCCESS;
}

// The structures of the typed and of the generic call have the same members.
template <class Parameters>
CUresult add_alloc(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                   Parameters& parameters, const CUgraphEdgeData* data = nullptr) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(to, found)) return result;
  if (parameters.accessDescCount > 0 && !parameters.accessDescs) return CUDA_ERROR_INVALID_VALUE;
  operation work;
  if (const CUresult result =
          make_alloc(parameters.poolProps, {parameters.accessDescs, parameters.accessDescCount},
                     parameters.bytesize, current_context_handle(), work))
    return result;
  if (const CUresult result = add_memory_node(made, *found, nodes, count, work, data))
    return result;
  parameters.dptr = std::get<alloc_operation>(work.what).allocation->begin;
  return CUDA_SUCCESS;
}

CUresult add_free(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                  CUdeviceptr address, const CUgraphEdgeData* data = nullptr) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(to, found)) return result;
  operation work;
  if (const CUresult result = make_free(*found, address, current_context_handle(), work))
    return result;
  return add_memory_node(made, *found, nodes, count, work, data);
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

CUresult impl::graph_add_batch_mem_op_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                           std::size_t count,
                                           const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<context> where;
  if (const CUresult result = find_context(parameters->ctx, where)) return result;
  operation work;
  if (const CUresult result = with_batch({where->handle, batch_operation{}}, *parameters, work))
    return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

CUresult impl::graph_add_child_graph_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                          std::size_t count, CUgraph content) {
  return clone_child(made, to, nodes, count, content);
}

CUresult impl::graph_add_mem_alloc_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                        std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return parameters ? add_alloc(made, to, nodes, count, *parameters) : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::graph_add_mem_free_node(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes,
                                       std::size_t count, CUdeviceptr address) {
  return add_free(made, to, nodes, count, address);
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
      nothing.what = copy_operation{};
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
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      nothing.what = batch_operation{};
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
    return add_child(made, to, nodes, count, *parameters, data);
  if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    return add_conditional(made, to, nodes, count, *parameters, data);
  if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
    return add_alloc(made, to, nodes, count, parameters->alloc, data);
  if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return add_free(made, to, nodes, count, parameters->free.dptr, data);
  operation nothing, work;
  if (!nothing_of(*parameters, nothing)) return CUDA_ERROR_NOT_SUPPORTED;
  if (const CUresult result = with_parameters(nothing, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work), data);
}

}  // namespace cugraft_sim
