// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "demo.hpp"
#include "doctor.hpp"
#include "driver_choice.hpp"
#include "look.hpp"

namespace cugraft::cli {

/// What a command line asks for.
struct command_line {
  demo_options demo;
  doctor_options doctor;
  driver_options failure_checks;
  render_options render;
  diff_options diff;
  rules_options rules;
  std::string shell;  ///< to complete for
};

/// Declares the subcommands; what they are given goes into `line`, which has to outlive `app`.
void declare_options(CLI::App& app, command_line& line);

}  // namespace cugraft::cli
