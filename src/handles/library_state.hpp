// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cugraft/kernel.hpp"
#include "driver/table.hpp"
#include "handles/context_state.hpp"

namespace cugraft::detail {

/// What the copies of a library share with its kernels, and these with the graphs that launch them.
struct library_state {
  explicit library_state(std::shared_ptr<const context_state> home) noexcept
      : context(std::move(home)) {}
  library_state(const library_state&) = delete;
  library_state& operator=(const library_state&) = delete;
  ~library_state();

  std::shared_ptr<const context_state> context;
  CUlibrary handle = nullptr;
};

}  // namespace cugraft::detail
