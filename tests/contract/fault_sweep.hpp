// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "contract/contract_driver.hpp"
#include "cugraft/change_report.hpp"
#include "cugraft/error.hpp"

// What suites share in which each driver call fails in turn.

namespace cugraft::testing {

/// Makes the call; the driver function that a failure names is put into `named`.
inline void note_failure_of(const std::function<void()>& call, std::set<std::string>& named) {
  try {
    call();
  } catch (const capture_error& error) {
    named.insert(error.failure().function);
  } catch (const cuda_error& error) {
    named.insert(error.function());
  }
}

/// Whether nothing can be asked of the library after this failure of a release. Where the error
/// does not say that the release did not happen (999), it may not be tried again, and what it would
/// have released is left (docs/errors.md; HandleSuite has those cases). Where it says so and is
/// wrong (2, after the work), it is tried again: a simulated driver knows a handle that is gone, a
/// real one crashes.
inline bool is_unjudged_release(const std::string& function, int code, bool after_effect) {
  static const std::set<std::string> releases{"cuGraphDestroy",      "cuGraphExecDestroy",
                                              "cuUserObjectRelease", "cuGraphReleaseUserObject",
                                              "cuEventDestroy",      "cuStreamDestroy"};
  if (!releases.contains(function)) return false;
  return code == 999 ? !after_effect : after_effect && has_real_driver();
}

}  // namespace cugraft::testing
