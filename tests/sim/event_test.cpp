// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sim/driver_under_test.hpp"
#include "sim/gate.hpp"

namespace cugraft_sim {
namespace {

TEST_F(Rules, R1_2F_EventIsDoneBeforeItsFirstRecord) {
  const CUevent event = make_event();
  EXPECT_EQ(cu().event_query(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_synchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2F_EventIsDoneWhenTheWorkBeforeItIs) {
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  gate gate;
  EXPECT_EQ(cu().launch_host_func(stream, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_query(event), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cu().event_synchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_query(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2F_WaitOrdersTwoStreams) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  const CUevent event = make_event();
  gate gate;
  std::atomic<bool> ran = false;
  const auto run = [](void* data) { static_cast<std::atomic<bool>*>(data)->store(true); };
  EXPECT_EQ(cu().launch_host_func(first, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(event, first), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(second, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(second, run, &ran), CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(ran);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(second), CUDA_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(second), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2F_WaitIsForTheRecordOfItsMoment) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  const CUevent event = make_event();
  gate gate;
  EXPECT_EQ(cu().event_record(event, first), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(second, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(first, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(event, first), CUDA_SUCCESS);  // not what `second` waits for
  EXPECT_EQ(cu().stream_synchronize(second), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(first), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(second), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2F_DestroyedEventStillHoldsUpWhoWaits) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  const CUevent event = make_event();
  gate gate;
  EXPECT_EQ(cu().launch_host_func(first, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(event, first), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(second, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(second), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(second), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2F_ElapsedTimeNeedsTimedAndFinishedEvents) {
  const CUstream stream = make_stream();
  const CUevent start = make_event(CU_EVENT_DEFAULT);
  const CUevent end = make_event(CU_EVENT_DEFAULT);
  const CUevent untimed = make_event();
  gate gate;
  float milliseconds = -1;
  EXPECT_EQ(cu().event_elapsed_time(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().event_record(start, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(stream, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(end, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(untimed, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_elapsed_time(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cu().event_synchronize(start), CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_elapsed_time(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GT(milliseconds, 1);
  EXPECT_EQ(cu().event_elapsed_time(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
  for (const CUevent event : {start, end, untimed})
    EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R2_2_ExternalFlagsAreOnlyForCaptures) {
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  EXPECT_EQ(cu().event_record_with_flags(event, stream, CU_EVENT_RECORD_EXTERNAL),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cu().stream_wait_event(stream, event, CU_EVENT_WAIT_EXTERNAL),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cu().event_record_with_flags(event, stream, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().stream_wait_event(stream, event, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().event_record_with_flags(event, stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2F_FlagsAreChecked) {
  CUevent event = nullptr;
  EXPECT_EQ(cu().event_create(&event, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().event_create(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
}

// A real driver may crash on these.
TEST_F(Rules, R1_2F_UseOfAnEventThatIsNoneIsAnError) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUstream stream = make_stream();
  const CUevent gone = make_event();
  EXPECT_EQ(cu().event_destroy(gone), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().event_query(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().event_record(gone, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().stream_wait_event(stream, gone, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2F_NullIsNoEvent) {
  const CUstream stream = make_stream();
  EXPECT_EQ(cu().event_query(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().event_record(nullptr, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().stream_wait_event(stream, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().event_destroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R2_4_ElapsedTimeOfACapturedRecordHarmsNothing) {
  const CUstream stream = make_stream();
  const CUevent event = make_event(CU_EVENT_DEFAULT);
  float milliseconds = 0;
  CUgraph graph = nullptr;
  EXPECT_EQ(cu().stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_elapsed_time(&milliseconds, event, event), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cu().stream_end_capture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
