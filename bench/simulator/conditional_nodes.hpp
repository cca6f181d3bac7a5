// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "simulator/driver_functions.hpp"
#include "simulator/part.hpp"

namespace cugraft_sim {

/// A graph of conditional nodes, each with an empty node in its body. Memory nodes are not counted.
class conditional_nodes {
 public:
  conditional_nodes(const driver_functions& driver, std::size_t nodes)
      : cu_(driver), count_(nodes) {
    cu_.ctx_get_current(&context_);
    cu_.stream_create_with_priority(&stream_, CU_STREAM_NON_BLOCKING, 0);
  }
  ~conditional_nodes() { cu_.stream_destroy(stream_); }
  conditional_nodes(const conditional_nodes&) = delete;
  conditional_nodes& operator=(const conditional_nodes&) = delete;

  void run() {
    CUgraph conditions = nullptr;
    cu_.graph_create(&conditions, 0);
    part("nodes by hand", [&] {
      for (std::size_t i = 0; i < count_; ++i) add_condition(conditions);
    });
    use(conditions);
  }

 private:
  void part(const char* name, const std::function<void()>& what) const {
    run_part(name, what, count_);
  }

  void add_condition(CUgraph to) const {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = context_;
    cu_.graph_conditional_handle_create(&parameters.conditional.handle, to, context_, 1,
                                        CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode made = nullptr;
    cu_.graph_add_node(&made, to, nullptr, nullptr, 0, &parameters);
    cu_.graph_add_empty_node(&made, parameters.conditional.phGraph_out[0], nullptr, 0);
  }

  void use(CUgraph graph) const {
    CUgraphExec exec = nullptr;
    part("instantiate", [&] { cu_.graph_instantiate_with_flags(&exec, graph, 0); });
    part("launch", [&] {
      cu_.graph_launch(exec, stream_);
      cu_.stream_synchronize(stream_);
    });
    part("update, whole", [&] {
      CUgraphExecUpdateResultInfo info{};
      cu_.graph_exec_update(exec, graph, &info);
    });
    part("destroy", [&] {
      cu_.graph_exec_destroy(exec);
      cu_.graph_destroy(graph);
    });
  }

  const driver_functions& cu_;
  std::size_t count_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

}  // namespace cugraft_sim
