// SPDX-License-Identifier: Apache-2.0
#include "cugraft/context.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "cugraft/error.hpp"
#include "driver/table.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

class ContextTest : public testing::SimulatedDriverTest {
 protected:
  const driver_table& table() const { return table_of(driver()); }
};

TEST_F(ContextTest, PrimaryIsSharedAndKeptUntilTheLastCopyIsGone) {
  context first = context::primary(driver());
  {
    const context second = context::primary(driver());
    EXPECT_EQ(first, second);
    EXPECT_EQ(first.ordinal(), 0);
    EXPECT_EQ(first.get_driver(), driver());
    EXPECT_EQ(simulator().live().primary_contexts, 1U);
  }
  const context copy = first;
  first = context();
  EXPECT_EQ(simulator().live().primary_contexts, 1U);
  EXPECT_EQ(copy.ordinal(), 0);
}

TEST_F(ContextTest, EmptyOnesAreEqual) {
  const context primary = context::primary(driver());
  EXPECT_EQ(context(), context());
  EXPECT_NE(context(), primary);
  EXPECT_EQ(context().get(), nullptr);
}

TEST_F(ContextTest, NoSuchDevice) {
  EXPECT_THROW_MSG(context::primary(driver(), 7), cuda_error,
                   "cuDeviceGet failed: 101 CUDA_ERROR_INVALID_DEVICE (there is no such device, or "
                   "it cannot do this)");
}

TEST_F(ContextTest, CurrentOnAThreadWithoutOneIsRefused) {
  EXPECT_THROW_MSG(context::current(driver()), usage_error,
                   "no context is current on this thread: make one current, or use "
                   "context::primary");
}

TEST_F(ContextTest, CurrentDoesNotOwn) {
  const context primary = context::primary(driver());
  ASSERT_EQ(table().ctx_push_current(primary.get()), CUDA_SUCCESS);
  {
    const context current = context::current(driver());
    EXPECT_EQ(current, primary);
    EXPECT_EQ(current.ordinal(), 0);
  }
  CUcontext popped = nullptr;
  ASSERT_EQ(table().ctx_pop_current(&popped), CUDA_SUCCESS);
  EXPECT_EQ(simulator().live().primary_contexts, 1U);
}

TEST_F(ContextTest, BorrowedOneAsksTheDriverForItsOrdinal) {
  const context primary = context::primary(driver());
  EXPECT_EQ(context::borrow(driver(), primary.get()).ordinal(), 0);
  EXPECT_THROW_MSG(context::borrow(driver(), nullptr), usage_error,
                   "a context cannot be made from a null handle");
}

TEST_F(ContextTest, FailedRetainLeavesNothing) {
  fail_next("cuDevicePrimaryCtxRetain", 2);
  EXPECT_THROW_MSG(context::primary(driver()), cuda_error,
                   "cuDevicePrimaryCtxRetain failed: 2 CUDA_ERROR_OUT_OF_MEMORY (not enough memory "
                   "or another resource)");
  fail_after_next("cuDevicePrimaryCtxRetain", 700);
  EXPECT_THROW(context::primary(driver()), cuda_error);
  EXPECT_EQ(simulator().live().primary_contexts, 0U);
}

TEST_F(ContextTest, RefusedReleaseIsReportedOnceAndTriedAgain) {
  fail_next("cuDevicePrimaryCtxRelease", 900);
  { const context primary = context::primary(driver()); }
  EXPECT_EQ(take_reports(),
            std::vector<std::string>{"cuDevicePrimaryCtxRelease failed for context 0x1: 900 "
                                     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"});
  EXPECT_EQ(simulator().live().primary_contexts, 0U);
}

}  // namespace
}  // namespace cugraft
