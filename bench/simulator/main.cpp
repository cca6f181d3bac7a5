// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/conditional_nodes.hpp"
#include "simulator/part.hpp"
#include "simulator/shapes.hpp"

// What the simulated driver does for graphs of many kernels, in parts. tools/count_instructions.py
// runs it, and counts the instructions of each part: those inside `measured_part`.

extern "C" void measured_part(const std::function<void()>& part) { part(); }

namespace cugraft_sim {
namespace {

constexpr const char* kernel_image = R"(
.version 7.8
.target sm_75
.address_size 64

.visible .entry nothing(.param .u32 value)
{
  ret;
}
)";

CUresult accept(void*, CUgraphNode, const CUgraphNodeParams*, const CUgraphNodeParams*,
                ::cugraft::newer::graph_recapture_status) {
  return CUDA_SUCCESS;
}

class program {
 public:
  program(const driver_functions& driver, const shape& of) : cu_(driver), shape_(of) {}

  void run() {
    part("capture", [&] { graph_ = capture(1); });
    part("instantiate", [&] { exec_ = instantiate(); });
    part("launch", [&] { launch(); });
    part("re-capture, nothing changed", [&] { recapture(1); });
    part("re-capture, all changed", [&] { recapture(2); });
    part("update, whole", [&] { update(); });
    queries();
    part(
        "update, one node", [&] { patch(); }, 1);
    part("clone", [&] { clone(); });
    cu_.graph_clone(&copy_, graph_);
    part("destroy", [&] { destroy(); });
    take_apart();
    by_hand();
  }

 private:
  void part(const char* name, const std::function<void()>& what, std::size_t units = 0) const {
    run_part(name, what, units == 0 ? shape_.nodes() : units);
  }

  CUgraph capture(unsigned value) const {
    CUgraph made = nullptr;
    cu_.stream_begin_capture(shape_.main(), CU_STREAM_CAPTURE_MODE_RELAXED);
    shape_.enqueue(value);
    cu_.stream_end_capture(shape_.main(), &made);
    return made;
  }

  void recapture(unsigned value) const {
    CUgraph made = nullptr;
    cu_.stream_begin_recapture_to_graph(shape_.main(), CU_STREAM_CAPTURE_MODE_RELAXED, graph_,
                                        accept, nullptr);
    shape_.enqueue(value);
    cu_.stream_end_capture(shape_.main(), &made);
  }

  CUgraphExec instantiate() const {
    CUgraphExec made = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    cu_.graph_instantiate_with_params(&made, graph_, &parameters);
    return made;
  }

  void launch() const {
    cu_.graph_launch(exec_, shape_.main());
    cu_.stream_synchronize(shape_.main());
  }

  void update() const {
    CUgraphExecUpdateResultInfo info{};
    cu_.graph_exec_update(exec_, graph_, &info);
  }

  void patch() const {
    unsigned value = 3;
    void* arguments[] = {&value};
    CUDA_KERNEL_NODE_PARAMS parameters{};
    const CUgraphNode node = nodes_[nodes_.size() / 2];
    cu_.graph_kernel_node_get_params(node, &parameters);
    parameters.kernelParams = static_cast<void**>(arguments);
    cu_.graph_exec_kernel_node_set_params(exec_, node, &parameters);
  }

  void queries() {
    std::size_t count = 0;
    part("list of nodes", [&] {
      cu_.graph_get_nodes(graph_, nullptr, &count);
      nodes_.resize(count);
      cu_.graph_get_nodes(graph_, nodes_.data(), &count);
    });
    part("list of edges", [&] {
      cu_.graph_get_edges(graph_, nullptr, nullptr, nullptr, &count);
      std::vector<CUgraphNode> from(count), to(count);
      cu_.graph_get_edges(graph_, from.data(), to.data(), nullptr, &count);
    });
    part("queries of each node", [&] {
      for (const CUgraphNode each : nodes_) query(each);
    });
  }

  void query(CUgraphNode node) const {
    CUgraphNodeType type{};
    cu_.graph_node_get_type(node, &type);
    CUDA_KERNEL_NODE_PARAMS parameters{};
    cu_.graph_kernel_node_get_params(node, &parameters);
    std::size_t count = 0;
    cu_.graph_node_get_dependencies(node, nullptr, nullptr, &count);
    cu_.graph_node_get_dependent_nodes(node, nullptr, nullptr, &count);
  }

  void clone() const {
    CUgraph made = nullptr;
    cu_.graph_clone(&made, graph_);
    CUgraphNode copy = nullptr;
    for (const CUgraphNode each : nodes_) cu_.graph_node_find_in_clone(&copy, each, made);
    cu_.graph_destroy(made);
  }

  void destroy() const {
    cu_.graph_exec_destroy(exec_);
    cu_.graph_destroy(graph_);
  }

  void take_apart() {
    std::size_t count = nodes_.size();
    cu_.graph_get_nodes(copy_, nodes_.data(), &count);
    part("nodes destroyed one by one", [&] {
      for (const CUgraphNode each : nodes_) cu_.graph_destroy_node(each);
    });
    cu_.graph_destroy(copy_);
  }

  // As many empty nodes in a chain.
  void by_hand() {
    cu_.graph_create(&graph_, 0);
    part("nodes and edges by hand", [&] {
      for (CUgraphNode& each : nodes_) cu_.graph_add_empty_node(&each, graph_, nullptr, 0);
      cu_.graph_add_dependencies(graph_, nodes_.data(), nodes_.data() + 1, nullptr,
                                 nodes_.size() - 1);
    });
    part("edges taken away by hand", [&] {
      cu_.graph_remove_dependencies(graph_, nodes_.data(), nodes_.data() + 1, nullptr,
                                    nodes_.size() - 1);
    });
    cu_.graph_destroy(graph_);
  }

  const driver_functions& cu_;
  const shape& shape_;
  CUgraph graph_ = nullptr;
  CUgraph copy_ = nullptr;
  CUgraphExec exec_ = nullptr;
  std::vector<CUgraphNode> nodes_;
};

CUfunction load_kernel(const driver_functions& cu) {
  CUcontext context = nullptr;
  cu.init(0);
  cu.device_primary_ctx_retain(&context, 0);
  cu.ctx_push_current(context);
  CUlibrary library = nullptr;
  cu.library_load_data(&library, kernel_image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  CUkernel kernel = nullptr;
  cu.library_get_kernel(&kernel, library, "nothing");
  return reinterpret_cast<CUfunction>(kernel);
}

int run(const char* path, std::string_view name, std::size_t nodes) {
  const driver_functions driver(path);
  const CUfunction kernel = load_kernel(driver);
  if (name == "chain")
    program(driver, chain(driver, kernel, nodes)).run();
  else if (name == "fork-join")
    program(driver, fork_join(driver, kernel, nodes)).run();
  else if (name == "conditions")
    conditional_nodes(driver, nodes).run();
  else
    return 2;
  return 0;
}

}  // namespace
}  // namespace cugraft_sim

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s DRIVER chain|fork-join|conditions NODES\n", argv[0]);
    return 2;
  }
  try {
    return cugraft_sim::run(argv[1], argv[2], std::stoul(argv[3]));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", argv[0], failure.what());
    return 1;
  }
}
