// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ptx/decoding.hpp"

namespace cugraft_sim::ptx {

/// The floating-point form of an instruction that has an integer form of the same name: add, sub,
/// mul, mad, div, min, max, abs, neg.
instruction decode_float_arithmetic(decoding& d);

}  // namespace cugraft_sim::ptx
