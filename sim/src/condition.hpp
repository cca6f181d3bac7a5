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

/// A node in a body, also of a graph inside, of a kind that bodies may not have (driver-rules 7);
/// null where there is none. Bodies take such nodes (H200), their graph is not instantiated.
const graph_node* find_unfit_for_body(const graph& of) noexcept;

/// Whether a graph or one inside it has a conditional node.
bool has_conditional_nodes(const graph& of) noexcept;

/// Whether a condition of the graph is used by no node.
bool has_unused_condition(const graph& of) noexcept;

}  // namespace cugraft_sim
