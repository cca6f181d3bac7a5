// SPDX-License-Identifier: Apache-2.0
#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

constexpr auto global = CU_STREAM_CAPTURE_MODE_GLOBAL;
constexpr auto thread_local_mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
constexpr auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

class GuardRules : public GraphTest {
 protected:
  // What an allocation in the calling thread returns; what it gives is released outside of
  // captures.
  CUresult allocate() {
    CUdeviceptr made = 0;
    const CUresult result = cu().mem_alloc(&made, 64);
    if (made) allocated_.push_back(made);
    return result;
  }

  CUresult allocate_on_another_thread() {
    CUresult result = CUDA_ERROR_UNKNOWN;
    on_another_thread([&] {
      EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
      result = allocate();
      EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
    });
    return result;
  }

  void TearDown() override {
    for (const CUstream each : streams_) end_left_capture(each);
    for (const CUdeviceptr each : allocated_) EXPECT_EQ(cu().mem_free(each), CUDA_SUCCESS);
    GraphTest::TearDown();
  }

  bool dies_of(CUresult result) {
    const bool died = status(first()) == CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    end_left_capture(first());
    EXPECT_EQ(result, died ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
    return died;
  }

  std::vector<CUdeviceptr> allocated_;
};

TEST_F(GuardRules, R2_3_AnUnsafeCallOfTheOwnThreadEndsAllButRelaxedCaptures) {
  begin(first(), relaxed);
  EXPECT_FALSE(dies_of(allocate()));
  begin(first(), thread_local_mode);
  EXPECT_TRUE(dies_of(allocate()));
  begin(first(), global);
  EXPECT_TRUE(dies_of(allocate()));
}

TEST_F(GuardRules, R2_3_AnUnsafeCallOfAnotherThreadEndsGlobalCapturesOnly) {
  begin(first(), relaxed);
  EXPECT_FALSE(dies_of(allocate_on_another_thread()));
  begin(first(), thread_local_mode);
  EXPECT_FALSE(dies_of(allocate_on_another_thread()));
  begin(first(), global);
  EXPECT_TRUE(dies_of(allocate_on_another_thread()));
}

TEST_F(GuardRules, R2_3_TheThreadsOwnModeCountsToo) {
  CUstreamCaptureMode mode = relaxed;
  ASSERT_EQ(cu().thread_exchange_stream_capture_mode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, global) << "what a thread begins with";
  begin(first(), global);
  EXPECT_FALSE(dies_of(allocate()));

  mode = thread_local_mode;
  ASSERT_EQ(cu().thread_exchange_stream_capture_mode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, relaxed);
  begin(first(), thread_local_mode);
  EXPECT_TRUE(dies_of(allocate()));

  mode = global;
  ASSERT_EQ(cu().thread_exchange_stream_capture_mode(&mode), CUDA_SUCCESS);
}

TEST_F(GuardRules, R2_3_AThreadLocalThreadIgnoresTheCapturesOfOthers) {
  begin(first(), global);
  CUresult result = CUDA_ERROR_UNKNOWN;
  on_another_thread([&] {
    CUstreamCaptureMode mode = thread_local_mode;
    EXPECT_EQ(cu().thread_exchange_stream_capture_mode(&mode), CUDA_SUCCESS);
    EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
    result = allocate();
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
  });
  EXPECT_FALSE(dies_of(result));
}

TEST_F(GuardRules, R2_3_AThreadTakesAnyNumberForItsMode) {
  auto mode = static_cast<CUstreamCaptureMode>(9);
  EXPECT_EQ(cu().thread_exchange_stream_capture_mode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, global);
  EXPECT_EQ(cu().thread_exchange_stream_capture_mode(&mode), CUDA_SUCCESS);
}

TEST_F(GuardRules, R2_3_AnInvalidatedCaptureGoesOnForbidding) {
  begin(first(), global);
  cu().stream_query(first());
  EXPECT_EQ(allocate(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(allocate_on_another_thread(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(allocate(), CUDA_SUCCESS);
}

TEST_F(GuardRules, R2_3_OnlyTheCaptureThatForbidsTheCallDies) {
  begin(first(), thread_local_mode);
  CUstreamCaptureStatus other = CU_STREAM_CAPTURE_STATUS_NONE;
  on_another_thread([&] {
    EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
    begin(second(), thread_local_mode);
    EXPECT_EQ(allocate(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    other = status(second());
    end_left_capture(second());
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
  });
  EXPECT_EQ(other, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
}

TEST_F(Facts, TheseCallsAreUnsafe) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  CUdeviceptr memory = make_memory(64);
  void* host = make_host_memory<char>(64);
  const CUlibrary library = load(rules_ptx);
  const auto dies = [&](auto call) {
    begin(first());
    EXPECT_EQ(call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    const bool died = status(first()) == CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    end_left_capture(first());
    return died;
  };
  EXPECT_TRUE(dies([&] { return cu().mem_free(memory); }));
  EXPECT_TRUE(dies([&] {
    void* made = nullptr;
    return cu().mem_host_alloc(&made, 64, 0);
  }));
  EXPECT_TRUE(dies([&] { return cu().mem_free_host(host); }));
  EXPECT_TRUE(dies([&] { return cu().stream_synchronize(second()); }));
  EXPECT_TRUE(dies([&] { return cu().stream_query(second()); }));
  EXPECT_TRUE(dies([&] { return cu().event_query(events_[0]); }));
  EXPECT_TRUE(dies([&] { return cu().event_synchronize(events_[0]); }));
  EXPECT_TRUE(dies([&] { return cu().ctx_synchronize(); }));
  EXPECT_TRUE(dies([&] { return cu().library_unload(library); }));
  EXPECT_TRUE(dies([&] { return cu().graph_exec_destroy(exec); }));
  EXPECT_TRUE(dies([&] {
    CUgraphExec made = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    return cu().graph_instantiate_with_params(&made, graph, &parameters);
  }));
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS) << "a refused call does nothing";
  EXPECT_EQ(cu().mem_free_host(host), CUDA_SUCCESS);
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
}

TEST_F(Facts, TheseCallsAreSafe) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  begin(first(), global);
  CUlibrary library = load(rules_ptx);
  find(library, "add");
  const CUevent event = make_event();
  const CUstream stream = make_stream();
  EXPECT_EQ(cu().event_record(event, second()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(third(), event, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(second()), CUDA_SUCCESS);
  EXPECT_EQ(fill(second(), 1, 9), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_launch(exec, second()), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_upload(exec, second()), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cu().graph_exec_update(exec, graph, &info), CUDA_SUCCESS);
  CUgraph clone = nullptr;
  EXPECT_EQ(cu().graph_clone(&clone, graph), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_destroy(clone), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  end(first());
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
}

TEST_F(GuardRules, R2_4_SynchronisingACapturingStreamEndsItsCapture) {
  for (const auto mode : {global, thread_local_mode, relaxed}) {
    begin(first(), mode);
    EXPECT_EQ(cu().stream_synchronize(first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(first(), mode);
    EXPECT_EQ(cu().stream_query(first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }
}

TEST_F(GuardRules, R2_4_AViolationOnAForkEndsTheWholeCapture) {
  begin(first());
  depend(first(), second(), events_[0]);
  EXPECT_EQ(cu().stream_query(second()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(status(second()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(GuardRules, R2_4_SynchronisingTheContextEndsEveryCaptureInIt) {
  begin(first(), relaxed);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(GuardRules, R2_4_AskingAboutACapturedEventEndsTheCapture) {
  for (const auto mode : {global, thread_local_mode, relaxed}) {
    begin(first(), mode);
    ASSERT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_query(events_[0]), CUDA_ERROR_CAPTURED_EVENT);
    EXPECT_EQ(cu().event_query(events_[0]), CUDA_ERROR_INVALID_VALUE) << "the record is lost";
    EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(first(), mode);
    ASSERT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_synchronize(events_[0]), CUDA_ERROR_CAPTURED_EVENT);
    EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }
}

TEST_F(Facts, AnExternallyRecordedEventMayBeAskedAbout) {
  begin(first(), relaxed);
  ASSERT_EQ(cu().event_record_with_flags(events_[0], first(), CU_EVENT_RECORD_EXTERNAL),
            CUDA_SUCCESS);
  EXPECT_EQ(cu().event_query(events_[0]), CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(first())).size(), 1U);
}

// The legacy stream waits for every blocking stream, which a captured one cannot be waited for.
class LegacyRules : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    blocking_ = make_stream(CU_STREAM_DEFAULT);
  }

  void TearDown() override {
    end_left_capture(blocking_);
    EXPECT_EQ(cu().stream_destroy(blocking_), CUDA_SUCCESS);
    GraphTest::TearDown();
  }

  template <class Call>
  void expect_death_of(CUstream captured, Call call) {
    begin(captured, relaxed);
    EXPECT_EQ(call(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    EXPECT_EQ(failing_end(captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  }

  CUstream blocking_ = nullptr;
};

TEST_F(LegacyRules, R2_4_UseOfTheLegacyStreamEndsABlockingCapture) {
  expect_death_of(blocking_, [&] { return launch(nullptr); });
  expect_death_of(blocking_, [&] { return fill(CU_STREAM_LEGACY); });
  expect_death_of(blocking_, [&] { return cu().stream_synchronize(nullptr); });
  expect_death_of(blocking_, [&] { return cu().stream_query(nullptr); });
  expect_death_of(blocking_, [&] { return cu().event_record(events_[0], nullptr); });
}

TEST_F(LegacyRules, R2_4_ALaunchOfAGraphThereEndsItToo) {
  const CUgraphExec exec = instantiate(chain(1));
  expect_death_of(blocking_, [&] { return cu().graph_launch(exec, nullptr); });
}

TEST_F(LegacyRules, R2_4_TheTwoQueriesLeaveTheCaptureAlone) {
  begin(blocking_, relaxed);
  CUstreamCaptureStatus found{};
  EXPECT_EQ(cu().stream_is_capturing(nullptr, &found), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  cuuint64_t id = 0;
  EXPECT_EQ(cu().stream_get_capture_info(nullptr, &found, &id, nullptr, nullptr, nullptr, nullptr),
            CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  ASSERT_EQ(launch(blocking_), CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(blocking_)).size(), 1U);
}

TEST_F(LegacyRules, R2_5_ANonBlockingCaptureLeavesTheLegacyStreamAlone) {
  begin(first(), relaxed);
  EXPECT_EQ(launch(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(status(nullptr), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_TRUE(nodes(end(first())).empty());
}

TEST_F(LegacyRules, R2_5_TheLegacyStreamCannotJoinACapture) {
  begin(first(), relaxed);
  ASSERT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(nullptr, events_[0], 0), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Facts, R2_2_ALaunchOfAGraphIntoACaptureIsRefusedAndEndsIt) {
  const CUgraphExec exec = instantiate(chain(1));
  begin(first(), relaxed);
  EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(first(), relaxed);
  EXPECT_EQ(cu().graph_upload(exec, first()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

}  // namespace
}  // namespace cugraft_sim
