// SPDX-License-Identifier: Apache-2.0
#include "handles/ownership.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cugraft/error.hpp"
#include "support/expect.hpp"
#include "support/reports.hpp"

namespace cugraft {
namespace {

const auto handle = reinterpret_cast<CUgraph>(std::uintptr_t{3});

// What the next calls of the functions below give, in order; then success.
std::vector<CUresult> results;
int releases = 0;
bool makes_a_handle = true;

CUresult next_result() {
  if (results.empty()) return CUDA_SUCCESS;
  const CUresult result = results.front();
  results.erase(results.begin());
  return result;
}

CUresult create(CUgraph* graph, unsigned) {
  if (makes_a_handle) *graph = handle;
  return next_result();
}

CUresult destroy(CUgraph) {
  ++releases;
  return next_result();
}

class OwnershipTest : public ::testing::Test {
 protected:
  OwnershipTest() {
    table_.graph_create = create;
    table_.graph_destroy = destroy;
    releases = 0;
    makes_a_handle = true;
  }
  ~OwnershipTest() override {
    reports_.expect_none();
    EXPECT_TRUE(results.empty());
  }

  CUgraph make() {
    return make_handle(driver_of(table_), &driver_table::graph_create, &driver_table::graph_destroy,
                       0U);
  }

  driver_table table_;
  testing::report_collector reports_;
};

TEST_F(OwnershipTest, RefusedReleaseIsReportedOnceAndTriedOnceMore) {
  results = {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
  release_or_report(table_, handle, &driver_table::graph_destroy, handle);
  EXPECT_EQ(releases, 2);
  EXPECT_EQ(reports_.take(),
            std::vector<std::string>{
                "cuGraphDestroy failed for graph 0x3: 900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"});
}

TEST_F(OwnershipTest, ReleaseWhoseOutcomeIsUnknownIsNotTriedAgain) {
  for (const CUresult result : {CUDA_ERROR_UNKNOWN, CUDA_ERROR_INVALID_HANDLE,
                                CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ILLEGAL_ADDRESS}) {
    releases = 0;
    results = {result};
    release_or_report(table_, handle, &driver_table::graph_destroy, handle);
    EXPECT_EQ(releases, 1) << result;
    EXPECT_EQ(reports_.take().size(), 1U) << result;
  }
}

TEST_F(OwnershipTest, ShutdownIsNoFailure) {
  results = {CUDA_ERROR_DEINITIALIZED};
  release_or_report(table_, handle, &driver_table::graph_destroy, handle);
  EXPECT_EQ(releases, 1);
}

TEST_F(OwnershipTest, FailedReleaseThrowsAlsoWhereTheSecondWorked) {
  results = {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
  EXPECT_THROW_MSG(release_or_throw(table_, handle, &driver_table::graph_destroy, handle),
                   cuda_error,
                   "cuGraphDestroy failed for graph 0x3: 900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED "
                   "(the call is not permitted during a stream capture)");
  EXPECT_EQ(releases, 2);
}

TEST_F(OwnershipTest, MakesAHandle) {
  EXPECT_EQ(make(), handle);
  EXPECT_EQ(releases, 0);
}

TEST_F(OwnershipTest, HandleOfAFailedCallIsReleased) {
  results = {CUDA_ERROR_ILLEGAL_ADDRESS};
  EXPECT_THROW(make(), cuda_error);
  EXPECT_EQ(releases, 1);
}

TEST_F(OwnershipTest, FailedCallWithoutAHandleReleasesNothing) {
  makes_a_handle = false;
  results = {CUDA_ERROR_OUT_OF_MEMORY};
  EXPECT_THROW_MSG(make(), cuda_error,
                   "cuGraphCreate failed: 2 CUDA_ERROR_OUT_OF_MEMORY (not enough memory or another "
                   "resource)");
  EXPECT_EQ(releases, 0);
}

}  // namespace
}  // namespace cugraft
