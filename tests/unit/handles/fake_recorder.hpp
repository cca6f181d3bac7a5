// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "handles/open_sessions.hpp"

namespace cugraft::testing {

/// A session as the handles see one: takes part in the table, and notes what it is told.
class fake_recorder : public recorder {
 public:
  void launch(stream_ref, const launch_config&, const kernel&, void* const*) override {}
  void copy(stream_ref, void*, const void*, std::size_t) override {}
  void fill(stream_ref, void*, std::uint32_t, std::size_t, unsigned) override {}
  void copy_rows(stream_ref, const row_copy&) override {}
  void fill_rows(stream_ref, const row_fill&) override {}
  void host_call(stream_ref, host_function) override {}
  void record(stream_ref, event_ref, bool) override {}
  void wait(stream_ref, event_ref, bool) override {}
  void destroying(stream_ref stream) noexcept override { destroyed.push_back(stream); }
  std::uint64_t capture_id() const noexcept override { return id; }
  std::string describe() const override { return "a session of the test"; }

  std::atomic<std::uint64_t> id{0};
  std::vector<stream_ref> destroyed;
};

/// An open session of that kind, closed at the end.
class open_session {
 public:
  explicit open_session(stream_ref first) { open_recorder(recorder_, first); }
  open_session(const open_session&) = delete;
  open_session& operator=(const open_session&) = delete;
  ~open_session() { close_recorder(*recorder_); }

  const std::shared_ptr<fake_recorder>& get() const noexcept { return recorder_; }
  fake_recorder* operator->() const noexcept { return recorder_.get(); }

 private:
  std::shared_ptr<fake_recorder> recorder_ = std::make_shared<fake_recorder>();
};

}  // namespace cugraft::testing
