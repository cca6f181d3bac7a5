// SPDX-License-Identifier: Apache-2.0
#include "handles/context_scope.hpp"

#include <gtest/gtest.h>

#include "cugraft/error.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

class ContextScopeTest : public testing::SimulatedDriverTest {
 protected:
  CUcontext current() const {
    CUcontext handle = nullptr;
    EXPECT_EQ(table_of(driver()).ctx_get_current(&handle), CUDA_SUCCESS);
    return handle;
  }

  std::size_t depth() const { return simulator().context_stack_depth(); }

  context context_ = context::primary(driver());
};

TEST_F(ContextScopeTest, IsCurrentInsideOnly) {
  {
    const context_scope scope(context_);
    EXPECT_EQ(current(), context_.get());
  }
  EXPECT_EQ(current(), nullptr);
}

TEST_F(ContextScopeTest, DoesNotPushWhatIsCurrent) {
  const context_scope outer(context_);
  const context_scope inner(context_);
  EXPECT_EQ(depth(), 1U);
}

TEST_F(ContextScopeTest, FailedPushThrowsAndPushesNothing) {
  fail_next("cuCtxPushCurrent", 201);
  EXPECT_THROW_MSG(context_scope{context_}, cuda_error,
                   "cuCtxPushCurrent failed for context 0x1: 201 CUDA_ERROR_INVALID_CONTEXT (no "
                   "context is current, or the context is invalid)");
  EXPECT_EQ(depth(), 0U);
}

TEST_F(ContextScopeTest, PushThatFailsAfterItsWorkIsTakenBack) {
  fail_after_next("cuCtxPushCurrent", 700);
  EXPECT_THROW(context_scope{context_}, cuda_error);
  EXPECT_EQ(depth(), 0U);
}

TEST_F(ContextScopeTest, FailedQueryThrows) {
  fail_next("cuCtxGetCurrent", 3);
  EXPECT_THROW(context_scope{context_}, cuda_error);
  EXPECT_EQ(depth(), 0U);
}

TEST_F(ContextScopeTest, FailedPopIsReportedAndTriedAgain) {
  {
    const context_scope scope(context_);
    fail_next("cuCtxPopCurrent", 999);
  }
  EXPECT_EQ(depth(), 0U);
  EXPECT_EQ(take_reports(), std::vector<std::string>{"cuCtxPopCurrent failed for context 0x1: 999 "
                                                     "CUDA_ERROR_UNKNOWN"});
}

TEST_F(ContextScopeTest, PopThatFailsAfterItsWorkIsNotTriedAgain) {
  {
    const context_scope scope(context_);
    fail_after_next("cuCtxPopCurrent", 999);
  }
  EXPECT_EQ(depth(), 0U);
  EXPECT_EQ(take_reports().size(), 1U);
}

TEST_F(ContextScopeTest, NoContextStaysPushedWhereSeveralCallsFail) {
  {
    const context_scope scope(context_);
    for (const unsigned nth : {1U, 2U, 3U}) {
      simulator().plan({.function = "cuCtxPopCurrent", .nth = nth});
      simulator().plan({.function = "cuCtxGetCurrent", .nth = nth});
    }
  }
  EXPECT_EQ(depth(), 0U);
  EXPECT_EQ(take_reports().size(), 1U);
}

TEST_F(ContextScopeTest, ForReleasesAFailedPushIsReportedAndTriedAgain) {
  fail_next("cuCtxPushCurrent", 999);
  {
    const context_scope scope(*state_of(context_), std::nothrow);
    EXPECT_EQ(current(), context_.get());
  }
  EXPECT_EQ(depth(), 0U);
  EXPECT_EQ(take_reports(), std::vector<std::string>{"cuCtxPushCurrent failed for context 0x1: 999 "
                                                     "CUDA_ERROR_UNKNOWN"});
}

}  // namespace
}  // namespace cugraft
