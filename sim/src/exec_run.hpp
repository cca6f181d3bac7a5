// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "condition.hpp"
#include "cuda_api.hpp"
#include "exec.hpp"
#include "graph_memory.hpp"
#include "operation.hpp"
#include "user_object.hpp"

namespace cugraft_sim {

/// What one launch of an executable does: the values of the moment of the launch, which later
/// updates do not reach.
class launch_plan {
 public:
  /// @param frees_first  memory that earlier launches left is freed, else it is an error
  explicit launch_plan(bool frees_first) : memory_(frees_first) {}

  /// Takes the values of an executable, and connects its events with their records of this moment
  /// and its memory nodes with their memory. If it fails, nothing has happened.
  CUresult take(const graph_exec& of);

  /// Runs it on the calling thread, which must not hold the driver's lock.
  CUresult run();

 private:
  struct step {
    std::shared_ptr<const operation> work;
    std::vector<std::vector<step>> bodies;  ///< of a conditional node
  };
  using sequence = std::vector<step>;

  CUresult take_steps(const graph_exec& of, sequence& steps);
  CUresult run(const sequence& steps);
  CUresult run_conditional(const step& node);

  launch_memory memory_;
  sequence steps_;
  condition_values conditions_{{}};
  std::vector<std::shared_ptr<const user_references>> objects_;  // kept while it runs
};

}  // namespace cugraft_sim
