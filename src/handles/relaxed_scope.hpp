// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

#include "driver/table.hpp"

namespace cugraft {

/// Puts the calling thread in relaxed capture mode, in which allocating, freeing and loading end
/// nobody's capture (driver rules, 2.3), and back at its end.
class relaxed_scope {
 public:
  /// @throws cuda_error
  explicit relaxed_scope(const driver_table& table);

  /// For releases, which go on whatever happens: a failure is reported and tried again.
  relaxed_scope(const driver_table& table, std::nothrow_t) noexcept;

  relaxed_scope(const relaxed_scope&) = delete;
  relaxed_scope& operator=(const relaxed_scope&) = delete;
  ~relaxed_scope();

 private:
  CUresult enter() noexcept;
  CUresult leave() const noexcept;
  void leave_at_last() const noexcept;

  const driver_table* table_;
  CUstreamCaptureMode former_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace cugraft
