// SPDX-License-Identifier: Apache-2.0
#include "handles/context_scope.hpp"

#include "handles/ownership.hpp"

namespace cugraft {

context_scope::context_scope(const detail::context_state& context)
    : table_(context.table), context_(context.handle) {
  const auto [result, function] = enter();
  check(result, function, context_);
}

context_scope::context_scope(const detail::context_state& context, std::nothrow_t) noexcept
    : table_(context.table), context_(context.handle) {
  const auto [result, function] = enter();
  if (result == CUDA_SUCCESS) return;
  report_failure(result, function, context_);
  enter();
}

context_scope::~context_scope() {
  if (!pushed_) return;
  CUcontext popped = nullptr;
  const CUresult result = table_->ctx_pop_current(&popped);
  if (result == CUDA_SUCCESS) return;
  report_failure(result, "cuCtxPopCurrent", context_);
  pop_if_current();
}

context_scope::outcome context_scope::enter() noexcept {
  CUcontext current = nullptr;
  const CUresult asked = table_->ctx_get_current(&current);
  if (asked != CUDA_SUCCESS) return {asked, "cuCtxGetCurrent"};
  if (current == context_) return {CUDA_SUCCESS, nullptr};
  const CUresult pushed = table_->ctx_push_current(context_);
  pushed_ = pushed == CUDA_SUCCESS;
  // A call may do its work and return the error of earlier work.
  if (!pushed_) pop_if_current();
  return {pushed, "cuCtxPushCurrent"};
}

// What was current before was another context, so that this one is popped once at most.
void context_scope::pop_if_current() const noexcept {
  for (int attempt = 0; attempt < restoring_attempts; ++attempt) {
    CUcontext current = nullptr;
    if (table_->ctx_get_current(&current) != CUDA_SUCCESS) continue;
    if (current != context_ || table_->ctx_pop_current(&current) == CUDA_SUCCESS) return;
  }
}

}  // namespace cugraft
