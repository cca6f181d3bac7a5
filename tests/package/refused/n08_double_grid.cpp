// SPDX-License-Identifier: Apache-2.0
// Half a block is a mistake.
// refused: (could not convert|no viable conversion from).*double
#include "cugraft/cugraft.hpp"
cugraft::launch_config c{.grid = 2.5, .block = 32};
