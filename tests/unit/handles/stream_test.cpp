// SPDX-License-Identifier: Apache-2.0
#include "cugraft/stream.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "cugraft/error.hpp"
#include "driver/table.hpp"
#include "handles/context_scope.hpp"
#include "support/simulated_driver.hpp"
#include "unit/handles/fake_recorder.hpp"

namespace cugraft {
namespace {

class StreamTest : public testing::SimulatedDriverTest {
 protected:
  const driver_table& table() const { return table_of(driver()); }

  void begin_foreign_capture(stream_ref stream) const {
    ASSERT_EQ(table().stream_begin_capture(stream.get(), CU_STREAM_CAPTURE_MODE_RELAXED),
              CUDA_SUCCESS);
  }

  /// Ends it, and expects that nothing harmed it.
  void end_foreign_capture(stream_ref stream) const {
    CUgraph graph = nullptr;
    ASSERT_EQ(table().stream_end_capture(stream.get(), &graph), CUDA_SUCCESS);
    EXPECT_EQ(table().graph_destroy(graph), CUDA_SUCCESS);
  }

  context context_ = context::primary(driver());
};

TEST_F(StreamTest, OptionsReachTheDriver) {
  const stream plain(context_);
  const stream special(context_, {.blocking = true, .priority = -1});
  unsigned flags = 0;
  int priority = 0;
  ASSERT_EQ(table().stream_get_flags(plain.get(), &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  ASSERT_EQ(table().stream_get_flags(special.get(), &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_DEFAULT));
  ASSERT_EQ(table().stream_get_priority(special.get(), &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, -1);
}

TEST_F(StreamTest, IdleStreamIsDone) {
  const stream stream(context_);
  stream.synchronize();
  EXPECT_TRUE(stream.is_done());
  EXPECT_FALSE(stream.is_capturing());
}

TEST_F(StreamTest, KnowsDriverAndContext) {
  const stream stream(context_);
  EXPECT_EQ(stream.get_driver(), driver());
  EXPECT_EQ(stream.get_context(), context_);
}

TEST_F(StreamTest, ForeignCaptureIsNotDisturbed) {
  const stream stream(context_);
  begin_foreign_capture(stream);
  EXPECT_TRUE(stream.is_capturing());
  EXPECT_THROW_MSG(
      stream.synchronize(), usage_error,
      "stream 0x10 is capturing, though in no session of cugraft: waiting for it would "
      "end the capture; end it first");
  EXPECT_THROW_MSG(
      stream.is_done(), usage_error,
      "stream 0x10 is capturing, though in no session of cugraft: asking whether it is "
      "done would end the capture; end it first");
  end_foreign_capture(stream);
}

TEST_F(StreamTest, OwnSessionIsNamed) {
  const stream stream(context_);
  const testing::open_session session(stream);
  EXPECT_THROW_MSG(stream.synchronize(), usage_error,
                   "stream 0x10 belongs to a session of the test: waiting for it would end the "
                   "capture; end the session first");
}

TEST_F(StreamTest, LegacyStreamDuringTheCaptureOfABlockingStream) {
  const context_scope current(context_);
  const stream blocking(context_, {.blocking = true});
  begin_foreign_capture(blocking);
  const stream_ref legacy = stream_ref::legacy(driver());
  EXPECT_FALSE(legacy.is_capturing());
  EXPECT_THROW_MSG(
      legacy.synchronize(), usage_error,
      "a blocking stream is capturing, which forbids the legacy stream: waiting for it "
      "would end the capture; end it first, or capture on a non-blocking stream");
  end_foreign_capture(blocking);
}

TEST_F(StreamTest, MovedFromIsEmptyAndNotTheNullStream) {
  stream first(context_);
  const stream second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  EXPECT_THROW_MSG(first.is_capturing(), usage_error,
                   "the stream or event is empty: it was moved from, closed or released");
}

TEST_F(StreamTest, DefaultStreamsAreNeverDestroyed) {
  const auto before = simulator().calls("cuStreamDestroy");
  for (const auto handle : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{2}}) {
    stream taken = stream::from_native_handle(driver(), reinterpret_cast<CUstream>(handle));
    EXPECT_TRUE(taken);
    taken.close();
    EXPECT_FALSE(taken);
  }
  EXPECT_EQ(simulator().calls("cuStreamDestroy"), before);
}

TEST_F(StreamTest, DestroyedWithItsContextStillThere) {
  stream stream(context_);
  context_ = context();
  EXPECT_EQ(simulator().live().primary_contexts, 1U);
  stream.reset();
  EXPECT_EQ(simulator().live().primary_contexts, 0U);
}

TEST_F(StreamTest, FailedCreationNamesTheFunctionAndLeavesNothing) {
  fail_next("cuStreamCreateWithPriority", 2);
  EXPECT_THROW_MSG(stream{context_}, cuda_error,
                   "cuStreamCreateWithPriority failed: 2 CUDA_ERROR_OUT_OF_MEMORY (not enough "
                   "memory or another resource)");
  fail_after_next("cuStreamCreateWithPriority", 700);
  EXPECT_THROW(stream{context_}, cuda_error);
  EXPECT_EQ(simulator().live().streams, 0U);
}

TEST_F(StreamTest, FailedQueryNamesTheStream) {
  const stream stream(context_);
  fail_next("cuStreamQuery", 719);
  EXPECT_THROW_MSG(stream.is_done(), cuda_error,
                   "cuStreamQuery failed for stream 0x10: 719 CUDA_ERROR_LAUNCH_FAILED (a kernel "
                   "failed on the device; the context is lost)");
}

}  // namespace
}  // namespace cugraft
