// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cugraft/context.hpp"
#include "cugraft/error.hpp"
#include "cugraft/stream.hpp"
#include "support/foreign_calls.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

class OwnedContextTest : public testing::SimulatedDriverTest {
 protected:
  context take() { return context::from_native_handle(driver(), calls_.make_context()); }
  std::size_t live() const { return simulator().live().contexts; }

  testing::foreign_calls calls_{driver()};
};

TEST_F(OwnedContextTest, IsDestroyedWithTheLastCopy) {
  context first = take();
  const std::uint64_t before = simulator().calls("cuCtxDestroy");
  {
    const context copy = first;
    first = context();
    EXPECT_EQ(live(), 1U);
    EXPECT_EQ(copy.ordinal(), 0);
  }
  EXPECT_EQ(live(), 0U);
  EXPECT_EQ(simulator().calls("cuCtxDestroy"), before + 1);
}

TEST_F(OwnedContextTest, IsDestroyedAfterTheLastHandleMadeFromIt) {
  stream kept = stream(take());
  EXPECT_EQ(live(), 1U);
  kept.close();
  EXPECT_EQ(live(), 0U);
}

TEST_F(OwnedContextTest, NullIsRefused) {
  EXPECT_THROW_MSG(context::from_native_handle(driver(), nullptr), usage_error,
                   "a context cannot be made from a null handle");
}

TEST_F(OwnedContextTest, RefusedReleaseIsReportedOnceAndTriedAgain) {
  context owned = take();
  fail_next("cuCtxDestroy", 900);
  owned = context();
  EXPECT_EQ(take_reports(), std::vector<std::string>{"cuCtxDestroy failed for context 0x1: 900 "
                                                     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"});
  EXPECT_EQ(live(), 0U);
}

TEST_F(OwnedContextTest, EndsNobodysCapture) {
  const context home = context::primary(driver());
  const stream capturing(home);
  context owned = take();
  calls_.begin_capture(capturing.get());
  owned = context();
  EXPECT_EQ(calls_.destroy(calls_.end_capture(capturing.get())), 0);
}

}  // namespace
}  // namespace cugraft
