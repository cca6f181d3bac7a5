// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cugraft/context.hpp"
#include "driver/table.hpp"

namespace cugraft {
namespace detail {

/// What the copies of a context share, and every handle made from it.
struct context_state {
  explicit context_state(const driver_table& driver) noexcept : table(&driver) {}
  context_state(const context_state&) = delete;
  context_state& operator=(const context_state&) = delete;
  ~context_state();

  const driver_table* table;
  CUcontext handle = nullptr;
  bool is_retained = false;  ///< a primary context of ours, to be released
  bool is_owned = false;     ///< one that was made, to be destroyed
  CUdevice device = 0;       ///< of a primary context
  int ordinal = -1;          ///< of a primary context; else it has to be asked for
};

}  // namespace detail

inline const std::shared_ptr<const detail::context_state>& state_of(
    const context& context) noexcept {
  return detail::access::state(context);
}

/// The context itself, from what a handle kept of it.
context context_of(std::shared_ptr<const detail::context_state> state) noexcept;

}  // namespace cugraft
