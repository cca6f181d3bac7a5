// SPDX-License-Identifier: Apache-2.0
// A reference means a host address.
// refused: kernel argument is a reference_wrapper
#include "cugraft/cugraft.hpp"
void f(cugraft::stream_ref s, const cugraft::kernel& k) { int x = 0; cugraft::launch(s, {}, k, std::ref(x)); }
