// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>
#include <utility>

#include "base/report.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

// An eager run of a body: the session has builders, forks, memory and owners, and no capture. It is
// in no table of sessions, so what is enqueued on its streams goes to the driver at once.

namespace cugraft::detail {

void session_state::begin_eager() {
  described_ = "the eager run on " + identify(origin_.get());
  builders_.push_back({0, true});
  is_eager_ = true;
  phase_ = phase::open;
}

void session_state::refuse_if_eager(const char* asked, const char* instead) const {
  if (is_eager_)
    throw unsupported_error(describe() + " runs without a graph, and takes no " + asked, 0,
                            driver_of(*table_).version(), instead);
}

void session_state::refuse_embedding() const {
  refuse_if_eager("child graph", "ask graph_builder::is_eager, and enqueue its work");
}

void session_state::link_eager(lane& from, lane& to) {
  const CUevent event = link_event(from.context);
  check(table_->event_record(event, from.stream.get()), "cuEventRecord", event, from.stream.get());
  check(table_->stream_wait_event(to.stream.get(), event, 0), "cuStreamWaitEvent", to.stream.get(),
        event);
}

std::uintptr_t session_state::allocate_eagerly(stream_ref stream, std::size_t bytes) const {
  const relaxed_scope relaxed(*table_);
  const context_scope current(context::borrow(driver_of(*table_), context_));
  return static_cast<std::uintptr_t>(make_handle(*table_, &driver_table::mem_alloc_async,
                                                 &driver_table::mem_free, bytes, stream.get()));
}

void session_state::free_eagerly(stream_ref stream, std::uintptr_t address) const {
  check(table_->mem_free_async(static_cast<CUdeviceptr>(address), stream.get()), "cuMemFreeAsync",
        stream.get());
}

// Where that cannot be left to the stream, it is waited for.
void session_state::release_behind_work(owner_list& kept) {
  if (kept.empty()) return;
  cugraft::host_call(origin_, [kept] {});
  kept.clear();
}

void session_state::end_eager(bool gives_up) {
  owner_list kept;  // let go after the lock: owners are the user's code
  std::exception_ptr failure;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  };
  {
    const std::lock_guard lock(mutex_);
    phase_ = phase::over;
    kept.swap(kept_);
    for (builder_entry& each : builders_)
      if (std::exchange(each.open, false) && each.lane != 0)
        attempt([&] { link_eager(lanes_[each.lane], lanes_.front()); });
    for (session_allocation& each : allocations_)
      if (gives_up && !std::exchange(each.is_freed, true))
        attempt([&] { free_eagerly(origin_, each.address); });
    if (!failure) attempt([&] { release_behind_work(kept); });
    for (const lane& each : lanes_)
      if (failure && !kept.empty())
        report_failure(table_->stream_synchronize(each.stream.get()), "cuStreamSynchronize",
                       object(each.stream.get()));
  }
  std::erase_if(fork_streams_, [&](const fork_stream& each) { return each.context != context_; });
  fork_streams_used_ = 0;
  if (!failure) return;
  if (!gives_up) std::rethrow_exception(failure);
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& thrown) {
    report(thrown.what());
  }
}

}  // namespace cugraft::detail
