// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cugraft::cli {

/// What the tool ends with; `docs/tool.md` promises the numbers.
enum exit_status : int {
  exit_ok = 0,
  exit_failed = 1,       ///< the ways disagree, nothing is usable, a call failed; graphs differ
  exit_usage = 2,        ///< the command line, or a file that it names
  exit_unsupported = 3,  ///< the driver is too old for what was asked
};

}  // namespace cugraft::cli
