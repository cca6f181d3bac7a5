// SPDX-License-Identifier: Apache-2.0
#include "work_queue.hpp"

#include <thread>
#include <utility>

namespace cugraft_sim {

bool ticket::done() const { return queue->is_done(number); }

void ticket::wait() const { queue->wait(number); }

ticket work_queue::push(task work, std::vector<ticket> after) {
  activity::begin();
  const std::scoped_lock lock(mutex_);
  items_.push_back({std::move(work), std::move(after)});
  ++pushed_;
  if (!started_) {
    started_ = true;
    std::thread([self = shared_from_this()] { self->run(); }).detach();
  }
  changed_.notify_all();
  return {shared_from_this(), pushed_};
}

ticket work_queue::last() {
  const std::scoped_lock lock(mutex_);
  return {shared_from_this(), pushed_};
}

bool work_queue::is_done(std::uint64_t number) const {
  const std::scoped_lock lock(mutex_);
  return finished_ >= number;
}

void work_queue::wait(std::uint64_t number) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finished_ >= number; });
}

void work_queue::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void work_queue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return;
    item next = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    for (const ticket& earlier : next.after) earlier.wait();
    next.work();
    next = {};
    lock.lock();
    ++finished_;
    changed_.notify_all();
    activity::end();
  }
}

namespace activity {
namespace {

struct counter {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t count = 0;
};

counter& the_counter() {
  static auto* const instance = new counter;  // lives as long as any worker thread
  return *instance;
}

}  // namespace

void begin() {
  counter& of = the_counter();
  const std::scoped_lock lock(of.mutex);
  ++of.count;
}

void end() {
  counter& of = the_counter();
  const std::scoped_lock lock(of.mutex);
  --of.count;
  of.changed.notify_all();
}

void wait_for_none() {
  counter& of = the_counter();
  std::unique_lock lock(of.mutex);
  of.changed.wait(lock, [&] { return of.count == 0; });
}

}  // namespace activity
}  // namespace cugraft_sim
