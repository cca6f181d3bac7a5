// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cugraft/render.hpp"

// Subcommands that look at files, without any driver.

namespace cugraft::cli {

struct render_options {
  std::string file;
  std::string report;  ///< marks the nodes of a graph; "": none
  std::string format;  ///< "": text
  std::string output;  ///< "": stdout
};

struct diff_options {
  std::string before, after;
  std::string format;
  std::string output;
  std::string driver_version;  ///< "12.4"; "": not said
  bool kernels_by_name = false;
};

struct rules_options {
  bool json = false;
};

// Each gives the exit status.
int run_render(const render_options& options);
int run_diff(const diff_options& options);
int run_rules(const rules_options& options);

/// Prints a script by which the shell completes the tool's command lines.
int run_completion(const std::string& shell);

}  // namespace cugraft::cli
