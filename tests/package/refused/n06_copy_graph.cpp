// SPDX-License-Identifier: Apache-2.0
// A graph has one owner.
// refused: deleted
#include "cugraft/cugraft.hpp"
void f(cugraft::graph& g) { cugraft::graph h = g; (void)h; }
