// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "entry.hpp"
#include "graph.hpp"

// Edges and nodes taken out and put in by hand.

namespace cugraft_sim {
namespace {

struct named_edge {
  graph_node* from;
  graph_node* to;
  CUgraphEdgeData data;
};

CUresult read_edges(CUgraph of, const CUgraphNode* from, const CUgraphNode* to,
                    const CUgraphEdgeData* data, std::size_t count,
                    std::vector<named_edge>& edges) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  if (found->recapturing) return CUDA_ERROR_NOT_SUPPORTED;
  std::vector<dependency> sources, targets;
  if (const CUresult result = read_dependencies(*found, from, data, count, sources)) return result;
  if (const CUresult result = read_dependencies(*found, to, nullptr, count, targets)) return result;
  for (std::size_t i = 0; i < count; ++i) {
    if (sources[i].node == targets[i].node) return CUDA_ERROR_INVALID_VALUE;
    edges.push_back({sources[i].node, targets[i].node, sources[i].data});
  }
  return CUDA_SUCCESS;
}

bool is_there(const named_edge& edge) { return edge.from->dependents.contains(edge.to); }

}  // namespace

// An edge that is there already ends the call; those before it stay (H200).
CUresult impl::graph_add_dependencies(CUgraph to, const CUgraphNode* from_nodes,
                                      const CUgraphNode* to_nodes, const CUgraphEdgeData* data,
                                      std::size_t count) {
  std::vector<named_edge> edges;
  if (const CUresult result = read_edges(to, from_nodes, to_nodes, data, count, edges))
    return result;
  for (const named_edge& each : edges)
    if (!is_edge(*each.from, *each.to, each.data)) return CUDA_ERROR_INVALID_VALUE;
  for (const named_edge& each : edges) {
    if (is_there(each)) return CUDA_ERROR_INVALID_VALUE;
    add_edge(*each.to, {each.from, each.data});
  }
  return CUDA_SUCCESS;
}

// Which data an edge is named with does not matter (H200; driver-rules 9.3 says that it does). With
// memory nodes all edges stay (6.2).
CUresult impl::graph_remove_dependencies(CUgraph from, const CUgraphNode* from_nodes,
                                         const CUgraphNode* to_nodes, const CUgraphEdgeData* data,
                                         std::size_t count) {
  std::vector<named_edge> edges;
  if (const CUresult result = read_edges(from, from_nodes, to_nodes, data, count, edges))
    return result;
  if (!std::ranges::all_of(edges, is_there)) return CUDA_ERROR_INVALID_VALUE;
  if (!edges.empty() && has_memory_nodes(*edges.front().to->owner)) return CUDA_ERROR_NOT_SUPPORTED;
  for (const named_edge& each : edges) {
    if (!is_there(each)) return CUDA_ERROR_INVALID_VALUE;  // it was named twice
    remove_edge(*each.from, *each.to);
  }
  return CUDA_SUCCESS;
}

// Not while a capture adds to the graph (driver-rules 2.2), and never from one with memory nodes
// (6.2).
CUresult impl::graph_destroy_node(CUgraphNode which) {
  std::shared_ptr<graph_node> found;
  if (const CUresult result = find_node(which, found)) return result;
  if (found->owner->capturing) return CUDA_ERROR_ILLEGAL_STATE;
  if (has_memory_nodes(*found->owner)) return CUDA_ERROR_NOT_SUPPORTED;
  drop_node(*found);
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
