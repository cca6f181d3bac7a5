// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cugraft::cli {

/// The text of kernels/decode.ptx, which the build puts into the tool.
extern const std::string_view decode_ptx;

}  // namespace cugraft::cli
