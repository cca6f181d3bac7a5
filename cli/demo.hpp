// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cugraft/change_report.hpp"
#include "driver_choice.hpp"

namespace cugraft::cli {

struct demo_options {
  driver_options driver;
  engine with = engine::automatic;
  std::size_t layers = 3;
  std::size_t steps = 8;
  bool json = false;
};

/// Runs the decode loop in three ways and compares them; an exit status.
/// @throws error  as cugraft does
int run_demo(const demo_options& options);

}  // namespace cugraft::cli
