// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cugraft_sim {

/// Which stream a null handle is: that depends on the symbol that was called (driver-rules 1.1, 7).
enum class null_stream_is { legacy, per_thread };

/// For the time of a call, on its thread. A callback of the call that calls the driver has its own.
class null_stream_scope {
 public:
  explicit null_stream_scope(null_stream_is which) noexcept : before_(slot()) { slot() = which; }
  ~null_stream_scope() { slot() = before_; }
  null_stream_scope(const null_stream_scope&) = delete;
  null_stream_scope& operator=(const null_stream_scope&) = delete;

  static null_stream_is present() noexcept { return slot(); }

 private:
  static null_stream_is& slot() noexcept;

  null_stream_is before_;
};

}  // namespace cugraft_sim
