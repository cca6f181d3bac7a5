// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "sim/driver_under_test.hpp"
#include "sim/gate.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {
namespace {

// Use of a graph's memory outside of its life. It ends the context, so each of these tests has a
// driver of its own.
class MemoryFailures : public ::testing::Test {
 protected:
  void SetUp() override {
    CUGRAFT_NEEDS_SIMULATOR();
    driver_.emplace(driver_under_test::fresh_simulator());
    ASSERT_EQ(cu().init(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cu().device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu().ctx_set_current(context), CUDA_SUCCESS);
    for (CUstream& each : streams_)
      ASSERT_EQ(cu().stream_create_with_priority(&each, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    ASSERT_EQ(
        cu().library_load_data(&library_, rules_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
        CUDA_SUCCESS);
    CUkernel kernel = nullptr;
    ASSERT_EQ(cu().library_get_kernel(&kernel, library_, "write_index"), CUDA_SUCCESS);
    ASSERT_EQ(cu().kernel_get_function(&write_, kernel), CUDA_SUCCESS);
  }

  const driver_functions& cu() { return **driver_; }

  void write(CUstream on, CUdeviceptr memory) {
    void* arguments[] = {&memory};
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    ASSERT_EQ(cu().launch_kernel_ex(&config, write_, arguments, nullptr), CUDA_SUCCESS);
  }

  CUdeviceptr alloc() {
    CUdeviceptr made = 0;
    EXPECT_EQ(cu().mem_alloc_async(&made, 64, streams_[0]), CUDA_SUCCESS);
    return made;
  }

  void free(CUdeviceptr memory) {
    EXPECT_EQ(cu().mem_free_async(memory, streams_[0]), CUDA_SUCCESS);
  }

  CUgraphExec instantiate(const std::function<void()>& body) {
    CUgraph graph = nullptr;
    CUgraphExec made = nullptr;
    EXPECT_EQ(cu().stream_begin_capture(streams_[0], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    body();
    EXPECT_EQ(cu().stream_end_capture(streams_[0], &graph), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_instantiate_with_flags(&made, graph, 0), CUDA_SUCCESS);
    return made;
  }

  CUresult launch_and_wait(CUgraphExec exec) {
    EXPECT_EQ(cu().graph_launch(exec, streams_[0]), CUDA_SUCCESS);
    return cu().stream_synchronize(streams_[0]);
  }

  std::size_t live() { return driver_->control().live().device_allocations; }

  std::optional<driver_under_test> driver_;
  CUstream streams_[2]{};
  CUlibrary library_ = nullptr;
  CUfunction write_ = nullptr;
};

TEST_F(MemoryFailures, R6_1_UseAfterTheFreeNode) {
  const CUgraphExec exec = instantiate([&] {
    const CUdeviceptr memory = alloc();
    write(streams_[0], memory);
    free(memory);
    write(streams_[0], memory);
  });
  EXPECT_EQ(launch_and_wait(exec), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(MemoryFailures, R6_1_UseBeforeTheAllocationNode) {
  CUdeviceptr memory = 0;
  const CUgraphExec first = instantiate([&] { memory = alloc(); });
  const CUgraphExec user = instantiate([&] { write(streams_[0], memory); });
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(launch_and_wait(user), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(MemoryFailures, R6_1_UseAfterAFreeOutside) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate([&] { memory = alloc(); });
  EXPECT_EQ(launch_and_wait(exec), CUDA_SUCCESS);
  write(streams_[0], memory);
  EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_SUCCESS);
  free(memory);
  write(streams_[0], memory);
  EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(MemoryFailures, R6_1_UseThatDoesNotWaitForTheAllocation) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate([&] { memory = alloc(); });
  gate gate;
  EXPECT_EQ(cu().launch_host_func(streams_[0], &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_launch(exec, streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(cu().memset_d8_async(memory, 0, 64, streams_[1]), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(streams_[1]), CUDA_ERROR_ILLEGAL_ADDRESS);
  gate.open();
  driver_->control().settle();  // before the gate goes
}

TEST_F(MemoryFailures, R6_1_WorkThatIsDroppedLeavesNoMemory) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate([&] { memory = alloc(); });
  EXPECT_EQ(launch_and_wait(exec), CUDA_SUCCESS);
  write(streams_[1], 64);
  EXPECT_EQ(cu().stream_synchronize(streams_[1]), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(live(), 1U);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_ILLEGAL_ADDRESS);  // done all the same
  EXPECT_EQ(live(), 0U);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryFailures, R6_3_AnUploadWithoutMemory) {
  const CUgraphExec exec = instantiate([&] { free(alloc()); });
  driver_->control().set_device_memory(0);
  EXPECT_EQ(cu().graph_upload(exec, streams_[0]), CUDA_ERROR_OUT_OF_MEMORY);
  driver_->control().set_device_memory(1U << 20);
  EXPECT_EQ(cu().graph_upload(exec, streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(launch_and_wait(exec), CUDA_SUCCESS);
}

TEST_F(MemoryFailures, R6_1_ALaunchThatIsDroppedGivesItsMemoryBack) {
  CUdeviceptr memory = 0;
  const CUgraphExec exec = instantiate([&] { memory = alloc(); });
  gate gate;
  EXPECT_EQ(cu().launch_host_func(streams_[0], &gate::wait, &gate), CUDA_SUCCESS);
  write(streams_[0], 64);
  EXPECT_EQ(cu().graph_launch(exec, streams_[0]), CUDA_SUCCESS);
  free(memory);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_ERROR_ILLEGAL_ADDRESS);
  driver_->control().settle();
  EXPECT_EQ(live(), 0U);
  driver_->control().set_device_memory(4096);
  EXPECT_EQ(cu().mem_free(memory), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
