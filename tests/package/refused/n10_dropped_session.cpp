// SPDX-License-Identifier: Apache-2.0
// A session that is dropped at once captures nothing.
// warned: nodiscard|ignoring return value
#include "cugraft/cugraft.hpp"
void f(cugraft::graph& g, cugraft::stream_ref s) { g.recapture(s); }
