// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>

#include "sim/driver_under_test.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {
namespace {

// Work that fails ends its context, so each of these tests has a driver of its own.
class FailureRules : public ::testing::Test {
 protected:
  void SetUp() override {
    CUGRAFT_NEEDS_SIMULATOR();
    driver_.emplace(driver_under_test::fresh_simulator());
    ASSERT_EQ(cu().init(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cu().device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu().ctx_set_current(context), CUDA_SUCCESS);
    ASSERT_EQ(cu().stream_create_with_priority(&stream_, 1, 0), CUDA_SUCCESS);
    ASSERT_EQ(
        cu().library_load_data(&library_, rules_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
        CUDA_SUCCESS);
  }

  const driver_functions& cu() { return **driver_; }

  // Writes to address 64, where no memory is.
  void launch_bad_kernel() {
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    ASSERT_EQ(cu().library_get_kernel(&kernel, library_, "write_index"), CUDA_SUCCESS);
    ASSERT_EQ(cu().kernel_get_function(&function, kernel), CUDA_SUCCESS);
    CUdeviceptr nowhere = 64;
    void* arguments[] = {&nowhere};
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream_;
    ASSERT_EQ(cu().launch_kernel_ex(&config, function, arguments, nullptr), CUDA_SUCCESS);
  }

  std::optional<driver_under_test> driver_;
  CUstream stream_ = nullptr;
  CUlibrary library_ = nullptr;
};

TEST_F(FailureRules, R8_IllegalAddressStaysWithTheContext) {
  launch_bad_kernel();
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUevent event = nullptr;
  EXPECT_EQ(cu().event_create(&event, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FailureRules, R8_ContextsCanStillBeSwitched) {
  launch_bad_kernel();
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUcontext context = nullptr;
  EXPECT_EQ(cu().ctx_get_current(&context), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_push_current(context), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
}

TEST_F(FailureRules, R8_WorkAfterTheFailureDoesNotRun) {
  bool ran = false;
  launch_bad_kernel();
  const auto run = [](void* data) { *static_cast<bool*>(data) = true; };
  // Refused already or taken and dropped: the launch may or may not have failed by now.
  const CUresult result = cu().launch_host_func(stream_, run, &ran);
  EXPECT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_ILLEGAL_ADDRESS) << result;
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_FALSE(ran);
}

TEST_F(FailureRules, R8_ReleaseHappensAndTellsOfTheFailure) {
  launch_bad_kernel();
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().stream_destroy(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().library_unload(library_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().device_primary_ctx_release(0), CUDA_SUCCESS);
  EXPECT_EQ(driver_->control().live(), live_handles{});
}

// Memory that is gone when a batch operation of a graph runs is as for a kernel.
TEST_F(FailureRules, R8_BatchOperationOfMemoryThatIsGone) {
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cu().mem_alloc(&memory, 64), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_begin_capture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_write_value32(stream_, memory, 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_end_capture(stream_, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_instantiate_with_flags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_launch(exec, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_SUCCESS);
  ASSERT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_launch(exec, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FailureRules, R8_AWaitForAValueInMemoryThatIsGone) {
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cu().mem_alloc(&memory, 64), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_begin_capture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_wait_value32(stream_, memory, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_end_capture(stream_, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_instantiate_with_flags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_launch(exec, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FailureRules, R8_NewPrimaryContextIsSound) {
  launch_bad_kernel();
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().device_primary_ctx_release(0), CUDA_SUCCESS);
  CUcontext fresh = nullptr;
  EXPECT_EQ(cu().device_primary_ctx_retain(&fresh, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_set_current(fresh), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
