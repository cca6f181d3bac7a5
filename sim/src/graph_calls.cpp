// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "condition.hpp"
#include "entry.hpp"
#include "graph.hpp"

namespace cugraft_sim {

CUresult impl::graph_create(CUgraph* made, unsigned flags) {
  if (!made || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *made = make_graph()->handle;
  return CUDA_SUCCESS;
}

// The one call that an undefined graph takes. Executables live on.
CUresult impl::graph_destroy(CUgraph which) {
  const auto found = find_any_graph(which);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  if (found->is_child) return CUDA_ERROR_INVALID_VALUE;
  if (found->capturing) return CUDA_ERROR_ILLEGAL_STATE;
  drop_graph(*found);
  return CUDA_SUCCESS;
}

CUresult impl::graph_clone(CUgraph* made, CUgraph original) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(original, found)) return result;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  if (has_memory_nodes(*found) || has_conditional_nodes(*found))
    return CUDA_ERROR_NOT_SUPPORTED;  // facts
  *made = copy_graph(*found)->handle;
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

}  // namespace cugraft_sim
