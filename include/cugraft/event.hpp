// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

#include "cugraft/context.hpp"
#include "cugraft/detail/export.hpp"
#include "cugraft/native.hpp"

namespace cugraft {

/// How an event is made.
struct event_options {
  bool timing = false;  ///< keeps time stamps, as `milliseconds_since` needs; records cost more
  bool blocking_wait = false;  ///< `synchronize` gives up the processor instead of spinning
};

/// Refers to a CUDA event without owning it: two pointers, passed by value.
///
/// Thread safety: as the driver's; several threads may use one event.
class CUGRAFT_API event_ref {
 public:
  /// Refers to `event` of `driver`. Makes no driver call.
  event_ref(const driver& driver, CUevent event) noexcept;

  /// The native handle; null only where an owner was moved from.
  CUevent get() const noexcept { return handle_; }

  /// Whether the work before the last record is done. Calls `cuEventQuery`.
  /// @throws usage_error  if the last record was made in an open session, whose capture would end
  /// @throws cuda_error   for any other failure, an earlier asynchronous one included
  bool is_done() const;

  /// Waits on the host until `is_done`. Calls `cuEventSynchronize`.
  /// @throws usage_error, cuda_error  as `is_done`
  void synchronize() const;

  /// Device time from `start` to this event in milliseconds. Calls `cuEventElapsedTime`.
  /// @throws usage_error  if either event was made without `event_options::timing`, was never
  ///                      recorded, or is not done
  float milliseconds_since(event_ref start) const;

 protected:
  friend struct detail::access;

  event_ref() = default;

  const detail::driver_table* table_ = nullptr;
  CUevent handle_ = nullptr;
};

/// Owns a CUDA event, and keeps its context.
class CUGRAFT_API event : public event_ref {
 public:
  /// Makes an event in `context`. Calls `cuEventCreate`.
  /// @throws cuda_error
  explicit event(const context& context, const event_options& options = {});

  /// Takes over `event`, which is destroyed with the result. Makes no driver call.
  static event from_native_handle(const driver& driver, CUevent event) noexcept;

  /// @post `other` is empty
  event(event&& other) noexcept;
  event& operator=(event&& other) noexcept;

  /// Destroys the event; work that waits for it still does. A failure goes to the report function.
  ~event();

  /// Whether there is an event.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Gives the handle up. @post `*this` is empty
  [[nodiscard]] CUevent release() noexcept;

  /// Destroys the event; a failure goes to the report function. @post `*this` is empty
  void reset() noexcept;

  /// Destroys the event. @post `*this` is empty, also when it throws
  /// @throws cuda_error
  void close();

 private:
  friend struct detail::access;

  event() = default;

  std::shared_ptr<const detail::context_state> context_;  // null for a handle that was taken over
};

static_assert(!std::is_copy_constructible_v<event> && std::is_nothrow_move_assignable_v<event>);
static_assert(std::is_trivially_copyable_v<event_ref> && sizeof(event_ref) == 2 * sizeof(void*));

}  // namespace cugraft
