// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver_choice.hpp"

namespace cugraft::cli {

struct doctor_options {
  driver_options driver;
  bool json = false;
};

/// Says what this machine's driver can do, what is missing and what to do; an exit status, which is
/// `exit_ok` if some engine is usable. What does not work is part of the answer and throws nothing.
int run_doctor(const doctor_options& options);

}  // namespace cugraft::cli
