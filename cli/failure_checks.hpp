// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cugraft/driver.hpp"
#include "driver_choice.hpp"

namespace cugraft::cli {

/// The half of native's self-test that provokes failures: what a driver does then is not
/// documented, and may take the process down, so `run_failure_checks` is for a process of its own.
/// @return what was not as it should be; empty if all was
/// @throws error  if the checks themselves cannot be run
std::vector<std::string> run_failure_checks(const driver& driver);

/// Runs the checks on the driver in a child process of this tool, and tells what came out.
/// @return what was not as it should be; the child's own end, if that was not a normal one
std::vector<std::string> failure_checks_in_child(const chosen_driver& chosen);

/// The hidden subcommand by which the child is started, and its output: a line a finding.
inline constexpr const char* failure_checks_command = "check-failures";
int run_failure_checks_command(const driver_options& options);

}  // namespace cugraft::cli
