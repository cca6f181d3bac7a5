// SPDX-License-Identifier: Apache-2.0
#include "handles/open_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "cugraft/error.hpp"
#include "driver/call.hpp"

namespace cugraft {
namespace detail {

std::atomic<std::size_t> open_count{0};
std::atomic<std::uint64_t> epoch{0};
[[gnu::tls_model("initial-exec")]] thread_local constinit filter_entry filters[filter_count] = {};

}  // namespace detail

namespace {

struct stream_entry {
  stream_ref stream;
  std::thread::id thread;  // of the per-thread stream only
  const recorder* key;
  std::weak_ptr<recorder> session;
};

struct event_entry {
  const driver_table* table;
  CUevent event;
  const recorder* key;
  std::weak_ptr<recorder> session;
};

struct open_entry {
  const driver_table* table;
  const recorder* key;
  std::weak_ptr<recorder> session;
};

/// Everything that is open in this process; the sessions themselves belong to their callers.
struct open_table {
  std::mutex mutex;
  std::vector<open_entry> sessions;
  std::vector<stream_entry> streams;
  std::vector<event_entry> events;
};

open_table& table() {
  static auto* const instance = new open_table;  // asked until the process ends
  return *instance;
}

using detail::epoch;
using detail::open_count;

/// What this thread found before, so that a launch takes no lock.
struct stream_cache {
  struct entry {
    stream_ref stream;
    std::weak_ptr<recorder> session;
  };
  std::uint64_t epoch = 0;
  std::vector<entry> entries;
};

stream_cache& cache() {
  thread_local stream_cache instance;
  const std::uint64_t now = epoch.load(std::memory_order_acquire);
  if (instance.epoch != now) {
    instance.entries.clear();
    instance.epoch = now;
  }
  return instance;
}

bool none_open() noexcept { return open_count.load(std::memory_order_relaxed) == 0; }

std::thread::id owner_of(stream_ref stream) noexcept {
  return stream.get() == CU_STREAM_PER_THREAD ? std::this_thread::get_id() : std::thread::id();
}

/// The entry of `stream`; the lock is held.
stream_entry* find(open_table& open, stream_ref stream) noexcept {
  const std::thread::id thread = owner_of(stream);
  const auto found = std::find_if(
      open.streams.begin(), open.streams.end(),
      [&](const stream_entry& entry) { return entry.stream == stream && entry.thread == thread; });
  return found != open.streams.end() ? &*found : nullptr;
}

/// The lock is held.
void insert(open_table& open, const std::shared_ptr<recorder>& session, stream_ref stream) {
  if (const stream_entry* entry = find(open, stream)) {
    if (entry->key == session.get()) return;
    throw usage_error(
        fmt::format("{} belongs to another open session already", identify(stream.get())));
  }
  open.streams.push_back({stream, owner_of(stream), session.get(), session});
}

std::shared_ptr<recorder> in_table(stream_ref stream) noexcept {
  open_table& open = table();
  const std::lock_guard lock(open.mutex);
  const stream_entry* entry = find(open, stream);
  return entry != nullptr ? entry->session.lock() : nullptr;
}

std::vector<std::shared_ptr<recorder>> sessions_of(const driver_table& driver) {
  open_table& open = table();
  std::vector<std::shared_ptr<recorder>> result;
  const std::lock_guard lock(open.mutex);
  for (const open_entry& entry : open.sessions)
    if (entry.table == &driver)
      if (auto session = entry.session.lock()) result.push_back(std::move(session));
  return result;
}

/// The driver's id of the capture that has `stream`; 0 if none has. The query never ends a capture,
/// the legacy stream included, which is told of others' captures (driver rules, 2.4).
/// @throws cuda_error  if it cannot be said
std::uint64_t capture_of(stream_ref stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  const CUresult result = table_of(stream).stream_get_capture_info(
      stream.get(), &status, &id, nullptr, nullptr, nullptr, nullptr);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return 0;
  check(result, "cuStreamGetCaptureInfo", stream.get());
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? id : 0;
}

/// A stream that foreign code forked into a session's capture.
std::shared_ptr<recorder> by_capture(stream_ref stream) {
  if (stream.get() == nullptr || stream.get() == CU_STREAM_LEGACY)
    return nullptr;  // never captures
  const auto sessions = sessions_of(table_of(stream));
  if (sessions.empty()) return nullptr;
  const std::uint64_t id = capture_of(stream);
  if (id == 0) return nullptr;
  for (const auto& session : sessions) {
    if (session->capture_id() != id) continue;
    add_stream(session, stream);
    return session;
  }
  return nullptr;
}

}  // namespace

recorder::~recorder() = default;

std::shared_ptr<recorder> recorder_of(stream_ref stream) {
  if (none_open()) return nullptr;
  stream_cache& known = cache();
  for (const auto& entry : known.entries)
    if (entry.stream == stream)
      if (auto session = entry.session.lock()) return session;
  auto session = in_table(stream);
  if (session == nullptr) session = by_capture(stream);
  if (session != nullptr) known.entries.push_back({stream, session});
  return session;
}

std::shared_ptr<recorder> known_recorder_of(stream_ref stream) noexcept {
  return none_open() ? nullptr : in_table(stream);
}

void open_recorder(const std::shared_ptr<recorder>& session, stream_ref first) {
  open_table& open = table();
  const std::lock_guard lock(open.mutex);
  open.sessions.reserve(open.sessions.size() + 1);
  insert(open, session, first);
  open.sessions.push_back({&table_of(first), session.get(), session});
  open_count.store(open.sessions.size(), std::memory_order_relaxed);
}

void add_stream(const std::shared_ptr<recorder>& session, stream_ref stream) {
  open_table& open = table();
  const std::lock_guard lock(open.mutex);
  insert(open, session, stream);
}

void forget_stream(stream_ref stream) noexcept {
  if (none_open()) return;
  open_table& open = table();
  const std::lock_guard lock(open.mutex);
  std::erase_if(open.streams, [&](const stream_entry& entry) { return entry.stream == stream; });
  epoch.fetch_add(1, std::memory_order_release);
}

void close_recorder(const recorder& session) noexcept {
  open_table& open = table();
  const std::lock_guard lock(open.mutex);
  const auto is_its = [&](const auto& entry) { return entry.key == &session; };
  std::erase_if(open.streams, is_its);
  std::erase_if(open.events, is_its);
  std::erase_if(open.sessions, is_its);
  open_count.store(open.sessions.size(), std::memory_order_relaxed);
  epoch.fetch_add(1, std::memory_order_release);
}

void note_event(const std::shared_ptr<recorder>& session, event_ref event) {
  open_table& open = table();
  const std::lock_guard lock(open.mutex);
  const driver_table* const driver = &table_of(event);
  for (event_entry& entry : open.events) {
    if (entry.table != driver || entry.event != event.get()) continue;
    entry.key = session.get();
    entry.session = session;
    return;
  }
  open.events.push_back({driver, event.get(), session.get(), session});
}

void forget_event(event_ref event) noexcept {
  if (none_open()) return;
  open_table& open = table();
  const driver_table* const driver = detail::access::table(event);
  const std::lock_guard lock(open.mutex);
  std::erase_if(open.events, [&](const event_entry& entry) {
    return entry.table == driver && entry.event == event.get();
  });
}

std::shared_ptr<recorder> recorder_of_event(event_ref event) {
  if (none_open()) return nullptr;
  open_table& open = table();
  const driver_table* const driver = &table_of(event);
  const std::lock_guard lock(open.mutex);
  for (const event_entry& entry : open.events)
    if (entry.table == driver && entry.event == event.get()) return entry.session.lock();
  return nullptr;
}

void refuse_if_captured(event_ref event) {
  if (recorder_of_event(event) == nullptr) return;
  throw usage_error(
      fmt::format("{} was recorded in a session that is still open: asking the driver about it "
                  "would end the capture; end the session first",
                  identify(event.get())));
}

void refuse_if_capturing(stream_ref stream, std::string_view what) {
  if (const auto session = recorder_of(stream))
    throw usage_error(
        fmt::format("{} belongs to {}: {} would end the capture; end the session first",
                    identify(stream.get()), session->describe(), what));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = table_of(stream).stream_is_capturing(stream.get(), &status);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    throw usage_error(
        fmt::format("a blocking stream is capturing, which forbids {}: {} would end "
                    "the capture; end it first, or capture on a non-blocking stream",
                    identify(stream.get()), what));
  check(result, "cuStreamIsCapturing", stream.get());
  if (status != CU_STREAM_CAPTURE_STATUS_NONE)
    throw usage_error(
        fmt::format("{} is capturing, though in no session of cugraft: {} would end the capture; "
                    "end it first",
                    identify(stream.get()), what));
}

}  // namespace cugraft
