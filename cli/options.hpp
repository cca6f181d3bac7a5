// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "demo.hpp"
#include "doctor.hpp"
#include "driver_choice.hpp"

namespace cugraft::cli {

/// What a command line asks for.
struct command_line {
  demo_options demo;
  doctor_options doctor;
  driver_options failure_checks;
};

/// Declares the subcommands; what they are given goes into `line`, which has to outlive `app`.
void declare_options(CLI::App& app, command_line& line);

}  // namespace cugraft::cli
