// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/access.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/launch.hpp"
#include "cugraft/stream.hpp"
#include "driver/table.hpp"

// How a call finds where it is compared: a few loads, since it is all that a node costs that did
// not change.

namespace cugraft {

/// Where the calls on one stream of a session are compared as they are made. Everything that it
/// refers to belongs to the session, which one thread at a time uses.
class launch_filter {
 public:
  launch_filter() = default;
  launch_filter(const launch_filter&) = delete;
  launch_filter& operator=(const launch_filter&) = delete;
  virtual ~launch_filter() = default;

  // Whether the call is the next node as it is, so that nothing is left to do; it then counts as
  // made. No lock and no driver call, and no allocation where nothing changed.

  /// Of a launch also where grid or values differ, which is noted. `arguments` are as many as there
  /// are.
  virtual bool takes(const launch_config& config, const kernel& kernel,
                     std::span<const detail::argument> arguments) noexcept = 0;

  /// Of a copy of one row.
  virtual bool takes_copy(void* dst, const void* src, std::size_t bytes) noexcept = 0;

  /// Of a fill of one row, whose `value` fits its elements.
  virtual bool takes_fill(void* dst, std::uint32_t value, std::size_t count,
                          unsigned element_size) noexcept = 0;
};

namespace detail {

/// Sessions that are open in this process.
extern std::atomic<std::size_t> open_count;

/// Changes whenever a stream stops to belong to a session; what was found in an older epoch is
/// void.
extern std::atomic<std::uint64_t> epoch;

struct filter_entry {
  const driver_table* table;
  CUstream stream;
  launch_filter* filter;
  std::uint64_t epoch;
};
inline constexpr std::size_t filter_count = 16;

/// What this thread was told, by a stream's bits. Small enough to lie where every thread has some
/// storage, so that no call has to find it.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit filter_entry filters[filter_count];

inline filter_entry& filter_slot(stream_ref stream) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(stream.get());
  return filters[(bits * 0x9e3779b97f4a7c15U) >> 60];
}

}  // namespace detail

/// The filter of `stream` that this thread was told of; null if there is none, or any stream has
/// left its session since.
inline launch_filter* filter_of(stream_ref stream) noexcept {
  if (detail::open_count.load(std::memory_order_relaxed) == 0) return nullptr;
  const detail::filter_entry& entry = detail::filter_slot(stream);
  const bool is_known = entry.stream == stream.get() &&
                        entry.table == detail::access::table(stream) &&
                        entry.epoch == detail::epoch.load(std::memory_order_acquire);
  return is_known ? entry.filter : nullptr;
}

/// This thread's calls on `stream` may ask `filter` until the stream leaves its session.
inline void note_filter(stream_ref stream, launch_filter& filter) noexcept {
  detail::filter_slot(stream) = {detail::access::table(stream), stream.get(), &filter,
                                 detail::epoch.load(std::memory_order_acquire)};
}

}  // namespace cugraft
