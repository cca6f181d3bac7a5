// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda_api.hpp"
#include "graph.hpp"
#include "ptx/hooks.hpp"

// Conditional nodes (driver-rules 7): handles, bodies, and the values that kernels set.

namespace cugraft_sim {

/// The values of an executable's conditions during one launch.
class condition_values {
 public:
  /// A condition without a default value has 0, where a real driver says "undefined".
  explicit condition_values(const std::vector<condition>& of);

  unsigned get(cuuint64_t handle) const noexcept { return values_[handle - 1]; }

  /// False where the executable has no such condition.
  bool set(cuuint64_t handle, unsigned value) noexcept;

 private:
  std::vector<unsigned> values_;
};

/// What kernels call by name: `cudaGraphSetConditional`. The context of the launch is its
/// `condition_values`, null outside of a graph.
ptx::hook_table device_functions();

/// The graph that numbers the conditions of `of`: the outermost one around a body.
graph& root_of(graph& of) noexcept;
const graph& root_of(const graph& of) noexcept;

/// Makes the operation of a conditional node of `to`, with empty bodies, and takes its handle.
CUresult make_conditional(graph& to, const CUgraphNodeParams& parameters, operation& made);

/// The node was not added: its condition is without a node again.
void give_condition_back(graph& to, cuuint64_t handle) noexcept;

/// A node that a body may not have, also in a graph inside it (driver-rules 7). Bodies take such
/// nodes (H200), their graph is not instantiated.
struct unfit_node {
  const graph_node* node = nullptr;  ///< null where there is none
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
};

/// The first node of a body that is of another kind, or a kernel of another context than the
/// conditional node's.
unfit_node find_unfit_for_body(const graph& of) noexcept;

/// Whether a graph or one inside it has a conditional node.
bool has_conditional_nodes(const graph& of) noexcept;

/// Whether a condition of the graph is used by no node.
bool has_unused_condition(const graph& of) noexcept;

}  // namespace cugraft_sim
