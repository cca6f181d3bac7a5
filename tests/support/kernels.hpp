// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cugraft/kernel.hpp"

namespace cugraft::testing {

/// The PTX of `support/kernels/NAME.ptx` in the tests' folder, or in the one that the environment
/// variable `CUGRAFT_TEST_DATA` names.
std::string kernel_image(std::string_view name = "basic");

/// The library of those kernels.
library load_kernels(const context& context, std::string_view name = "basic");

}  // namespace cugraft::testing
