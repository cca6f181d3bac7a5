// SPDX-License-Identifier: Apache-2.0
// An array would be passed by the address of its first element.
// refused: kernel argument is an array
#include "cugraft/cugraft.hpp"
void f(cugraft::stream_ref s, const cugraft::kernel& k) { float two[2] = {}; cugraft::launch(s, {}, k, two); }
