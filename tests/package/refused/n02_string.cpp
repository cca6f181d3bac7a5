// SPDX-License-Identifier: Apache-2.0
// An object with an owner cannot be copied as bytes.
// refused: kernel argument is not trivially copyable
#include "cugraft/cugraft.hpp"
void f(cugraft::stream_ref s, const cugraft::kernel& k) { cugraft::launch(s, {}, k, std::string("x")); }
