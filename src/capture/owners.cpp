// SPDX-License-Identifier: Apache-2.0
#include "capture/owners.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/report.hpp"
#include "driver/call.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

// Lives as long as the process: a driver thread may hand something in at any time.
class release_queue {
 public:
  static release_queue& instance() {
    static release_queue* const queue = new release_queue;
    return *queue;
  }

  void push(record_list records) noexcept {
    const std::lock_guard lock(mutex_);
    waiting_.splice(waiting_.end(), records);
    start_worker();
    ready_.notify_one();
  }

  void drain() noexcept { take().clear(); }

 private:
  record_list take() noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
  }

  void start_worker() noexcept {
    if (worker_started_) return;
    try {
      std::thread([this] { run(); }).detach();
      worker_started_ = true;
    } catch (const std::exception&) {
      // no thread to be had now: `drain` or the next call takes care of what waits
    }
  }

  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return !waiting_.empty(); });
      record_list ours = std::exchange(waiting_, {});
      lock.unlock();
      ours.clear();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  record_list waiting_;
  bool worker_started_ = false;
};

struct relaxed_release {
  const driver_table* table;
  std::shared_ptr<const void> owner;

  void operator()(const void*) {
    const relaxed_scope relaxed(*table, std::nothrow);
    owner.reset();
  }
};

}  // namespace

std::shared_ptr<const void> released_relaxed(const driver_table& table,
                                             std::shared_ptr<const void> owner) {
  const void* const owned = owner.get();
  return {owned, relaxed_release{&table, std::move(owner)}};
}

bool same_owner(const std::shared_ptr<const void>& a,
                const std::shared_ptr<const void>& b) noexcept {
  const auto given = [](const std::shared_ptr<const void>& owner) -> const auto& {
    const auto* const release = std::get_deleter<relaxed_release>(owner);
    return release != nullptr ? release->owner : owner;
  };
  return given(a).get() == given(b).get() && !given(a).owner_before(given(b)) &&
         !given(b).owner_before(given(a));
}

bool same_owners(const owner_list& a, const owner_list& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), &same_owner);
}

std::shared_ptr<const void> graph_as_owner(const driver_table& table, CUgraph graph) {
  return {static_cast<const void*>(graph), [table = &table](const void* owned) {
            const auto gone = static_cast<CUgraph>(const_cast<void*>(owned));
            release_or_report(*table, gone, &driver_table::graph_destroy, gone);
          }};
}

std::shared_ptr<const void> clone_as_owner(const driver_table& table, CUgraph graph) {
  return graph_as_owner(
      table, make_handle(table, &driver_table::graph_clone, &driver_table::graph_destroy, graph));
}

void release_later(record_list records) noexcept {
  if (!records.empty()) release_queue::instance().push(std::move(records));
}

void drain_released() noexcept { release_queue::instance().drain(); }

struct owner_box::content {
  std::mutex mutex;
  record_list records;  // the retired ones, oldest first, then the current one

  static void CUDA_CB destroyed(void* data) noexcept {
    const std::unique_ptr<std::shared_ptr<content>> reference(
        static_cast<std::shared_ptr<content>*>(data));
    const std::lock_guard lock((*reference)->mutex);
    release_later(std::exchange((*reference)->records, {}));
  }
};

owner_box::owner_box(const driver_table& table)
    : table_(&table), content_(std::make_shared<content>()) {
  auto reference = std::make_unique<std::shared_ptr<content>>(content_);
  const CUresult result = table.user_object_create(&object_, reference.get(), &content::destroyed,
                                                   1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (object_ != nullptr) static_cast<void>(reference.release());  // the driver's now
  if (result == CUDA_SUCCESS) return;
  if (object_ != nullptr) try_release(table, &driver_table::user_object_release, object_, 1U);
  check(result, "cuUserObjectCreate");
}

owner_box::~owner_box() {
  release_or_report(*table_, {"user object", object_}, &driver_table::user_object_release, object_,
                    1U);
}

bool owner_box::replace(record_list next, bool was_launched) noexcept {
  if (next.front() == current_) return false;
  {
    const std::lock_guard lock(content_->mutex);
    current_ = next.front();
    content_->records.splice(content_->records.end(), next);
  }
  if (!was_launched) forget_former();
  return true;
}

void owner_box::undo_replace() noexcept {
  record_list unused;
  {
    const std::lock_guard lock(content_->mutex);
    record_list& records = content_->records;
    unused.splice(unused.end(), records, std::prev(records.end()));
    current_ = records.back();
  }
  release_later(std::move(unused));
}

void owner_box::forget_former() noexcept {
  record_list former;
  {
    const std::lock_guard lock(content_->mutex);
    record_list& records = content_->records;
    if (records.size() > 1) former.splice(former.end(), records, std::prev(records.end(), 2));
  }
  release_later(std::move(former));
}

void owner_box::release_retired(std::size_t count) noexcept {
  record_list old;
  {
    const std::lock_guard lock(content_->mutex);
    record_list& records = content_->records;
    old.splice(old.end(), records, records.begin(),
               std::next(records.begin(), static_cast<std::ptrdiff_t>(count)));
  }
  release_later(std::move(old));
}

std::size_t owner_box::retired_count() const noexcept {
  const std::lock_guard lock(content_->mutex);
  return content_->records.empty() ? 0 : content_->records.size() - 1;
}

}  // namespace cugraft
