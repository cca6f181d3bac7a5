// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>

#include "cuda_api.hpp"

namespace cugraft_sim {

/// Holds a stream up: what is enqueued behind the gate waits until it is opened, at the latest at
/// the end of the scope.
class gate {
 public:
  gate() = default;
  ~gate() { open(); }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  void open() {
    if (!open_) promise_.set_value();
    open_ = true;
  }

  /// For cuLaunchHostFunc, with the gate as its data.
  static void wait(void* gate_address) { static_cast<gate*>(gate_address)->opened_.wait(); }

 private:
  std::promise<void> promise_;
  std::future<void> opened_ = promise_.get_future();
  bool open_ = false;
};

}  // namespace cugraft_sim
