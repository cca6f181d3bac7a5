// SPDX-License-Identifier: Apache-2.0
#include "base/report.hpp"

#include <gtest/gtest.h>

#include "cugraft/error.hpp"
#include "support/reports.hpp"

namespace cugraft {
namespace {

template <class Handle>
Handle handle(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

class ReportTest : public ::testing::Test {
 protected:
  ~ReportTest() override { reports_.expect_none(); }

  testing::report_collector reports_;
};

TEST_F(ReportTest, NamesFunctionHandleAndCode) {
  report_failure(709, "cuEventDestroy", handle<CUevent>(1));
  EXPECT_EQ(reports_.take(),
            std::vector<std::string>{
                "cuEventDestroy failed for event 0x1: 709 CUDA_ERROR_CONTEXT_IS_DESTROYED"});
}

TEST_F(ReportTest, CodeWithoutAName) {
  report_failure(12345, "cuGraphDestroy", handle<CUgraph>(3));
  EXPECT_EQ(reports_.take(),
            std::vector<std::string>{"cuGraphDestroy failed for graph 0x3: CUresult 12345"});
}

TEST_F(ReportTest, NoHandle) {
  report_failure(1, "cuThreadExchangeStreamCaptureMode", {});
  EXPECT_EQ(reports_.take(), std::vector<std::string>{"cuThreadExchangeStreamCaptureMode failed: 1 "
                                                      "CUDA_ERROR_INVALID_VALUE"});
}

TEST_F(ReportTest, SuccessAndShutdownAreNoFailures) {
  report_failure(0, "cuEventDestroy", handle<CUevent>(1));
  report_failure(4, "cuEventDestroy", handle<CUevent>(1));
  EXPECT_TRUE(reports_.take().empty());
}

TEST_F(ReportTest, SeveralObjects) {
  EXPECT_EQ(
      failure_text(905, "cuStreamWaitEvent", {handle<CUstream>(16), object(), handle<CUevent>(2)}),
      "cuStreamWaitEvent failed for stream 0x10, event 0x2: 905 "
      "CUDA_ERROR_STREAM_CAPTURE_ISOLATION");
}

void drop(std::string_view) noexcept {}

TEST_F(ReportTest, ReplacingGivesTheFormerFunction) {
  const report_function former = set_report_function(&drop);
  report("lost");
  EXPECT_EQ(set_report_function(former), &drop);
  report("kept");
  EXPECT_EQ(reports_.take(), std::vector<std::string>{"kept"});
}

TEST_F(ReportTest, NullRestoresTheDefaultWhichPrintsOneLine) {
  const report_function former = set_report_function(nullptr);
  ::testing::internal::CaptureStderr();
  report("cuEventDestroy failed");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "cugraft: cuEventDestroy failed\n");
  set_report_function(former);
}

}  // namespace
}  // namespace cugraft
