// SPDX-License-Identifier: Apache-2.0
#include "cugraft/event.hpp"

#include <gtest/gtest.h>

#include "cugraft/graph.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

// Leaves nothing behind, and says so: live handles, open captures and unread reports are counted
// after each test.
class EventTest : public testing::SimulatedDriverTest {
 protected:
  context context_ = context::primary(driver());
  stream stream_{context_};
};

TEST_F(EventTest, IsDoneBeforeItWasRecorded) { EXPECT_TRUE(event(context_).is_done()); }

TEST_F(EventTest, MovedFromIsEmpty) {
  event first(context_);
  const event second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
}

TEST_F(EventTest, QueryOfACapturedRecordIsRefusedAndTheCaptureLives) {
  const event event(context_);
  capture_session session = begin_capture(stream_);
  stream_.record(event);

  EXPECT_THROW_MSG(event.is_done(), usage_error,
                   "event 0x1 was recorded in a session that is still open: asking the driver "
                   "about it would end the capture; "
                   "end the session first");

  EXPECT_EQ(session.end().node_count(), 0U);
}

TEST_F(EventTest, FailedCreationNamesTheFunctionAndLeavesNothing) {
  fail_next("cuEventCreate", 2);  // CUDA_ERROR_OUT_OF_MEMORY
  try {
    const event unused(context_);
    FAIL() << "no error";
  } catch (const cuda_error& error) {
    EXPECT_EQ(error.code(), 2);
    EXPECT_EQ(error.function(), "cuEventCreate");
  }
}

TEST_F(EventTest, FailedDestructionIsReportedOnce) {
  {
    const event event(context_);
    // CUDA_ERROR_CONTEXT_IS_DESTROYED: the event went with it.
    fail_after_next("cuEventDestroy", 709);
  }
  EXPECT_EQ(take_reports(),
            std::vector<std::string>{
                "cuEventDestroy failed for event 0x1: 709 CUDA_ERROR_CONTEXT_IS_DESTROYED"});
}

TEST_F(EventTest, RefusedDestructionIsTriedAgain) {
  {
    const event event(context_);
    fail_next("cuEventDestroy", 900);  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  }
  EXPECT_EQ(simulator().live().events, 0U);
  EXPECT_EQ(take_reports().size(), 1U);
}

TEST_F(EventTest, IsDoneAfterTheWorkBeforeItsRecord) {
  const event event(context_);
  stream_.record(event);
  event.synchronize();
  EXPECT_TRUE(event.is_done());
}

TEST_F(EventTest, TimeBetweenTwoEvents) {
  const event start(context_, {.timing = true});
  const event end(context_, {.timing = true});
  stream_.record(start);
  stream_.record(end);
  end.synchronize();
  EXPECT_GE(end.milliseconds_since(start), 0.0F);
}

TEST_F(EventTest, NoTimeWithoutTiming) {
  const event start(context_);
  const event end(context_);
  stream_.record(start);
  stream_.record(end);
  end.synchronize();
  EXPECT_THROW_MSG(end.milliseconds_since(start), usage_error,
                   "no time between event 0x1 and event 0x2: both must be made with "
                   "event_options::timing, be recorded, and be done");
}

TEST_F(EventTest, FailedQueryNamesTheEvent) {
  const event event(context_);
  fail_next("cuEventQuery", 700);  // CUDA_ERROR_ILLEGAL_ADDRESS
  EXPECT_THROW_MSG(event.is_done(), cuda_error,
                   "cuEventQuery failed for event 0x1: 700 CUDA_ERROR_ILLEGAL_ADDRESS (a kernel "
                   "used an invalid address; the context is lost)");
}

}  // namespace
}  // namespace cugraft
