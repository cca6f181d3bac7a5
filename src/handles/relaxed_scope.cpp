// SPDX-License-Identifier: Apache-2.0
#include "handles/relaxed_scope.hpp"

#include "handles/ownership.hpp"

namespace cugraft {
namespace {

constexpr const char* function = "cuThreadExchangeStreamCaptureMode";

}  // namespace

relaxed_scope::relaxed_scope(const driver_table& table) : table_(&table) {
  check(enter(), function);
}

relaxed_scope::relaxed_scope(const driver_table& table, std::nothrow_t) noexcept : table_(&table) {
  const CUresult result = enter();
  if (result == CUDA_SUCCESS) return;
  report_failure(result, function, {});
  enter();
}

relaxed_scope::~relaxed_scope() {
  const CUresult result = leave();
  if (result == CUDA_SUCCESS) return;
  report_failure(result, function, {});
  leave_at_last();
}

CUresult relaxed_scope::enter() noexcept {
  const CUresult result = table_->thread_exchange_stream_capture_mode(&former_);
  // A call may do its work and return the error of earlier work: the former mode then came back.
  if (result != CUDA_SUCCESS && former_ != CU_STREAM_CAPTURE_MODE_RELAXED) {
    leave_at_last();
    former_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  }
  return result;
}

CUresult relaxed_scope::leave() const noexcept {
  CUstreamCaptureMode mode = former_;
  return table_->thread_exchange_stream_capture_mode(&mode);
}

void relaxed_scope::leave_at_last() const noexcept {
  for (int attempt = 0; attempt < restoring_attempts; ++attempt)
    if (leave() == CUDA_SUCCESS) return;
}

}  // namespace cugraft
