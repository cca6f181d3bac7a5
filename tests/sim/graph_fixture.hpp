// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "sim/driver_under_test.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {

/// A kernel that writes the x size of its cluster to its argument.
inline constexpr const char* cluster_ptx = R"(
.version 7.8
.target sm_90
.address_size 64

.visible .entry cluster_size(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %cluster_nctaid.x;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

/// A test with streams, events, a kernel, and memory that host and device see. Graphs and
/// executables that go through it are destroyed at its end.
class GraphTest : public Rules {
 protected:
  void SetUp() override {
    Rules::SetUp();
    library_ = load(rules_ptx);
    add_ = find(library_, "add");
    nothing_ = find(library_, "nothing");
    values_ = make_host_memory<unsigned>(value_count);
    for (std::size_t i = 0; i < value_count; ++i) values_[i] = 0;
    for (CUstream& each : streams_) each = make_stream();
    for (CUevent& each : events_) each = make_event();
  }

  void TearDown() override {
    for (const CUstream each : streams_) end_left_capture(each);
    for (const CUstream each : streams_) EXPECT_EQ(cu().stream_destroy(each), CUDA_SUCCESS);
    for (const CUevent each : events_) EXPECT_EQ(cu().event_destroy(each), CUDA_SUCCESS);
    destroy_graphs();
    EXPECT_EQ(cu().mem_free_host(values_), CUDA_SUCCESS);
    EXPECT_EQ(cu().library_unload(library_), CUDA_SUCCESS);
    Rules::TearDown();
  }

  void destroy_graphs() {
    EXPECT_EQ(cu().ctx_synchronize(), CUDA_SUCCESS);
    for (const CUgraphExec each : std::exchange(execs_, {}))
      EXPECT_EQ(cu().graph_exec_destroy(each), CUDA_SUCCESS);
    for (const CUgraph each : std::exchange(graphs_, {}))
      EXPECT_EQ(cu().graph_destroy(each), CUDA_SUCCESS);
  }

  // Tests that break a capture need not end it.
  void end_left_capture(CUstream on) {
    CUgraph left = nullptr;
    if (status(on) != CU_STREAM_CAPTURE_STATUS_NONE) cu().stream_end_capture(on, &left);
    if (left) cu().graph_destroy(left);
  }

  CUstream first() const { return streams_[0]; }
  CUstream second() const { return streams_[1]; }
  CUstream third() const { return streams_[2]; }

  CUdeviceptr address(std::size_t slot) const {
    return reinterpret_cast<CUdeviceptr>(values_ + slot);
  }

  /// Adds `value` to a slot.
  CUresult launch(CUstream on, unsigned value = 1, std::size_t slot = 0) {
    return launch_with(on, nullptr, 0, value, slot);
  }

  CUresult launch_with(CUstream on, CUlaunchAttribute* attributes, unsigned count,
                       unsigned value = 1, std::size_t slot = 0) {
    CUlaunchConfig config = one_block(on, 1);
    config.attrs = attributes;
    config.numAttrs = count;
    CUdeviceptr out = address(slot);
    void* arguments[] = {&out, &value};
    return cu().launch_kernel_ex(&config, add_, arguments, nullptr);
  }

  /// A launch that may begin while the kernel before it still runs.
  CUresult launch_programmatic(CUstream on) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    return launch_with(on, &attribute, 1);
  }

  CUresult fill(CUstream on, unsigned value = 1, std::size_t slot = 0, std::size_t count = 1) {
    return cu().memset_d32_async(address(slot), value, count, on);
  }

  void begin(CUstream on, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    ASSERT_EQ(cu().stream_begin_capture(on, mode), CUDA_SUCCESS);
  }

  CUgraph end(CUstream on) {
    CUgraph made = nullptr;
    EXPECT_EQ(cu().stream_end_capture(on, &made), CUDA_SUCCESS);
    return keep(made);
  }

  /// What an end that fails returns; its graph has to be null.
  CUresult failing_end(CUstream on) {
    CUgraph made = reinterpret_cast<CUgraph>(this);
    const CUresult result = cu().stream_end_capture(on, &made);
    EXPECT_EQ(made, nullptr);
    return result;
  }

  template <class Body>
  CUgraph capture(Body body) {
    begin(first());
    body();
    return end(first());
  }

  /// A chain of `count` kernels that add 1, 2, 3...
  CUgraph chain(unsigned count) {
    return capture([&] {
      for (unsigned i = 0; i < count; ++i) EXPECT_EQ(launch(first(), i + 1), CUDA_SUCCESS);
    });
  }

  /// Makes the other stream wait for this one's work so far.
  void depend(CUstream from, CUstream to, CUevent by) {
    ASSERT_EQ(cu().event_record(by, from), CUDA_SUCCESS);
    ASSERT_EQ(cu().stream_wait_event(to, by, 0), CUDA_SUCCESS);
  }

  CUstreamCaptureStatus status(CUstream of) {
    auto found = static_cast<CUstreamCaptureStatus>(99);
    EXPECT_EQ(cu().stream_is_capturing(of, &found), CUDA_SUCCESS);
    return found;
  }

  struct capture_info {
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;
  };

  capture_info info(CUstream of) {
    capture_info found;
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(cu().stream_get_capture_info(of, &found.status, &found.id, &found.graph, &nodes,
                                           &edges, &count),
              CUDA_SUCCESS);
    found.nodes.assign(nodes, nodes + count);
    if (edges) found.edges.assign(edges, edges + count);
    return found;
  }

  std::vector<CUgraphNode> nodes(CUgraph of) {
    std::size_t count = 0;
    EXPECT_EQ(cu().graph_get_nodes(of, nullptr, &count), CUDA_SUCCESS);
    std::vector<CUgraphNode> found(count);
    if (count > 0) {
      EXPECT_EQ(cu().graph_get_nodes(of, found.data(), &count), CUDA_SUCCESS);
    }
    return found;
  }

  CUgraphNodeType type(CUgraphNode of) {
    auto found = static_cast<CUgraphNodeType>(99);
    EXPECT_EQ(cu().graph_node_get_type(of, &found), CUDA_SUCCESS);
    return found;
  }

  struct edge_list {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> data;
  };

  edge_list dependencies(CUgraphNode of) {
    edge_list found{std::vector<CUgraphNode>(16), std::vector<CUgraphEdgeData>(16)};
    std::size_t count = 16;
    EXPECT_EQ(cu().graph_node_get_dependencies(of, found.nodes.data(), found.data.data(), &count),
              CUDA_SUCCESS);
    found.nodes.resize(count);
    found.data.resize(count);
    return found;
  }

  CUDA_KERNEL_NODE_PARAMS kernel(CUgraphNode of) {
    CUDA_KERNEL_NODE_PARAMS found{};
    EXPECT_EQ(cu().graph_kernel_node_get_params(of, &found), CUDA_SUCCESS);
    return found;
  }

  /// The value that a node of `launch` adds.
  unsigned added_by(CUgraphNode node) {
    return *static_cast<unsigned*>(kernel(node).kernelParams[1]);
  }

  /// Parameters of `launch` with another value; the arrays live as long as the object.
  struct add_parameters {
    CUdeviceptr out;
    unsigned value;
    void* arguments[2]{&out, &value};
    CUDA_KERNEL_NODE_PARAMS all{};

    add_parameters(CUfunction function, CUdeviceptr to, unsigned amount) : out(to), value(amount) {
      all.func = function;
      all.gridDimX = all.gridDimY = all.gridDimZ = 1;
      all.blockDimX = all.blockDimY = all.blockDimZ = 1;
      all.kernelParams = arguments;
    }
    add_parameters(const add_parameters&) = delete;
    add_parameters& operator=(const add_parameters&) = delete;
  };

  CUgraph empty_graph() {
    CUgraph made = nullptr;
    EXPECT_EQ(cu().graph_create(&made, 0), CUDA_SUCCESS);
    return keep(made);
  }

  CUcontext current_context() {
    CUcontext current = nullptr;
    EXPECT_EQ(cu().ctx_get_current(&current), CUDA_SUCCESS);
    return current;
  }

  CUgraph keep(CUgraph made) {
    if (made) graphs_.push_back(made);
    return made;
  }

  void destroy(CUgraph graph) {
    std::erase(graphs_, graph);
    EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
  }

  /// The graph is no longer there to be destroyed.
  void forget(CUgraph graph) { std::erase(graphs_, graph); }

  void destroy(CUgraphExec exec) {
    std::erase(execs_, exec);
    EXPECT_EQ(cu().graph_exec_destroy(exec), CUDA_SUCCESS);
  }

  CUgraphExec instantiate(CUgraph from, unsigned long long flags = 0) {
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    parameters.flags = flags;
    CUgraphExec made = nullptr;
    EXPECT_EQ(cu().graph_instantiate_with_params(&made, from, &parameters), CUDA_SUCCESS);
    if (made) execs_.push_back(made);
    return made;
  }

  /// Launches and waits; tells what a slot went up by.
  unsigned run(CUgraphExec exec, std::size_t slot = 0) {
    const unsigned before = values_[slot];
    EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
    return values_[slot] - before;
  }

  template <class Body>
  static void on_another_thread(Body body) {
    std::thread(body).join();
  }

  static constexpr std::size_t value_count = 256;

  CUlibrary library_ = nullptr;
  CUfunction add_ = nullptr;
  CUfunction nothing_ = nullptr;
  unsigned* values_ = nullptr;
  CUstream streams_[3]{};
  CUevent events_[3]{};
  std::vector<CUgraph> graphs_;
  std::vector<CUgraphExec> execs_;
};

/// What a real driver was seen to do, beyond what is documented.
class Facts : public GraphTest {};

}  // namespace cugraft_sim
