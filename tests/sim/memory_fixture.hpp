// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "sim/graph_fixture.hpp"

namespace cugraft_sim {

/// A test of graphs that allocate and free memory. What it leaves allocated it has to free itself.
class MemoryGraphTest : public GraphTest {
 protected:
  static constexpr std::size_t bytes = 64;

  static CUmemPoolProps on_device(CUdevice device) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
  }

  CUDA_MEM_ALLOC_NODE_PARAMS alloc_parameters(std::size_t size = bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps = on_device(device_);
    parameters.bytesize = size;
    return parameters;
  }

  CUdeviceptr add_alloc(CUgraph to, CUgraphNode* node = nullptr) {
    CUgraphNode made = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = alloc_parameters();
    EXPECT_EQ(cu().graph_add_mem_alloc_node(&made, to, nullptr, 0, &parameters), CUDA_SUCCESS);
    if (node) *node = made;
    return parameters.dptr;
  }

  CUresult add_free(CUgraph to, CUdeviceptr address, std::vector<CUgraphNode> after = {},
                    CUgraphNode* node = nullptr) {
    CUgraphNode made = nullptr;
    const CUresult result =
        cu().graph_add_mem_free_node(&made, to, after.data(), after.size(), address);
    if (node) *node = made;
    return result;
  }

  CUdeviceptr alloc(CUstream on, std::size_t size = bytes) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cu().mem_alloc_async(&made, size, on), CUDA_SUCCESS);
    return made;
  }

  /// Sets the first element to `value` and adds 1.
  void use(CUstream on, CUdeviceptr memory, unsigned value = 6) {
    EXPECT_EQ(cu().memset_d32_async(memory, value, 1, on), CUDA_SUCCESS);
    unsigned one = 1;
    void* arguments[] = {&memory, &one};
    const CUlaunchConfig config = one_block(on, 1);
    EXPECT_EQ(cu().launch_kernel_ex(&config, add_, arguments, nullptr), CUDA_SUCCESS);
  }

  /// Copies the first element to a slot.
  CUresult show(CUstream on, CUdeviceptr memory, std::size_t slot = 0) {
    return cu().memcpy_async(address(slot), memory, sizeof(unsigned), on);
  }

  /// A graph that allocates, uses and frees.
  CUgraph whole(CUdeviceptr* memory = nullptr) {
    return capture([&] {
      const CUdeviceptr made = alloc(first());
      if (memory) *memory = made;
      use(first(), made);
      EXPECT_EQ(show(first(), made), CUDA_SUCCESS);
      EXPECT_EQ(cu().mem_free_async(made, first()), CUDA_SUCCESS);
    });
  }

  /// A graph that allocates and uses, and frees nothing.
  CUgraph open_ended(CUdeviceptr& memory) {
    return capture([&] {
      memory = alloc(first());
      use(first(), memory);
    });
  }

  CUresult launch_graph(CUgraphExec exec) { return cu().graph_launch(exec, first()); }

  void launch_and_wait(CUgraphExec exec) {
    EXPECT_EQ(launch_graph(exec), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  }

  /// Instantiates without keeping: what the driver says.
  CUresult try_instantiate(CUgraph from, unsigned long long flags = 0) {
    CUgraphExec made = nullptr;
    const CUresult result = cu().graph_instantiate_with_flags(&made, from, flags);
    if (made) execs_.push_back(made);
    return result;
  }

  cuuint64_t graph_memory(CUgraphMem_attribute attribute) {
    cuuint64_t value = 0;
    EXPECT_EQ(cu().device_get_graph_mem_attribute(device_, attribute, &value), CUDA_SUCCESS);
    return value;
  }
};

}  // namespace cugraft_sim
