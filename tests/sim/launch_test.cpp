// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sim/driver_under_test.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {
namespace {

// A stream, the rule kernels, and memory that both sides see.
class LaunchRules : public Rules {
 protected:
  void SetUp() override {
    Rules::SetUp();
    stream_ = make_stream();
    library_ = load(rules_ptx);
    write_index_ = find(library_, "write_index");
    nothing_ = find(library_, "nothing");
    out_ = make_host_memory<unsigned>(256);
    std::memset(out_, 0, 256 * sizeof *out_);
  }

  void TearDown() override {
    EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(cu().mem_free_host(out_), CUDA_SUCCESS);
    EXPECT_EQ(cu().library_unload(library_), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_destroy(stream_), CUDA_SUCCESS);
    Rules::TearDown();
  }

  CUresult launch(const CUlaunchConfig& config, CUfunction function, void** arguments = nullptr,
                  void** extra = nullptr) {
    return cu().launch_kernel_ex(&config, function, arguments, extra);
  }

  // Launches a kernel without parameters with one attribute.
  CUresult launch_with(CUlaunchConfig config, int id, CUlaunchAttributeValue value) {
    CUlaunchAttribute attribute{};
    attribute.id = static_cast<CUlaunchAttributeID>(id);
    attribute.value = value;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return launch(config, nothing_);
  }

  static CUlaunchAttributeValue cluster(unsigned x, unsigned y = 1, unsigned z = 1) {
    CUlaunchAttributeValue value{};
    value.clusterDim.x = x;
    value.clusterDim.y = y;
    value.clusterDim.z = z;
    return value;
  }

  CUlaunchConfig one(unsigned threads = 1) { return one_block(stream_, threads); }

