// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/executable.hpp"

namespace cugraft::detail {

/// What a `graph_exec` owns; its node references look at it.
struct exec_state : executable {
  using executable::executable;
};

}  // namespace cugraft::detail

namespace cugraft {

/// The same, unless it was destroyed to make room and could not be made anew. @throws usage_error
executable& made_executable(executable& exec);

/// What failed calls left wrong is put right, before the executable is used. @throws cuda_error
void make_sound(executable& exec);

}  // namespace cugraft
