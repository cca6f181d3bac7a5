// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "sim/driver_under_test.hpp"

namespace cugraft_sim {
namespace {

TEST_F(Rules, R1_2A_NothingWorksBeforeInit) {
  CUGRAFT_NEEDS_SIMULATOR();
  const driver_under_test fresh = driver_under_test::fresh_simulator();
  int count = 0;
  CUcontext current = nullptr;
  EXPECT_EQ(fresh->device_get_count(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(fresh->ctx_get_current(&current), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(fresh->driver_get_version(&count), CUDA_SUCCESS);
  EXPECT_EQ(fresh->init(0), CUDA_SUCCESS);
  EXPECT_EQ(fresh->device_get_count(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(Rules, R1_2A_InitTakesNoFlags) { EXPECT_EQ(cu().init(1), CUDA_ERROR_INVALID_VALUE); }

TEST_F(Rules, R1_2B_UnknownDeviceIsRefused) {
  CUdevice device = 0;
  int value = 0;
  EXPECT_EQ(cu().device_get(&device, 1000), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu().device_get(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu().device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1000),
            CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Rules, R1_2B_AttributesOfADevice) {
  int value = 0;
  EXPECT_EQ(cu().device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device_),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cu().device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device_),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(cu().device_get_attribute(&value, static_cast<CUdevice_attribute>(100000), device_),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Rules, R1_2B_NameIsCutToTheBuffer) {
  char whole[256] = {};
  char cut[4] = {'x', 'x', 'x', 'x'};
  ASSERT_EQ(cu().device_get_name(whole, sizeof whole, device_), CUDA_SUCCESS);
  ASSERT_EQ(cu().device_get_name(cut, sizeof cut, device_), CUDA_SUCCESS);
  EXPECT_STRNE(whole, "");
  EXPECT_EQ(std::string(cut), std::string(whole).substr(0, 3));
}

TEST_F(Rules, R1_2C_PrimaryContextIsOneHandle) {
  CUcontext again = nullptr;
  EXPECT_EQ(cu().device_primary_ctx_retain(&again, device_), CUDA_SUCCESS);
  EXPECT_EQ(again, context_);
  EXPECT_EQ(cu().device_primary_ctx_release(device_), CUDA_SUCCESS);
  CUdevice device = -1;
  EXPECT_EQ(cu().ctx_get_device(&device), CUDA_SUCCESS);  // one reference is left
  EXPECT_EQ(device, device_);
}

TEST_F(Rules, R1_2C_StackIsOfEachThread) {
  CUcontext seen = context_;
  std::thread([&] { EXPECT_EQ(cu().ctx_get_current(&seen), CUDA_SUCCESS); }).join();
  EXPECT_EQ(seen, nullptr);
}

TEST_F(Rules, R1_2C_PushAndPop) {
  CUcontext popped = nullptr;
  EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_pop_current(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, context_);
  CUcontext current = nullptr;
  EXPECT_EQ(cu().ctx_get_current(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context_);
}

TEST_F(Rules, R1_2C_NullCannotBePushed) {
  EXPECT_EQ(cu().ctx_push_current(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Rules, R1_2C_PrimaryContextComesBackUnderItsHandle) {
  EXPECT_EQ(cu().device_primary_ctx_release(device_), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again = nullptr;
  EXPECT_EQ(cu().device_primary_ctx_retain(&again, device_), CUDA_SUCCESS);
  EXPECT_EQ(again, context_);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2C_SetCurrentReplacesTheTop) {
  EXPECT_EQ(cu().ctx_set_current(nullptr), CUDA_SUCCESS);
  CUcontext current = context_;
  EXPECT_EQ(cu().ctx_get_current(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(cu().ctx_set_current(context_), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2C_WithoutAContextCallsAreRefused) {
  std::thread([&] {
    CUdevice device = 0;
    CUevent event = nullptr;
    CUdeviceptr memory = 0;
    EXPECT_EQ(cu().ctx_get_device(&device), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cu().event_create(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cu().mem_alloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST_F(Rules, R1_2C_PriorityRangeIsLeastFirst) {
  int least = -100;
  int greatest = 100;
  EXPECT_EQ(cu().ctx_get_stream_priority_range(&least, &greatest), CUDA_SUCCESS);
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, least);
}

TEST_F(Rules, R2_5_HandlesOfADestroyedContextAreRefused) {
  CUGRAFT_NEEDS_SIMULATOR();
  const driver_under_test fresh = driver_under_test::fresh_simulator();
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(fresh->init(0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->ctx_set_current(context), CUDA_SUCCESS);
  ASSERT_EQ(fresh->stream_create_with_priority(&stream, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->event_create(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->device_primary_ctx_release(0), CUDA_SUCCESS);
  CUdevice device = 5;
  EXPECT_EQ(fresh->ctx_get_device(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(fresh->ctx_synchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(fresh->stream_query(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(fresh->event_query(event), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(fresh->device_primary_ctx_release(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(fresh.control().live().streams, 1U) << "it was never destroyed by its owner";
  EXPECT_EQ(fresh->stream_destroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(fresh->event_destroy(event), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(fresh.control().live(), live_handles{});
  EXPECT_EQ(fresh->ctx_set_current(nullptr), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
