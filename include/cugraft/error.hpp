// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "cugraft/detail/export.hpp"

namespace cugraft {

/// Root of all exceptions of cugraft. `what()` is one sentence with the objects involved.
class CUGRAFT_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Misuse or a bad argument. No driver call was made that changes anything, and an open session is
/// unharmed.
class CUGRAFT_API usage_error : public error {
 public:
  using error::error;
};

/// What this version has no way for, such as a graph with nodes that no engine can read. Nothing
/// was touched.
class CUGRAFT_API not_implemented_error : public error {
 public:
  using error::error;
};

/// Use of a graph that a failed `recapture_options::in_place` re-capture left undefined; it can
/// only be destroyed (driver rules, 3.1 R9).
class CUGRAFT_API graph_lost_error : public error {
 public:
  using error::error;
};

/// The driver is too old. Nothing was touched.
///
/// Versions are the driver's numbers: 1000 * major + 10 * minor, so 13.3 is 13030.
class CUGRAFT_API unsupported_error : public error {
 public:
  /// `asked` is what was wanted, `instead` what to do without it; empty if there is nothing to
  /// advise. `required` is 0 where no driver is new enough.
  unsupported_error(std::string_view asked, int required, int found, std::string_view instead);

  const std::string& asked() const noexcept;
  const std::string& instead() const noexcept;
  int required_version() const noexcept;
  int found_version() const noexcept;

 private:
  std::string asked_;
  std::string instead_;
  int required_ = 0;
  int found_ = 0;
};

/// A driver call failed.
class CUGRAFT_API cuda_error : public error {
 public:
  /// `function` is the driver function that gave `code`; `sentence` becomes `what()`.
  cuda_error(int code, std::string_view function, const std::string& sentence);

  /// The `CUresult`.
  int code() const noexcept;

  /// The enumerator's name, as "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE" for 918 on every driver;
  /// "unknown" for a number that this build does not know.
  std::string_view code_name() const noexcept;

  /// The driver function's name, as "cuStreamEndCapture".
  const std::string& function() const noexcept;

 private:
  int code_ = 0;
  std::string function_;
};

/// Takes what cannot be thrown: failures in destructors and `reset`, exceptions of host functions.
///
/// Called on any thread, driver threads included, also several at once; it must not call CUDA.
using report_function = void (*)(std::string_view sentence) noexcept;

/// Replaces the process's report function and returns the former one. Thread-safe.
///
/// Null restores the default, which writes one line to stderr.
CUGRAFT_API report_function set_report_function(report_function function) noexcept;

}  // namespace cugraft
