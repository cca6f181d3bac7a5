// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "entry.hpp"
#include "exec.hpp"
#include "graph.hpp"
#include "state.hpp"

// What graphs tell of themselves (driver-rules 9.4).

namespace cugraft_sim {
namespace {

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

/// An edge as a query gives it.
struct shown_edge {
  CUgraphNode from, to;
  CUgraphEdgeData data;
};

CUresult give_nodes(const std::vector<CUgraphNode>& all, CUgraphNode* nodes, std::size_t* count) {
  if (!count || (nodes && *count == 0)) return CUDA_ERROR_INVALID_VALUE;
  if (nodes)
    give(all, nodes, count);
  else
    *count = all.size();
  return CUDA_SUCCESS;
}

bool has_edge_data(const CUgraphEdgeData& data) noexcept {
  return data.from_port != 0 || data.to_port != 0 || data.type != 0;
}

// The count protocol for edges; `from` or `to` may be null where only the other is asked for.
CUresult give_edges(const std::vector<shown_edge>& all, CUgraphNode* from, CUgraphNode* to,
                    CUgraphEdgeData* data, std::size_t* count) {
  const bool counts_only = !from && !to;
  if (!count || (data && counts_only) || (!counts_only && *count == 0))
    return CUDA_ERROR_INVALID_VALUE;
  if (counts_only) {
    *count = all.size();
    return CUDA_SUCCESS;
  }
  const auto is_lossy = [](const shown_edge& each) { return has_edge_data(each.data); };
  if (!data && std::ranges::any_of(all, is_lossy)) return CUDA_ERROR_LOSSY_QUERY;
  const std::size_t room = *count;
  for (std::size_t i = 0; i < room; ++i) {
    const bool is_there = i < all.size();
    if (from) from[i] = is_there ? all[i].from : nullptr;
    if (to) to[i] = is_there ? all[i].to : nullptr;
    if (data && is_there) data[i] = all[i].data;
  }
  *count = std::min(room, all.size());
  return CUDA_SUCCESS;
}

}  // namespace

CUresult impl::graph_get_nodes(CUgraph of, CUgraphNode* nodes, std::size_t* count) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  return give_nodes(handles_of(*found), nodes, count);
}

CUresult impl::graph_get_root_nodes(CUgraph of, CUgraphNode* nodes, std::size_t* count) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  std::vector<CUgraphNode> roots;
  for (const graph_node* const node : roots_of(*found)) roots.push_back(node->handle);
  return give_nodes(roots, nodes, count);
}

CUresult impl::graph_get_edges(CUgraph of, CUgraphNode* from, CUgraphNode* to,
                               CUgraphEdgeData* data, std::size_t* count) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  if (!from != !to) return CUDA_ERROR_INVALID_VALUE;
  std::vector<shown_edge> edges;
  for (const auto& node : found->nodes)
    for (const dependency& each : node->dependencies)
      edges.push_back({each.node->handle, node->handle, each.data});
  return give_edges(edges, from, to, data, count);
}

CUresult impl::graph_node_get_dependencies(CUgraphNode of, CUgraphNode* nodes,
                                           CUgraphEdgeData* data, std::size_t* count) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(of, found)) return result;
  std::vector<shown_edge> edges;
  for (const dependency& each : found->dependencies)
    edges.push_back({each.node->handle, of, each.data});
  return give_edges(edges, nodes, nullptr, data, count);
}

CUresult impl::graph_node_get_dependent_nodes(CUgraphNode of, CUgraphNode* nodes,
                                              CUgraphEdgeData* data, std::size_t* count) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(of, found)) return result;
  std::vector<shown_edge> edges;
  for (const auto& [node, edge] : found->dependents)
    edges.push_back({of, node->handle, edge->data});
  return give_edges(edges, nullptr, nodes, data, count);
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

CUresult impl::graph_node_get_containing_graph(CUgraphNode of, CUgraph* graph) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(of, found)) return result;
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  *graph = found->owner->handle;
  return CUDA_SUCCESS;
}

// Unlike the local id, unique over all graphs of the process.
CUresult impl::graph_node_get_tools_id(CUgraphNode of, unsigned long long* id) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(of, found)) return result;
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = (static_cast<unsigned long long>(found->owner->id) << 32) | found->local_id;
  return CUDA_SUCCESS;
}

CUresult impl::graph_get_id(CUgraph of, unsigned* id) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = found->id;
  return CUDA_SUCCESS;
}

CUresult impl::graph_exec_get_id(CUgraphExec of, unsigned* id) {
  std::shared_ptr<graph_exec> found;
  if (const CUresult result = find_exec(of, found)) return result;
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = found->id;
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
