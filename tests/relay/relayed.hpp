// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>

#include "call_books.hpp"
#include "relay/effects.hpp"

namespace cugraft_relay {

/// The bookkeeping of this relay's calls, and its lock.
struct guarded_books {
  std::mutex mutex;
  cugraft_sim::call_books books;
};

guarded_books& the_calls() noexcept;

/// The function that programs get in the place of the driver's own.
template <function_id Id, auto Slot>
struct relayed;

template <function_id Id, class... Parameters, CUresult (*real_driver::*Slot)(Parameters...)>
struct relayed<Id, Slot> {
  static CUresult call(Parameters... arguments) {
    the_calls().books.wait(Id);
    const std::optional<cugraft_sim::fault> planned = begin();
    CUresult result = CUDA_SUCCESS;
    if (!planned || planned->after_effect) result = effect<Id>::run(real().*Slot, arguments...);
    if (planned) result = static_cast<CUresult>(planned->code);
    const std::lock_guard lock(the_calls().mutex);
    the_calls().books.end(Id, result);
    return result;
  }

 private:
  static std::optional<cugraft_sim::fault> begin() {
    const std::lock_guard lock(the_calls().mutex);
    return the_calls().books.begin(Id);
  }
};

}  // namespace cugraft_relay
