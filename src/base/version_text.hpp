// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cugraft {

/// "13.3" for 13030.
std::string version_text(int version);

}  // namespace cugraft
