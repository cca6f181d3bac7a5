// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cugraft_sim {

class work_queue;

/// All work of a queue up to a moment.
struct ticket {
  std::shared_ptr<work_queue> queue;
  std::uint64_t number = 0;

  bool done() const;
  void wait() const;
};

/// Work that one thread does in order, as a stream needs it. The thread is made at the first work
/// and ends when the queue was closed and is empty.
///
/// Thread safety: all members. `push` may be called with the driver's lock held; `wait` may not.
class work_queue : public std::enable_shared_from_this<work_queue> {
 public:
  using task = std::function<void()>;

  /// Adds `work`, which runs after what was pushed before and after `after`. The task is destroyed
  /// on the queue's thread before its ticket is done.
  ticket push(task work, std::vector<ticket> after = {});

  /// Everything pushed so far.
  ticket last();

  bool is_done(std::uint64_t number) const;
  void wait(std::uint64_t number) const;

  /// No more work comes; what is there still runs.
  void close();

 private:
  struct item {
    task work;
    std::vector<ticket> after;
  };

  void run();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<item> items_;
  std::uint64_t pushed_ = 0;
  std::uint64_t finished_ = 0;
  bool started_ = false;
  bool closed_ = false;
};

/// Counts work that is under way anywhere: queued tasks and destructors of user objects.
namespace activity {
void begin();
void end();
/// Waits until there is none.
void wait_for_none();
}  // namespace activity

}  // namespace cugraft_sim
