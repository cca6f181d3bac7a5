// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "node_params.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

bool has_edge_data(const dependency& of) noexcept {
  const CUgraphEdgeData& data = of.data;
  return data.from_port != 0 || data.to_port != 0 || data.type != 0;
}

bool has_duplicates(const std::vector<dependency>& dependencies) {
  for (auto each = dependencies.begin(); each != dependencies.end(); ++each)
    if (std::find_if(dependencies.begin(), each,
                     [&](const dependency& earlier) { return earlier.node == each->node; }) != each)
      return true;
  return false;
}

// Fills up to *count entries, nulls the spare ones, and says how many were filled
// (driver-rules 9.4). An array without room is refused before that, as an H200 does.
void give(const std::vector<CUgraphNode>& from, CUgraphNode* to, std::size_t* count) {
  const std::size_t given = std::min(*count, from.size());
  std::copy_n(from.begin(), given, to);
  std::fill_n(to + given, *count - given, nullptr);
  *count = given;
}

std::vector<CUgraphNode> handles_of(const graph& of) {
  std::vector<CUgraphNode> handles;
  for (const auto& node : of.nodes) handles.push_back(node->handle);
  if (chosen(choice::get_nodes_order) == 1) std::ranges::reverse(handles);
  return handles;
}

std::shared_ptr<graph> copy_of(const graph& original) {
  const auto made = make_graph();
  made->cloned_from = original.handle;
  made->objects = original.objects;
  made->next_left_open = original.next_left_open;
  std::unordered_map<const graph_node*, graph_node*> copies;
  for (const auto& node : original.nodes) {
    std::vector<dependency> dependencies = node->dependencies;
    for (dependency& each : dependencies) each.node = copies.at(each.node);
    graph_node& copy = add_node(*made, node->work, std::move(dependencies));
    copy.local_id = node->local_id;
    copy.left_open = node->left_open;
    copies[node.get()] = &copy;
    made->copies[node->handle] = copy.handle;
  }
  made->next_local_id = original.next_local_id;
  return made;
}

}  // namespace

CUresult impl::graph_create(CUgraph* made, unsigned flags) {
  if (!made || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *made = make_graph()->handle;
  return CUDA_SUCCESS;
}

// The one call that an undefined graph takes. Executables live on.
CUresult impl::graph_destroy(CUgraph which) {
  const auto found = find_any_graph(which);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  if (found->capturing) return CUDA_ERROR_ILLEGAL_STATE;
  drop_graph(*found);
  return CUDA_SUCCESS;
}

CUresult impl::graph_clone(CUgraph* made, CUgraph original) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(original, found)) return result;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  *made = copy_of(*found)->handle;
  return CUDA_SUCCESS;
}

CUresult impl::graph_node_find_in_clone(CUgraphNode* copy, CUgraphNode original, CUgraph clone) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(clone, found)) return result;
  if (!copy || !original) return CUDA_ERROR_INVALID_VALUE;
  const auto known = found->copies.find(original);
  if (known == found->copies.end()) return CUDA_ERROR_INVALID_VALUE;
  *copy = known->second;
  return CUDA_SUCCESS;
}

CUresult impl::graph_get_nodes(CUgraph of, CUgraphNode* nodes, std::size_t* count) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  if (!count || (nodes && *count == 0)) return CUDA_ERROR_INVALID_VALUE;
  if (nodes)
    give(handles_of(*found), nodes, count);
  else
    *count = found->nodes.size();
  return CUDA_SUCCESS;
}

CUresult impl::graph_node_get_dependencies(CUgraphNode of, CUgraphNode* nodes,
                                           CUgraphEdgeData* edges, std::size_t* count) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(of, found)) return result;
  if (!count || (edges && !nodes) || (nodes && *count == 0)) return CUDA_ERROR_INVALID_VALUE;
  if (!nodes) {
    *count = found->dependencies.size();
    return CUDA_SUCCESS;
  }
  if (!edges && std::ranges::any_of(found->dependencies, has_edge_data))
    return CUDA_ERROR_LOSSY_QUERY;
  std::vector<CUgraphNode> handles;
  for (const dependency& each : found->dependencies) handles.push_back(each.node->handle);
  give(handles, nodes, count);
  for (std::size_t i = 0; edges && i < *count; ++i) edges[i] = found->dependencies[i].data;
  return CUDA_SUCCESS;
}

CUresult impl::graph_node_get_type(CUgraphNode of, CUgraphNodeType* type) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(of, found)) return result;
  if (!type) return CUDA_ERROR_INVALID_VALUE;
  *type = type_of(found->work);
  return CUDA_SUCCESS;
}

CUresult impl::graph_node_get_local_id(CUgraphNode of, unsigned* id) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(of, found)) return result;
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = found->local_id;
  return CUDA_SUCCESS;
}

namespace {

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
  operation work;
  const operation nothing{current_context_handle(), kernel_operation{}};
  if (const CUresult result = with_kernel(nothing, *parameters, work)) return result;
  return add_by_hand(made, to, nodes, count, std::move(work));
}

}  // namespace cugraft_sim
