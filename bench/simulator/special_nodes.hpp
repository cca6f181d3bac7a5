// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "simulator/driver_functions.hpp"
#include "simulator/part.hpp"

namespace cugraft_sim {

/// Graphs of nodes that are not stream work alone: memory that is allocated and freed, and
/// conditions, each with an empty node in its body.
class special_nodes {
 public:
  special_nodes(const driver_functions& driver, std::size_t nodes) : cu_(driver), count_(nodes) {
    cu_.ctx_get_current(&context_);
    cu_.stream_create_with_priority(&stream_, CU_STREAM_NON_BLOCKING, 0);
  }
  ~special_nodes() { cu_.stream_destroy(stream_); }
  special_nodes(const special_nodes&) = delete;
  special_nodes& operator=(const special_nodes&) = delete;

  void run() {
    CUgraph memory = nullptr;
    part("memory: capture", [&] { memory = capture_memory(); });
    use("memory", memory);
    CUgraph conditions = nullptr;
    cu_.graph_create(&conditions, 0);
    part("conditions: nodes by hand", [&] {
      for (std::size_t i = 0; i < count_; ++i) add_condition(conditions);
    });
    use("conditions", conditions);
  }

 private:
  void part(const std::string& name, const std::function<void()>& what) const {
    run_part(name.c_str(), what, count_);
  }

  // Every other node frees what the one before it allocated.
  CUgraph capture_memory() const {
    constexpr std::size_t bytes = 64;
    CUgraph made = nullptr;
    cu_.stream_begin_capture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
    for (std::size_t i = 0; i < count_ / 2; ++i) {
      CUdeviceptr memory = 0;
      cu_.mem_alloc_async(&memory, bytes, stream_);
      cu_.mem_free_async(memory, stream_);
    }
    cu_.stream_end_capture(stream_, &made);
    return made;
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

  void use(const std::string& name, CUgraph graph) const {
    CUgraphExec exec = nullptr;
    part(name + ": instantiate", [&] { cu_.graph_instantiate_with_flags(&exec, graph, 0); });
    part(name + ": launch", [&] {
      cu_.graph_launch(exec, stream_);
      cu_.stream_synchronize(stream_);
    });
    part(name + ": update, whole", [&] {
      CUgraphExecUpdateResultInfo info{};
      cu_.graph_exec_update(exec, graph, &info);
    });
    part(name + ": destroy", [&] {
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
