// SPDX-License-Identifier: Apache-2.0
#include "handles/relaxed_scope.hpp"

#include <gtest/gtest.h>

#include "cugraft/error.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

class RelaxedScopeTest : public testing::SimulatedDriverTest {
 protected:
  ~RelaxedScopeTest() override { EXPECT_EQ(mode(), CU_STREAM_CAPTURE_MODE_GLOBAL); }

  const driver_table& table() const { return table_of(driver()); }

  /// The mode can be asked by an exchange only.
  CUstreamCaptureMode mode() const {
    CUstreamCaptureMode asked = CU_STREAM_CAPTURE_MODE_RELAXED;
    EXPECT_EQ(table().thread_exchange_stream_capture_mode(&asked), CUDA_SUCCESS);
    CUstreamCaptureMode back = asked;
    EXPECT_EQ(table().thread_exchange_stream_capture_mode(&back), CUDA_SUCCESS);
    return asked;
  }
};

TEST_F(RelaxedScopeTest, IsRelaxedInsideOnly) {
  const relaxed_scope outer(table());
  {
    const relaxed_scope inner(table());
    EXPECT_EQ(mode(), CU_STREAM_CAPTURE_MODE_RELAXED);
  }
  EXPECT_EQ(mode(), CU_STREAM_CAPTURE_MODE_RELAXED);
}

TEST_F(RelaxedScopeTest, FailedEntryThrowsAndChangesNothing) {
  fail_next("cuThreadExchangeStreamCaptureMode", 999);
  EXPECT_THROW_MSG(relaxed_scope{table()}, cuda_error,
                   "cuThreadExchangeStreamCaptureMode failed: 999 CUDA_ERROR_UNKNOWN (an internal "
                   "error of the driver)");
}

TEST_F(RelaxedScopeTest, EntryThatFailsAfterItsWorkIsTakenBack) {
  fail_after_next("cuThreadExchangeStreamCaptureMode", 999);
  EXPECT_THROW(relaxed_scope{table()}, cuda_error);
}

TEST_F(RelaxedScopeTest, FailedExitIsReportedAndTriedAgain) {
  {
    const relaxed_scope scope(table());
    fail_next("cuThreadExchangeStreamCaptureMode", 999);
  }
  EXPECT_EQ(
      take_reports(),
      std::vector<std::string>{"cuThreadExchangeStreamCaptureMode failed: 999 CUDA_ERROR_UNKNOWN"});
}

TEST_F(RelaxedScopeTest, TheModeIsPutBackWhereSeveralCallsFail) {
  const CUstreamCaptureMode before = mode();
  {
    const relaxed_scope scope(table());
    for (const unsigned nth : {1U, 2U, 3U})
      simulator().plan({.function = "cuThreadExchangeStreamCaptureMode", .nth = nth});
  }
  EXPECT_EQ(mode(), before);
  EXPECT_EQ(take_reports().size(), 1U);
}

TEST_F(RelaxedScopeTest, ForReleasesAFailedEntryIsReportedAndTriedAgain) {
  fail_next("cuThreadExchangeStreamCaptureMode", 999);
  {
    const relaxed_scope scope(table(), std::nothrow);
    EXPECT_EQ(mode(), CU_STREAM_CAPTURE_MODE_RELAXED);
  }
  EXPECT_EQ(take_reports().size(), 1U);
}

}  // namespace
}  // namespace cugraft
