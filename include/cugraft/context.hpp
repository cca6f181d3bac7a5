// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

#include "cugraft/detail/export.hpp"
#include "cugraft/driver.hpp"
#include "cugraft/native.hpp"

namespace cugraft {

namespace detail {
struct access;
struct context_state;
}  // namespace detail

/// A CUDA context: a shared value. Thread-safe.
///
/// What owns the context holds it until the last copy and the last handle made from it are gone.
/// cugraft makes a context current only inside its own calls, and puts back what was current.
class CUGRAFT_API context {
 public:
  /// Empty, as after a move: it can be assigned to, compared and destroyed, nothing else.
  context() noexcept = default;

  /// The primary context of device `ordinal`, which the CUDA runtime uses too. Retains it.
  /// Calls `cuDevicePrimaryCtxRetain`.
  /// @throws cuda_error
  static context primary(const driver& driver, int ordinal = 0);

  /// The context that is current on the calling thread. Does not own it. Calls `cuCtxGetCurrent`.
  /// @throws usage_error  if none is current
  static context current(const driver& driver);

  /// A context that somebody else owns and keeps for as long as anything made from the result
  /// lives.
  /// @throws usage_error  if `context` is null
  static context borrow(const driver& driver, CUcontext context);

  /// Takes over `context`, made by `cuCtxCreate`, which is destroyed with the last copy and the
  /// last handle made from it. Makes no driver call now, and then `cuCtxDestroy`; a failure of that
  /// goes to the report function. Graphs and executables do not keep it, and other owners' work in
  /// it must be done by then: a context takes with it what still belongs to it.
  /// @throws usage_error  if `context` is null
  static context from_native_handle(const driver& driver, CUcontext context);

  /// The driver that the context belongs to.
  driver get_driver() const noexcept;

  /// The device's ordinal. Calls `cuCtxGetDevice`.
  /// @throws cuda_error
  int ordinal() const;

  /// The native handle.
  CUcontext get() const noexcept;

  /// Whether both are the same context of the same driver, whoever owns it.
  friend CUGRAFT_API bool operator==(const context& a, const context& b) noexcept;

 private:
  friend struct detail::access;

  std::shared_ptr<const detail::context_state> state_;
};

static_assert(std::is_nothrow_move_assignable_v<context>);

}  // namespace cugraft
