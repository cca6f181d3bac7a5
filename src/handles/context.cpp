// SPDX-License-Identifier: Apache-2.0
#include "cugraft/context.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "cugraft/error.hpp"
#include "handles/context_scope.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

using detail::context_state;

/// As `make_handle`, for a call whose counterpart takes the device.
void retain_primary(context_state& state) {
  const CUresult result = state.table->device_primary_ctx_retain(&state.handle, state.device);
  if (result == CUDA_SUCCESS || state.handle != nullptr) state.is_retained = true;
  check(result, "cuDevicePrimaryCtxRetain", object());
}

}  // namespace

namespace detail {

context_state::~context_state() {
  if (is_retained)
    release_or_report(*table, handle, &driver_table::device_primary_ctx_release, device);
  if (!is_owned) return;
  const relaxed_scope relaxed(*table, std::nothrow);  // what frees memory ends a capture else
  release_or_report(*table, handle, &driver_table::ctx_destroy, handle);
}

}  // namespace detail

context context_of(std::shared_ptr<const detail::context_state> state) noexcept {
  context result;
  detail::access::state(result) = std::move(state);
  return result;
}

context context::primary(const driver& driver, int ordinal) {
  auto state = std::make_shared<context_state>(table_of(driver));
  call(driver, &driver_table::device_get, &state->device, ordinal);
  state->ordinal = ordinal;
  retain_primary(*state);
  return context_of(std::move(state));
}

context context::current(const driver& driver) {
  CUcontext handle = nullptr;
  call(driver, &driver_table::ctx_get_current, &handle);
  if (handle == nullptr)
    throw usage_error(
        "no context is current on this thread: make one current, or use context::primary");
  return borrow(driver, handle);
}

context context::borrow(const driver& driver, CUcontext context) {
  if (context == nullptr) throw usage_error("a context cannot be made from a null handle");
  auto state = std::make_shared<context_state>(table_of(driver));
  state->handle = context;
  return context_of(std::move(state));
}

context context::from_native_handle(const driver& driver, CUcontext context) {
  if (context == nullptr) throw usage_error("a context cannot be made from a null handle");
  auto state = std::make_shared<context_state>(table_of(driver));
  state->handle = context;
  state->is_owned = true;
  return context_of(std::move(state));
}

driver context::get_driver() const noexcept { return driver_of(*state_->table); }

int context::ordinal() const {
  if (state_->ordinal >= 0) return state_->ordinal;
  const context_scope current(*state_);
  CUdevice device = 0;
  call(*state_->table, &driver_table::ctx_get_device, &device);
  const int count = get_driver().device_count();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice candidate = 0;
    call(*state_->table, &driver_table::device_get, &candidate, ordinal);
    if (candidate == device) return ordinal;
  }
  throw error(
      fmt::format("{} is of a device that the driver does not list", identify(state_->handle)));
}

CUcontext context::get() const noexcept { return state_ != nullptr ? state_->handle : nullptr; }

bool operator==(const context& a, const context& b) noexcept {
  if (a.state_ == nullptr || b.state_ == nullptr) return a.state_ == b.state_;
  return a.state_->table == b.state_->table && a.state_->handle == b.state_->handle;
}

}  // namespace cugraft
