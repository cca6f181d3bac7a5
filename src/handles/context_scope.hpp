// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

#include "handles/context_state.hpp"

namespace cugraft {

/// Makes a context current, and what was current before again at its end.
class context_scope {
 public:
  /// @throws cuda_error
  explicit context_scope(const context& context) : context_scope(*state_of(context)) {}
  explicit context_scope(const detail::context_state& context);

  /// For releases, which go on whatever happens: a failure is reported and tried again.
  context_scope(const detail::context_state& context, std::nothrow_t) noexcept;

  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;
  ~context_scope();

 private:
  struct outcome {
    CUresult result;
    const char* function;
  };

  outcome enter() noexcept;
  void pop_if_current() const noexcept;

  const driver_table* table_;
  CUcontext context_;
  bool pushed_ = false;
};

}  // namespace cugraft
