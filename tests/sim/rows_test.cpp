// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>
#include <numeric>

#include "sim/graph_fixture.hpp"

// Copies and fills of several rows: what they do, and who takes a change of them.

namespace cugraft_sim {
namespace {

class RowRules : public GraphTest {
 protected:
  static constexpr std::size_t pitch = 64;

  void SetUp() override {
    GraphTest::SetUp();
    device_ = make_memory(4096);
    host_ = make_host_memory<unsigned char>(4096);
    std::iota(host_, host_ + 2048, static_cast<unsigned char>(0));
    std::memset(host_ + 2048, 0, 2048);
  }

  void TearDown() override {
    EXPECT_EQ(cu().mem_free(device_), CUDA_SUCCESS);
    EXPECT_EQ(cu().mem_free_host(host_), CUDA_SUCCESS);
    GraphTest::TearDown();
  }

  // `height` rows of `width` bytes from the host to the device.
  CUDA_MEMCPY2D up(std::size_t width = 16, std::size_t height = 4) const {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host_;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device_;
    copy.dstPitch = 2 * pitch;
    copy.WidthInBytes = width;
    copy.Height = height;
    return copy;
  }

  CUgraph graph_of(const CUDA_MEMCPY2D& copy) {
    return capture([&] { EXPECT_EQ(cu().memcpy_2d_async(&copy, first()), CUDA_SUCCESS); });
  }

  CUgraph graph_of_fill(unsigned value, std::size_t width, std::size_t height = 3) {
    return capture([&] {
      EXPECT_EQ(cu().memset_d2d32_async(device_, pitch, value, width, height, first()),
                CUDA_SUCCESS);
    });
  }

  CUgraphExecUpdateResult update(CUgraphExec exec, CUgraph from) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = cu().graph_exec_update(exec, from, &info);
    EXPECT_EQ(result == CUDA_SUCCESS, info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    return info.result;
  }

  CUDA_MEMCPY3D copy_of(CUgraph graph) {
    CUDA_MEMCPY3D found{};
    EXPECT_EQ(cu().graph_memcpy_node_get_params(nodes(graph)[0], &found), CUDA_SUCCESS);
    return found;
  }

  // A graph made by hand with the copy of another.
  CUgraph rebuilt(CUgraph from) {
    const CUDA_MEMCPY3D same = copy_of(from);
    const CUgraph made = empty_graph();
    CUgraphNode node = nullptr;
    EXPECT_EQ(cu().graph_add_memcpy_node(&node, made, nullptr, 0, &same, current_context()),
              CUDA_SUCCESS);
    return made;
  }

  CUDA_MEMSET_NODE_PARAMS fill_of(CUgraph graph) {
    CUDA_MEMSET_NODE_PARAMS found{};
    EXPECT_EQ(cu().graph_memset_node_get_params(nodes(graph)[0], &found), CUDA_SUCCESS);
    return found;
  }

