// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace cugraft::testing {

/// Waits for what another thread does in its own time, with a limit that only a thread which does
/// it never reaches: machines that many share stand still for seconds.
/// @return whether `holds` came true
template <class Condition>
bool eventually(const Condition& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return holds();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace cugraft::testing
