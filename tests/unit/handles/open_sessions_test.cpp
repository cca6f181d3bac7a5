// SPDX-License-Identifier: Apache-2.0
#include "handles/open_sessions.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "cugraft/error.hpp"
#include "driver/table.hpp"
#include "support/simulated_driver.hpp"
#include "unit/handles/fake_recorder.hpp"

namespace cugraft {
namespace {

using testing::fake_recorder;
using testing::open_session;

class OpenSessionsTest : public testing::SimulatedDriverTest {
 protected:
  const driver_table& table() const { return table_of(driver()); }

  CUgraph end_capture(stream_ref stream) const {
    CUgraph graph = nullptr;
    EXPECT_EQ(table().stream_end_capture(stream.get(), &graph), CUDA_SUCCESS);
    return graph;
  }

  std::uint64_t capture_id(stream_ref stream) const {
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    EXPECT_EQ(table().stream_get_capture_info(stream.get(), &status, &id, nullptr, nullptr, nullptr,
                                              nullptr),
              CUDA_SUCCESS);
    return id;
  }

  context context_ = context::primary(driver());
  stream first_{context_};
  stream second_{context_};
  event event_{context_};
};

TEST_F(OpenSessionsTest, NoneIsFoundAndTheDriverIsNotAsked) {
  const auto before = simulator().calls("cuStreamGetCaptureInfo");
  EXPECT_EQ(recorder_of(first_), nullptr);
  EXPECT_EQ(recorder_of_event(event_), nullptr);
  EXPECT_EQ(simulator().calls("cuStreamGetCaptureInfo"), before);
}

TEST_F(OpenSessionsTest, StreamsOfASessionAreFoundUntilItCloses) {
  {
    const open_session session(first_);
    EXPECT_EQ(recorder_of(first_), session.get());
    EXPECT_EQ(recorder_of(second_), nullptr);
    add_stream(session.get(), second_);
    EXPECT_EQ(recorder_of(second_), session.get());
  }
  EXPECT_EQ(recorder_of(first_), nullptr);
  EXPECT_EQ(recorder_of(second_), nullptr);
}

TEST_F(OpenSessionsTest, SecondLookUpAsksNoDriver) {
  const open_session session(first_);
  EXPECT_EQ(recorder_of(first_), session.get());
  const auto before = simulator().calls("cuStreamGetCaptureInfo");
  EXPECT_EQ(recorder_of(first_), session.get());
  EXPECT_EQ(simulator().calls("cuStreamGetCaptureInfo"), before);
}

TEST_F(OpenSessionsTest, CachesKeepNoClosedSessionAlive) {
  std::weak_ptr<fake_recorder> gone;
  {
    const open_session session(first_);
    gone = session.get();
    EXPECT_EQ(recorder_of(first_), session.get());
  }
  EXPECT_TRUE(gone.expired());
}

TEST_F(OpenSessionsTest, StreamHasOneSession) {
  const open_session session(first_);
  const auto other = std::make_shared<fake_recorder>();
  EXPECT_THROW_MSG(open_recorder(other, first_), usage_error,
                   "stream 0x10 belongs to another open session already");
  EXPECT_NO_THROW(add_stream(session.get(), first_));
  EXPECT_EQ(recorder_of(first_), session.get());
}

TEST_F(OpenSessionsTest, CloseOfOneLeavesTheOther) {
  const open_session kept(first_);
  {
    const open_session closed(second_);
    EXPECT_EQ(recorder_of(second_), closed.get());
  }
  EXPECT_EQ(recorder_of(first_), kept.get());
  EXPECT_EQ(recorder_of(second_), nullptr);
}

TEST_F(OpenSessionsTest, OtherThreadsFindTheSession) {
  const open_session session(first_);
  std::shared_ptr<recorder> found;
  std::thread([&] { found = recorder_of(first_); }).join();
  EXPECT_EQ(found, session.get());
}

TEST_F(OpenSessionsTest, PerThreadStreamIsOneForEachThread) {
  const stream_ref own = stream_ref::per_thread(driver());
  const open_session session(first_);
  add_stream(session.get(), own);
  std::shared_ptr<recorder> elsewhere = session.get();
  // The per-thread stream of a thread needs a context there.
  std::thread([&] {
    ASSERT_EQ(table().ctx_set_current(context_.get()), CUDA_SUCCESS);
    elsewhere = recorder_of(own);
  }).join();
  EXPECT_EQ(elsewhere, nullptr);
  EXPECT_EQ(recorder_of(own), session.get());
}

TEST_F(OpenSessionsTest, EqualHandlesOfTwoDriversAreTwoStreams) {
  const cugraft::driver other = testing::simulator_copy::shared(13000).load();
  const open_session session(first_);
  EXPECT_EQ(known_recorder_of({other, first_.get()}), nullptr);
  note_event(session.get(), event_);
  EXPECT_EQ(recorder_of_event({other, event_.get()}), nullptr);
}

TEST_F(OpenSessionsTest, ForeignForkIntoTheCaptureIsRecognised) {
  ASSERT_EQ(table().stream_begin_capture(first_.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  {
    const open_session session(first_);
    session->id = capture_id(first_);
    ASSERT_EQ(table().event_record(event_.get(), first_.get()), CUDA_SUCCESS);
    ASSERT_EQ(table().stream_wait_event(second_.get(), event_.get(), 0), CUDA_SUCCESS);

    EXPECT_EQ(known_recorder_of(second_), nullptr);
    EXPECT_EQ(recorder_of(second_), session.get());
    EXPECT_EQ(known_recorder_of(second_), session.get());
  }
  EXPECT_EQ(table().graph_destroy(end_capture(first_)), CUDA_SUCCESS);
}

TEST_F(OpenSessionsTest, EventIsOfTheSessionOfItsLastRecord) {
  const open_session session(first_);
  const open_session other(second_);
  note_event(session.get(), event_);
  EXPECT_EQ(recorder_of_event(event_), session.get());
  note_event(other.get(), event_);
  EXPECT_EQ(recorder_of_event(event_), other.get());
  forget_event(event_);
  EXPECT_EQ(recorder_of_event(event_), nullptr);
}

TEST_F(OpenSessionsTest, CloseForgetsEvents) {
  const open_session kept(second_);
  {
    const open_session session(first_);
    note_event(session.get(), event_);
    EXPECT_THROW_MSG(refuse_if_captured(event_), usage_error,
                     "event 0x1 was recorded in a session that is still open: asking the driver "
                     "about it would end the capture; end the session first");
  }
  EXPECT_NO_THROW(refuse_if_captured(event_));
}

TEST_F(OpenSessionsTest, DestroyedEventIsForgotten) {
  const open_session session(first_);
  note_event(session.get(), event_);
  const event_ref same = event_;
  event_.reset();
  EXPECT_EQ(recorder_of_event(same), nullptr);
}

TEST_F(OpenSessionsTest, StreamTellsItsSessionThatItIsDestroyed) {
  const open_session session(first_);
  const stream_ref same = first_;
  EXPECT_EQ(recorder_of(same), session.get());
  first_.reset();
  EXPECT_EQ(session->destroyed, std::vector<stream_ref>{same});
  EXPECT_EQ(known_recorder_of(same), nullptr);
}

TEST_F(OpenSessionsTest, ManyThreadsOpenLookUpAndClose) {
  constexpr int threads = 4;
  constexpr int rounds = 200;
  std::atomic<int> wrong{0};
  const auto work = [&](int number) {
    // Handles that no driver has: all of them stay in the table, or miss it.
    const auto handle = [&](int i) {
      return stream_ref(driver(), reinterpret_cast<CUstream>(
                                      static_cast<std::uintptr_t>(0x10000 + 16 * number + i)));
    };
    for (int round = 0; round < rounds; ++round) {
      const open_session session(handle(0));
      add_stream(session.get(), handle(1));
      if (recorder_of(handle(0)) != session.get()) ++wrong;
      if (recorder_of(handle(1)) != session.get()) ++wrong;
      note_event(session.get(), event_);
      forget_event(event_);
    }
  };
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(work, i);
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(recorder_of(first_), nullptr);
}

}  // namespace
}  // namespace cugraft
