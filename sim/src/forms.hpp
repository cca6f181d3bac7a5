// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "entry.hpp"

namespace cugraft_sim {

/// CUctxCreateParams (12.5).
struct context_parameters {
  CUexecAffinityParam* shares;
  int share_count;
  void* graphics;
};

/// What the other forms of driver functions do, as in entry.hpp.
namespace impl {
#define CUGRAFT_DRIVER_FORM(form, member, version, symbol, types) CUresult form types;
#include "forms.def"
#undef CUGRAFT_DRIVER_FORM
}  // namespace impl

}  // namespace cugraft_sim