  CUstream stream_ = nullptr;
  CUlibrary library_ = nullptr;
  CUfunction write_index_ = nullptr;
  CUfunction nothing_ = nullptr;
  unsigned* out_ = nullptr;
};

TEST_F(LaunchRules, R1_3_EveryThreadRuns) {
  CUlaunchConfig config = one(64);
  config.gridDimX = 4;
  void* arguments[] = {&out_};
  EXPECT_EQ(launch(config, write_index_, arguments), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  for (unsigned i = 0; i < 256; ++i) ASSERT_EQ(out_[i], i);
}

TEST_F(LaunchRules, R1_3_ArgumentsAreCopiedAtTheCall) {
  const CUfunction add = find(library_, "add");
  unsigned value = 5;
  void* arguments[] = {&out_, &value};
  EXPECT_EQ(launch(one(8), add, arguments), CUDA_SUCCESS);
  value = 1000;
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(out_[7], 5U);
}

TEST_F(LaunchRules, R1_3_ExtraIsOneBuffer) {
  const CUfunction add = find(library_, "add");
  struct {
    unsigned* out;
    unsigned value;
  } arguments{out_, 9};
  std::size_t size = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  EXPECT_EQ(launch(one(4), add, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(out_[3], 9U);
  size = 13;
  EXPECT_EQ(launch(one(4), add, nullptr, extra), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  size = 0;
  EXPECT_EQ(launch(one(4), add, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  void* without_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_END};
  EXPECT_EQ(launch(one(4), add, nullptr, without_size), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchRules, R1_3_BothFormsOfArgumentsAreRefused) {
  std::size_t size = sizeof out_;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &out_, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  void* arguments[] = {&out_};
  EXPECT_EQ(launch(one(), write_index_, arguments, extra), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchRules, R1_3_MissingArgumentsAreRefused) {
  EXPECT_EQ(launch(one(), write_index_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(one(), nothing_), CUDA_SUCCESS);
}

TEST_F(LaunchRules, R1_3_LayoutIsTheDevices) {
  const CUfunction mixed = find(library_, "mixed");
  const std::size_t expected[][2] = {{0, 1}, {8, 8}, {16, 2}, {24, 8}};
  std::size_t offset = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cu().func_get_param_info(mixed, i, &offset, &size), CUDA_SUCCESS);
    EXPECT_EQ(offset, expected[i][0]) << i;
    EXPECT_EQ(size, expected[i][1]) << i;
  }
  EXPECT_EQ(cu().func_get_param_info(mixed, 0, &offset, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu().func_get_param_info(mixed, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchRules, R1_3_ArgumentsOfEverySizeArrive) {
  const CUfunction mixed = find(library_, "mixed");
  unsigned char a = 200;
  double b = 30.5;
  unsigned short c = 4000;
  void* arguments[] = {&a, &b, &c, &out_};
  EXPECT_EQ(launch(one(), mixed, arguments), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(out_[0], 4230U);
}

TEST_F(LaunchRules, R1_3_KernelMayStandForItsFunction) {
  CUkernel kernel = nullptr;
  ASSERT_EQ(cu().library_get_kernel(&kernel, library_, "write_index"), CUDA_SUCCESS);
  void* arguments[] = {&out_};
  EXPECT_EQ(launch(one(32), reinterpret_cast<CUfunction>(kernel), arguments), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(out_[31], 31U);
}

TEST_F(LaunchRules, R1_3_OneFunctionForAKernelAndAContext) {
  EXPECT_EQ(find(library_, "write_index"), write_index_);
  const char* name = nullptr;
  EXPECT_EQ(cu().func_get_name(&name, write_index_), CUDA_SUCCESS);
  EXPECT_STREQ(name, "write_index");
  EXPECT_EQ(cu().func_load(write_index_), CUDA_SUCCESS);
}

TEST_F(LaunchRules, R1_2J_DimensionsAreChecked) {
  CUlaunchConfig empty_grid = one();
  empty_grid.gridDimY = 0;
  EXPECT_EQ(launch(empty_grid, nothing_), CUDA_ERROR_INVALID_VALUE);
  CUlaunchConfig large_grid = one();
  large_grid.gridDimZ = 65536;
  EXPECT_EQ(launch(large_grid, nothing_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(one(0), nothing_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(one(1025), nothing_), CUDA_ERROR_INVALID_VALUE);
  CUlaunchConfig flat = one(1024);
  flat.blockDimY = 2;
  EXPECT_EQ(launch(flat, nothing_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().launch_kernel_ex(nullptr, nothing_, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchRules, R1_2J_NullFunctionIsNoHandle) {
  EXPECT_EQ(launch(one(), nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(LaunchRules, R1_2J_MoreSharedMemoryMustBeAskedFor) {
  CUlaunchConfig config = one();
  config.sharedMemBytes = 64 * 1024;
  EXPECT_EQ(launch(config, nothing_), CUDA_ERROR_INVALID_VALUE);
  const auto attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  int most = 0;
  EXPECT_EQ(cu().func_get_attribute(&most, attribute, nothing_), CUDA_SUCCESS);
  EXPECT_EQ(most, 48 * 1024);
  EXPECT_EQ(cu().func_set_attribute(nothing_, attribute, 64 * 1024), CUDA_SUCCESS);
  EXPECT_EQ(launch(config, nothing_), CUDA_SUCCESS);
  EXPECT_EQ(cu().func_set_attribute(nothing_, attribute, 1024 * 1024), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().func_get_attribute(&most, attribute, nothing_), CUDA_SUCCESS);
  EXPECT_EQ(most, 64 * 1024);
}

TEST_F(LaunchRules, R1_2I_OnlySomeAttributesCanBeSet) {
  EXPECT_EQ(cu().func_set_attribute(nothing_, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1),
            CUDA_ERROR_INVALID_VALUE);
  int threads = 0;
  EXPECT_EQ(cu().func_get_attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, nothing_),
            CUDA_SUCCESS);
  EXPECT_EQ(threads, 1024);
}

TEST_F(LaunchRules, R1_4_ClusterDividesTheGrid) {
  CUlaunchConfig config = one();
  config.gridDimX = 8;
  EXPECT_EQ(launch_with(config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster(2)), CUDA_SUCCESS);
  EXPECT_EQ(launch_with(config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster(3)),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch_with(config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster(0, 1, 1)),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch_with(config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster(0, 0, 0)),
            CUDA_SUCCESS);
  config.gridDimX = 16;
  EXPECT_EQ(launch_with(config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster(16)),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST_F(LaunchRules, R1_4_IgnoredAttributeHasNoEffect) {
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_IGNORE, cluster(77)), CUDA_SUCCESS);
}

TEST_F(LaunchRules, R1_4_LaunchOptionsAreTaken) {
  CUlaunchAttributeValue on{};
  on.cooperative = 1;
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_COOPERATIVE, on), CUDA_SUCCESS);
  CUlaunchAttributeValue serial{};
  serial.programmaticStreamSerializationAllowed = 1;
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, serial),
            CUDA_SUCCESS);
  CUlaunchAttributeValue priority{};
  priority.priority = -1;
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_PRIORITY, priority), CUDA_SUCCESS);
}

TEST_F(LaunchRules, R1_4_CooperativeGridMustFit) {
  CUlaunchConfig config = one(1024);
  config.gridDimX = 1 << 20;
  CUlaunchAttributeValue on{};
  on.cooperative = 1;
  EXPECT_EQ(launch_with(config, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, on),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(LaunchRules, R1_4_DeviceUpdatableNeedsACapture) {
  CUlaunchAttributeValue on{};
  on.deviceUpdatableKernelNode.deviceUpdatable = 1;
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, on),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(LaunchRules, R1_4_LaunchEventKeepsNoTime) {
  const CUevent timed = make_event(CU_EVENT_DEFAULT);
  const CUevent untimed = make_event(CU_EVENT_DISABLE_TIMING);
  CUlaunchAttributeValue value{};
  value.programmaticEvent.event = timed;
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, value),
            CUDA_ERROR_NOT_SUPPORTED);
  value.programmaticEvent.event = untimed;
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, value), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_synchronize(untimed), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(timed), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(untimed), CUDA_SUCCESS);
}

TEST_F(LaunchRules, R1_4_ValuesHaveLimits) {
  CUlaunchAttributeValue value{};
  const auto launch_with_number = [&](int id, unsigned number) {
    std::memcpy(&value, &number, sizeof number);
    return launch_with(one(), id, value);
  };
  constexpr int scheduling = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
  EXPECT_EQ(launch_with_number(scheduling, 2), CUDA_SUCCESS);
  EXPECT_EQ(launch_with_number(scheduling, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_with_number(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch_with_number(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, 2), CUDA_ERROR_INVALID_VALUE);
  constexpr int carveout = 14;
  if (driver().version() < 12050) GTEST_SKIP() << "the carveout came with 12.5";
  EXPECT_EQ(launch_with_number(carveout, 100), CUDA_SUCCESS);
  EXPECT_EQ(launch_with_number(carveout, 101), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchRules, R1_4_UnknownAttributeIsRefused) {
  EXPECT_EQ(launch_with(one(), 200, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_with(one(), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, {}),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
