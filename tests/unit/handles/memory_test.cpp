// SPDX-License-Identifier: Apache-2.0
#include "cugraft/memory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cugraft/error.hpp"
#include "driver/table.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

class MemoryTest : public testing::SimulatedDriverTest {
 protected:
  const driver_table& table() const { return table_of(driver()); }

  /// A capture that any unsafe call of any thread would end (driver rules, 2.3).
  void begin_global_capture() const {
    ASSERT_EQ(table().stream_begin_capture(stream_.get(), CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_SUCCESS);
  }

  /// Ends it, and expects that nothing harmed it.
  void end_capture() const {
    CUgraph graph = nullptr;
    ASSERT_EQ(table().stream_end_capture(stream_.get(), &graph), CUDA_SUCCESS);
    EXPECT_EQ(table().graph_destroy(graph), CUDA_SUCCESS);
  }

  context context_ = context::primary(driver());
  stream stream_{context_};
};

TEST_F(MemoryTest, BuffersHaveTheirSize) {
  const device_buffer device(context_, 256);
  const host_buffer host(context_, 128);
  EXPECT_NE(device.data(), nullptr);
  EXPECT_EQ(device.size(), 256U);
  EXPECT_EQ(host.size(), 128U);
  std::memset(host.data(), 7, host.size());
  EXPECT_EQ(host.as<char>()[127], 7);
}

TEST_F(MemoryTest, NothingAtAllIsRefused) {
  constexpr const char* message = "a buffer of 0 bytes cannot be allocated";
  EXPECT_THROW_MSG(device_buffer(context_, 0), usage_error, message);
  EXPECT_THROW_MSG(device_buffer(stream_, 0), usage_error, message);
  EXPECT_THROW_MSG(host_buffer(context_, 0), usage_error, message);
}

TEST_F(MemoryTest, MovedFromIsEmpty) {
  device_buffer first(context_, 256);
  void* const data = first.data();
  device_buffer second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(first.size(), 0U);
  EXPECT_EQ(second.data(), data);
  second = device_buffer(context_, 64);
  EXPECT_EQ(second.size(), 64U);
}

TEST_F(MemoryTest, AllocationAndReleaseEndNobodysCapture) {
  begin_global_capture();
  {
    const device_buffer device(context_, 256);
    const host_buffer host(context_, 128);
  }
  end_capture();
}

TEST_F(MemoryTest, StreamOrderedBufferIsFreedInOrder) {
  const auto before = simulator().calls("cuMemFreeAsync");
  { const device_buffer buffer(stream_, 256); }
  EXPECT_EQ(simulator().calls("cuMemFreeAsync"), before + 1);
}

TEST_F(MemoryTest, StreamOrderedBufferOnACapturingStreamIsRefused) {
  begin_global_capture();
  EXPECT_THROW_MSG(device_buffer(stream_, 256), usage_error,
                   "stream 0x10 is capturing, though in no session of cugraft: an allocation that "
                   "belongs to no graph (graph_builder::allocate) would end the capture; end it "
                   "first");
  end_capture();
}

TEST_F(MemoryTest, StreamOrderedBufferIsFreedAtOnceWhileItsStreamCaptures) {
  device_buffer buffer(stream_, 256);
  begin_global_capture();
  buffer.reset();
  EXPECT_EQ(simulator().live().device_allocations, 0U);
  end_capture();
}

TEST_F(MemoryTest, FailedAllocationLeavesNothing) {
  fail_next("cuMemAlloc", 2);
  EXPECT_THROW_MSG(device_buffer(context_, 256), cuda_error,
                   "cuMemAlloc failed: 2 CUDA_ERROR_OUT_OF_MEMORY (not enough memory or another "
                   "resource)");
  fail_after_next("cuMemAlloc", 700);
  EXPECT_THROW(device_buffer(context_, 256), cuda_error);
  fail_after_next("cuMemHostAlloc", 700);
  EXPECT_THROW(host_buffer(context_, 256), cuda_error);
  fail_after_next("cuMemAllocAsync", 700);
  EXPECT_THROW(device_buffer(stream_, 256), cuda_error);
  EXPECT_EQ(simulator().live().device_allocations, 0U);
  EXPECT_EQ(simulator().live().host_allocations, 0U);
}

TEST_F(MemoryTest, FailedFreeNamesTheMemory) {
  device_buffer buffer(context_, 256);
  const std::string expected = fmt::format(
      "cuMemFree failed for memory {}: 900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", buffer.data());
  fail_next("cuMemFree", 900);
  buffer.reset();
  EXPECT_EQ(take_reports(), std::vector<std::string>{expected});
  EXPECT_EQ(simulator().live().device_allocations, 0U);
}

TEST_F(MemoryTest, ReleaseGoesOnWhereTheContextCannotBePushedAtFirst) {
  device_buffer buffer(context_, 256);
  fail_next("cuCtxPushCurrent", 999);
  buffer.reset();
  EXPECT_EQ(take_reports().size(), 1U);
  EXPECT_EQ(simulator().live().device_allocations, 0U);
}

}  // namespace
}  // namespace cugraft
