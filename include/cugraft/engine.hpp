// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cugraft/change_report.hpp"
#include "cugraft/context.hpp"
#include "cugraft/detail/export.hpp"

namespace cugraft {

/// Whether an engine runs on a driver and device.
struct engine_status {
  engine which = engine::compare;
  bool usable = false;     ///< it runs when asked for by name
  bool automatic = false;  ///< `engine::automatic` may take it
  std::string why;         ///< the version that is missing or the part of the self-test that failed
};

/// The state of each engine on the driver and device of `context`, `native` first.
///
/// `native` is usable from 13.3 on, and automatic once its self-test passed, which runs once per
/// process, driver and device, on streams of its own in relaxed mode. `compare` is usable and
/// automatic from 12.4 on. `direct` is usable from 12.4 on, and never chosen by `automatic`.
/// Thread-safe.
/// @throws cuda_error
CUGRAFT_API std::vector<engine_status> engines(const context& context);

}  // namespace cugraft
