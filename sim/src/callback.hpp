// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cugraft_sim {

/// Marks the calling thread as running a function that must not call the driver: a host function, a
/// kernel, a destructor of a user object. Calls from it are refused with NOT_PERMITTED.
class callback_scope {
 public:
  callback_scope() noexcept;
  ~callback_scope();
  callback_scope(const callback_scope&) = delete;
  callback_scope& operator=(const callback_scope&) = delete;

  /// Whether the calling thread is in one.
  static bool is_open() noexcept;

 private:
  bool outer_;
};

}  // namespace cugraft_sim
