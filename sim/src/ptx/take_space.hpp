// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ptx/decoding.hpp"
#include "ptx/types.hpp"

namespace cugraft_sim::ptx {

/// Takes the modifier that names a state space; generic where there is none. Shared memory of other
/// blocks of a cluster is not modelled, so an address in `.shared::cluster` is one of the own
/// block.
inline space take_space(decoding& d) {
  if (d.take("global")) return space::global;
  if (d.take("shared") || d.take("shared::cta") || d.take("shared::cluster")) return space::shared;
  if (d.take("local")) return space::local;
  if (d.take("const")) return space::constant;
  if (d.take("param") || d.take("param::entry") || d.take("param::func")) return space::param;
  return space::generic;
}

}  // namespace cugraft_sim::ptx
