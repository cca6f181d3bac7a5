// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/structure.hpp"

namespace cugraft::model {

/// Whether the nodes of `b`, in another order, are those of `a`: same kinds, same dependencies with
/// edge data. A "yes" is checked edge by edge.
///
/// Equal parts, fans and layers cost no search. The problem has no fast answer for every graph: the
/// search gives up, with "no", after a number of steps that real captures do not come near.
bool is_permutation(const structure& a, const structure& b);

}  // namespace cugraft::model
