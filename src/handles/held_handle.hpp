// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/table.hpp"

namespace cugraft {

/// Says, process-wide, that an object has this native handle of a driver: `is_held` finds it from
/// anywhere. Part of the object; it takes no memory, so nothing fails. `Handle` is `CUgraph` or
/// `CUgraphExec`.
template <class Handle>
class held_handle {
 public:
  held_handle() = default;
  held_handle(const held_handle&) = delete;
  held_handle& operator=(const held_handle&) = delete;
  ~held_handle() { set(nullptr, nullptr); }

  /// The object has `handle` from now on, and no other; null: none.
  void set(const driver_table* table, Handle handle) noexcept;

  /// Whether an object of cugraft has `handle`. May be asked on any thread.
  static bool is_held(const driver_table& table, Handle handle) noexcept;

 private:
  const driver_table* table_ = nullptr;
  Handle handle_ = nullptr;
  held_handle* before_ = nullptr;  // of those that have one
  held_handle* after_ = nullptr;
};

extern template class held_handle<CUgraph>;
extern template class held_handle<CUgraphExec>;

}  // namespace cugraft
