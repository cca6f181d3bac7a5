// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "condition.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "node_params.hpp"
#include "work_compare.hpp"

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
                     operation work, const CUgraphEdgeData* data = nullptr) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(to, found)) return result;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  std::vector<dependency> dependencies;
  if (const CUresult result = read_dependencies(*found, nodes, data, count, dependencies))
    return result;
  if (has_duplicates(dependencies)) return CUDA_ERROR_INVALID_VALUE;
  if (found->recapturing) return CUDA_ERROR_NOT_SUPPORTED;
  if (found->is_body && !may_be_in_body(work)) return CUDA_ERROR_NOT_SUPPORTED;
  const graph_node shape{.work = work};
  for (const dependency& each : dependencies)
    if (!is_edge(*each.node, shape, each.data)) return CUDA_ERROR_INVALID_VALUE;
  graph_node& node = add_node(*found, std::move(work), std::move(dependencies));
  leave_open(node);
  *made = node.handle;
  return CUDA_SUCCESS;
}

// Who has a child's content afterwards. Headers before 12.9 have neither the field nor the names.
enum class ownership : int { clone = 0, move = 1 };

ownership ownership_of(const CUgraphNodeParams& parameters) noexcept {
  constexpr std::size_t offset = offsetof(CUgraphNodeParams, graph) + sizeof(CUgraph);
  ownership given{};
  std::memcpy(&given, reinterpret_cast<const std::byte*>(&parameters) + offset, sizeof given);
  return given;
}

bool is_inside(const graph& wanted, const graph& around) noexcept {
  return &wanted == &around || std::ranges::any_of(around.nodes, [&](const auto& node) {
    return std::ranges::any_of(inner_graphs(node->work),
                               [&](const auto& inner) { return is_inside(wanted, *inner); });
  });
}

// A graph that is a child already stays where it is (driver-rules 6.2).
CUresult check_move(const graph& content, CUgraph to) {
  if (content.is_child || content.capturing) return CUDA_ERROR_INVALID_VALUE;
  const auto into = find_any_graph(to);
  return into && is_inside(*into, content) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// The graph is cloned into the node (driver-rules 1.2 L): one inside itself is its copy of now. Or
// it is moved: its handle goes on, and it belongs to the node.
CUresult add_child(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                   CUgraph content, ownership how, const CUgraphEdgeData* data = nullptr) {
  std::shared_ptr<graph> original;
  if (const CUresult result = find_graph(content, original)) return result;
  if (how != ownership::clone && how != ownership::move) return CUDA_ERROR_INVALID_VALUE;
  if (has_conditional_nodes(*original)) return CUDA_ERROR_NOT_SUPPORTED;
  const bool is_moved = how == ownership::move;
  if (is_moved)
    if (const CUresult result = check_move(*original, to)) return result;
  const std::shared_ptr<graph> own = is_moved ? original : copy_graph(*original);
  const CUresult result =
      add_by_hand(made, to, nodes, count, {current_context_handle(), child_operation{own}}, data);
  if (result == CUDA_SUCCESS) {
    own->is_child = true;
    own->is_moved = is_moved;
  } else if (!is_moved) {
    drop_graph(*own);
  }
  return result;
}

CUresult add_conditional(CUgraphNode* made, CUgraph to, const CUgraphNode* nodes, std::size_t count,
                         CUgraphNodeParams& parameters, const CUgraphEdgeData* data) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(to, found)) return result;
  const std::vector<condition> before = root_of(*found).conditions;
  operation work;
  if (const CUresult result = make_conditional(*found, parameters, work)) return result;
  const auto conditional = std::get<conditional_operation>(work.what);
  const CUresult result = add_by_hand(made, to, nodes, count, std::move(work), data);
  if (result == CUDA_SUCCESS) {
    parameters.conditional.phGraph_out = conditional.shown->data();
  } else {
    root_of(*found).conditions = before;
    for (const auto& body : conditional.bodies) drop_graph(*body);
  }
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
  return add_child(made, to, nodes, count, content, ownership::clone);
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
    return add_child(made, to, nodes, count, parameters->graph.graph, ownership_of(*parameters),
                     data);
  if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    return add_conditional(made, to, nodes, count, *parameters, data);
  operation nothing, work;
  if (!nothing_of(*parameters, nothing)) return CUDA_ERROR_NOT_SUPPORTED;
  if (const CUresult result = with_parameters(nothing, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work), data);
}

}  // namespace cugraft_sim
