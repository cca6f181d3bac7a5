// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cuda_api.hpp"
#include "graph.hpp"
#include "operation.hpp"
#include "user_object.hpp"
#include "work_queue.hpp"

namespace cugraft_sim {

/// A dependency inside an executable.
struct exec_dependency {
  std::size_t node = 0;  ///< index
  CUgraphEdgeData data{};
};

struct graph_exec;

struct exec_node {
  std::shared_ptr<const operation> work;  ///< shared with launches under way; a change replaces it
  std::vector<exec_dependency> dependencies;
  std::size_t position = 0;                        ///< of its node, in the order of creation
  std::vector<std::shared_ptr<graph_exec>> inner;  ///< what its child graph or its bodies run
  bool is_enabled = true;
};

/// An executable graph: values of its own, made from a graph and changed by updates only.
struct graph_exec {
  CUgraphExec handle = nullptr;  ///< null for one inside another
  unsigned id = 0;               ///< of the process's graphs and executables
  CUgraph origin = nullptr;      ///< the only graph whose nodes the setters take, while it exists
  unsigned long long flags = 0;
  std::vector<exec_node> nodes;                           ///< each after those that it depends on
  std::unordered_map<CUgraphNode, std::size_t> index_of;  ///< by node of the origin
  std::vector<std::size_t> sinks;                         ///< in the order of pairing
  std::vector<condition> conditions;                      ///< by handle, of bodies too

  /// Shared with launches under way: an update replaces them, and those stay until they end.
  std::shared_ptr<const user_references> objects;

  /// Earlier launches; the next one waits for them.
  std::vector<ticket> launched;
};

/// The executable of this handle, or INVALID_VALUE.
CUresult find_exec(CUgraphExec handle, std::shared_ptr<graph_exec>& found);

/// The executable's node for a node of its origin, or of a graph inside that; INVALID_VALUE for any
/// other, and for all of them once the origin is gone (facts).
CUresult find_exec_node(graph_exec& of, CUgraphNode handle, exec_node*& found);

/// Calls `visit` for every executable of a graph.
void for_each_exec_of(CUgraph origin, const std::function<void(graph_exec&)>& visit);

/// Whether a graph has an executable.
bool is_instantiated(CUgraph which);

/// How many executables there are.
std::size_t count_execs();

}  // namespace cugraft_sim