  // The first bytes of the device memory, after all work of the first stream.
  std::vector<unsigned char> read(std::size_t count) {
    unsigned char* const to = host_ + 2048;
    EXPECT_EQ(cu().memcpy_dtoh_async(to, device_, count, first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
    return {to, to + count};
  }

  CUdeviceptr device_ = 0;
  unsigned char* host_ = nullptr;
};

constexpr auto parameters = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;

TEST_F(RowRules, RowsAreCopied) {
  ASSERT_EQ(cu().memset_d8_async(device_, 0xff, 512, first()), CUDA_SUCCESS);
  run(instantiate(graph_of(up())));
  const std::vector<unsigned char> found = read(512);
  EXPECT_EQ(found[0], 0);
  EXPECT_EQ(found[15], 15);
  EXPECT_EQ(found[16], 0xff);
  EXPECT_EQ(found[2 * pitch + 3], pitch + 3);
  EXPECT_EQ(found[6 * pitch], 3 * pitch);
}

TEST_F(RowRules, PlanesAreCopied) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host_;
  copy.srcPitch = 16;
  copy.srcHeight = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device_;
  copy.dstPitch = 8;
  copy.dstHeight = 2;
  copy.WidthInBytes = 8;
  copy.Height = 2;
  copy.Depth = 2;
  ASSERT_EQ(cu().memcpy_3d_async(&copy, first()), CUDA_SUCCESS);
  const std::vector<unsigned char> found = read(32);
  EXPECT_EQ(found[8], 16);       // second row
  EXPECT_EQ(found[16], 4 * 16);  // second plane
  EXPECT_EQ(found[31], 5 * 16 + 7);
}

TEST_F(RowRules, RowsAreFilled) {
  ASSERT_EQ(cu().memset_d8_async(device_, 0, 256, first()), CUDA_SUCCESS);
  run(instantiate(graph_of_fill(0x01020304, 2)));
  const std::vector<unsigned char> found = read(256);
  EXPECT_EQ(found[0], 4);
  EXPECT_EQ(found[7], 1);
  EXPECT_EQ(found[8], 0);
  EXPECT_EQ(found[2 * pitch], 4);
  EXPECT_EQ(found[3 * pitch], 0);
}

// Facts, Setters: what a copy with a direction reads back as.
TEST_F(RowRules, Facts_CopiesReadBackWithTheirKindsOfMemory) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(cu().memcpy_htod_async(device_, host_, 64, first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().memcpy_dtod_async(device_ + 64, device_, 64, first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().memcpy_dtoh_async(host_ + 2048, device_ + 64, 64, first()), CUDA_SUCCESS);
  });
  const CUmemorytype kinds[][2]{{CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
                                {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
                                {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST}};
  const std::vector<CUgraphNode> all = nodes(graph);
  for (std::size_t i = 0; i < 3; ++i) {
    CUDA_MEMCPY3D found{};
    ASSERT_EQ(cu().graph_memcpy_node_get_params(all[i], &found), CUDA_SUCCESS);
    EXPECT_EQ(found.srcMemoryType, kinds[i][0]) << i;
    EXPECT_EQ(found.dstMemoryType, kinds[i][1]) << i;
  }
  run(instantiate(graph));
  EXPECT_EQ(host_[2048 + 63], 63);
}

// Facts, Whole-graph update.
TEST_F(RowRules, Facts_ATwoDimensionalCopyIsUpdatedFromItsOwnGraphOnly) {
  const CUgraph graph = graph_of(up());
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(update(exec, graph_of(up())), parameters);
  EXPECT_EQ(update(exec, graph_of(up(32))), parameters);
  EXPECT_EQ(update(exec, graph), CU_GRAPH_EXEC_UPDATE_SUCCESS);
}

// The driver facts (User objects and attributes) say that it is refused too; here it was taken, of
// either kind of memory (H200).
TEST_F(RowRules, ATwoDimensionalCopyRebuiltByHandIsTaken) {
  CUDA_MEMCPY2D of_device = up();
  of_device.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  of_device.srcHost = nullptr;
  of_device.srcDevice = device_ + 2048;
  for (const CUDA_MEMCPY2D& copy : {up(), of_device}) {
    const CUgraph graph = graph_of(copy);
    EXPECT_EQ(update(instantiate(graph), rebuilt(graph)), CU_GRAPH_EXEC_UPDATE_SUCCESS);
    EXPECT_EQ(update(instantiate(rebuilt(graph)), rebuilt(graph)), CU_GRAPH_EXEC_UPDATE_SUCCESS);
    EXPECT_EQ(update(instantiate(rebuilt(graph)), graph), CU_GRAPH_EXEC_UPDATE_SUCCESS);
  }
}

TEST_F(RowRules, Facts_ATwoDimensionalFillMayChangeItsValueOnly) {
  const CUgraphExec exec = instantiate(graph_of_fill(1, 4));
  EXPECT_EQ(update(exec, graph_of_fill(9, 4)), CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(update(exec, graph_of_fill(9, 5)), parameters);
  EXPECT_EQ(update(instantiate(graph_of_fill(1, 4, 1)), graph_of_fill(1, 4)), parameters);
}

// Facts, Setters.
TEST_F(RowRules, R5_2_AnExecutablesTwoDimensionalCopyIsFixed) {
  const CUgraph graph = graph_of(up());
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph)[0];
  CUDA_MEMCPY3D copy = copy_of(graph);
  EXPECT_EQ(cu().graph_exec_memcpy_node_set_params(exec, node, &copy, current_context()),
            CUDA_SUCCESS);
  copy.WidthInBytes = 8;
  EXPECT_EQ(cu().graph_exec_memcpy_node_set_params(exec, node, &copy, current_context()),
            CUDA_ERROR_INVALID_VALUE);
  copy.WidthInBytes = 16;
  copy.srcHost = host_ + 256;
  EXPECT_EQ(cu().graph_exec_memcpy_node_set_params(exec, node, &copy, current_context()),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(RowRules, R5_2_AnExecutablesTwoDimensionalFillKeepsItsWidth) {
  const CUgraph graph = graph_of_fill(1, 4);
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph)[0];
  CUDA_MEMSET_NODE_PARAMS fill = fill_of(graph);
  fill.value = 7;
  fill.dst = device_ + 1024;
  EXPECT_EQ(cu().graph_exec_memset_node_set_params(exec, node, &fill, current_context()),
            CUDA_SUCCESS);
  fill.width = 2;
  EXPECT_EQ(cu().graph_exec_memset_node_set_params(exec, node, &fill, current_context()),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(RowRules, R5_1_AGraphsCopyAndFillAreFree) {
  const CUgraph copies = graph_of(up()), fills = graph_of_fill(1, 4);
  CUDA_MEMCPY3D copy = copy_of(copies);
  copy.WidthInBytes = 8;
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcHost = nullptr;
  copy.srcDevice = device_ + 2048;
  EXPECT_EQ(cu().graph_memcpy_node_set_params(nodes(copies)[0], &copy), CUDA_SUCCESS);
  CUDA_MEMSET_NODE_PARAMS fill = fill_of(fills);
  fill.width = 2;
  EXPECT_EQ(cu().graph_memset_node_set_params(nodes(fills)[0], &fill), CUDA_SUCCESS);
  EXPECT_EQ(copy_of(copies).WidthInBytes, 8U);
  EXPECT_EQ(fill_of(fills).width, 2U);
}

class GenericParameterRules : public GraphTest {
 protected:
  CUgraphNodeParams add_of(unsigned value) {
    held_.emplace_back(std::make_unique<add_parameters>(add_, address(0), value));
    const CUDA_KERNEL_NODE_PARAMS& typed = held_.back()->all;
    CUgraphNodeParams all{};
    all.type = CU_GRAPH_NODE_TYPE_KERNEL;
    all.kernel.func = typed.func;
    all.kernel.gridDimX = all.kernel.gridDimY = all.kernel.gridDimZ = 1;
    all.kernel.blockDimX = all.kernel.blockDimY = all.kernel.blockDimZ = 1;
    all.kernel.kernelParams = typed.kernelParams;
    return all;
  }

  std::vector<std::unique_ptr<add_parameters>> held_;
};

TEST_F(GenericParameterRules, NodesAreAddedAndSet) {
  const CUgraph graph = empty_graph();
  CUgraphNodeParams one = add_of(1), two = add_of(2), empty{};
  empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphNode a = nullptr, b = nullptr, c = nullptr;
  ASSERT_EQ(cu().graph_add_node(&a, graph, nullptr, nullptr, 0, &one), CUDA_SUCCESS);
  CUgraphEdgeData data{};
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  data.from_port = 1;
  ASSERT_EQ(cu().graph_add_node(&b, graph, &a, &data, 1, &two), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_add_node(&c, graph, &b, nullptr, 1, &empty), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_add_node(&c, graph, &b, &data, 1, &empty), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(dependencies(b).data[0].from_port, 1);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(run(exec), 3U);
  CUgraphNodeParams ten = add_of(10);
  ASSERT_EQ(cu().graph_exec_node_set_params(exec, a, &ten), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 12U);
  EXPECT_EQ(added_by(a), 1U);
  ASSERT_EQ(cu().graph_node_set_params(a, &ten), CUDA_SUCCESS);
  EXPECT_EQ(added_by(a), 10U);
}

TEST_F(GenericParameterRules, R5_1_TheTypeMustBeTheNodes) {
  const CUgraph graph = chain(1);
  CUgraphNodeParams fill{};
  fill.type = CU_GRAPH_NODE_TYPE_MEMSET;
  fill.memset.dst = address(0);
  fill.memset.elementSize = 4;
  fill.memset.width = fill.memset.height = 1;
  EXPECT_EQ(cu().graph_node_set_params(nodes(graph)[0], &fill), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_exec_node_set_params(instantiate(graph), nodes(graph)[0], &fill),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_node_set_params(nodes(graph)[0], nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GenericParameterRules, R9_1_UnusedBytesMustBeZero) {
  const CUgraph graph = chain(1);
  for (const std::size_t dirty : {std::size_t{4}, std::size_t{16 + 72}, std::size_t{248}}) {
    CUgraphNodeParams changed = add_of(2);
    reinterpret_cast<unsigned char*>(&changed)[dirty] = 1;
    EXPECT_EQ(cu().graph_node_set_params(nodes(graph)[0], &changed), CUDA_ERROR_INVALID_VALUE)
        << dirty;
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_node(&made, graph, nullptr, nullptr, 0, &changed),
              CUDA_ERROR_INVALID_VALUE)
        << dirty;
  }
  EXPECT_EQ(added_by(nodes(graph)[0]), 1U);
}

class OlderLaunchRules : public GraphTest {
 protected:
  CUresult launch_old(unsigned value, void** extra = nullptr, bool is_cooperative = false) {
    CUdeviceptr out = address(0);
    void* arguments[]{&out, &value};
    if (is_cooperative)
      return cu().launch_cooperative_kernel(add_, 1, 1, 1, 1, 1, 1, 0, first(), arguments);
    return cu().launch_kernel(add_, 1, 1, 1, 1, 1, 1, 0, first(), arguments, extra);
  }
};

TEST_F(OlderLaunchRules, TheOlderLaunchMakesTheSameNode) {
  const CUgraph graph = capture([&] { EXPECT_EQ(launch_old(6), CUDA_SUCCESS); });
  EXPECT_EQ(added_by(nodes(graph)[0]), 6U);
  EXPECT_EQ(run(instantiate(graph)), 6U);
}

TEST_F(OlderLaunchRules, R1_3_ArgumentsComeInOneForm) {
  struct {
    CUdeviceptr out;
    unsigned value;
  } buffer{address(0), 2};
  std::size_t size = 12;
  void* extra[]{CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                CU_LAUNCH_PARAM_END};
  EXPECT_EQ(launch_old(1, extra), CUDA_ERROR_INVALID_VALUE);
}

// A second form that names no buffer is none (H200).
TEST_F(OlderLaunchRules, R1_3_AnEmptySecondFormIsNone) {
  void* extra[]{CU_LAUNCH_PARAM_END};
  EXPECT_EQ(launch_old(3, extra), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 3U);
}

TEST_F(OlderLaunchRules, R1_4_ACooperativeLaunchHasTheAttribute) {
  const CUgraph graph = capture([&] { EXPECT_EQ(launch_old(2, nullptr, true), CUDA_SUCCESS); });
  CUkernelNodeAttrValue value{};
  ASSERT_EQ(cu().graph_kernel_node_get_attribute(nodes(graph)[0], CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                                 &value),
            CUDA_SUCCESS);
  EXPECT_EQ(value.cooperative, 1);
}

}  // namespace
}  // namespace cugraft_sim
