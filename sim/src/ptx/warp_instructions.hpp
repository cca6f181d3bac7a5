// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ptx/decoding.hpp"

namespace cugraft_sim::ptx {

/// `bar.warp.sync`, of which `bar.warp` was taken.
instruction decode_warp_barrier(decoding& d);

}  // namespace cugraft_sim::ptx
