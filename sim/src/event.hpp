// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cuda_api.hpp"

namespace cugraft_sim {

struct captured_record;
struct context;

/// One record of an event: done when the work before it is.
///
/// Thread safety: all members.
class event_record {
 public:
  using clock = std::chrono::steady_clock;

  void complete();
  bool is_done() const;
  void wait() const;
  /// When it was done, if it is.
  std::optional<clock::time_point> time() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<clock::time_point> time_;
};

/// A record that enqueued work completes: at the latest when the last reference to it goes, so that
/// nobody waits for work that was dropped.
class pending_record {
 public:
  explicit pending_record(std::shared_ptr<event_record> record) : record_(std::move(record)) {}
  ~pending_record() { record_->complete(); }
  pending_record(const pending_record&) = delete;
  pending_record& operator=(const pending_record&) = delete;

  void complete() { record_->complete(); }

 private:
  std::shared_ptr<event_record> record_;
};

struct event {
  CUevent handle = nullptr;
  std::shared_ptr<context> owner;
  unsigned flags = 0;

  /// The last record outside of a capture; null if there was none.
  std::shared_ptr<event_record> last;

  /// What the last record stands for, if it was made in a capture. Set by the capture, cleared by
  /// a record outside of one.
  std::shared_ptr<captured_record> captured;
};

/// The event of this handle: INVALID_HANDLE where there is none, INVALID_CONTEXT where its context
/// is gone, and the failure of that context's work. It is found in the last two cases too.
CUresult find_event(CUevent handle, std::shared_ptr<event>& found);

/// Makes a new record the event's last, as a call that enqueues a record does.
std::shared_ptr<pending_record> start_record(event& of);

}  // namespace cugraft_sim
