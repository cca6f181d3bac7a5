// SPDX-License-Identifier: Apache-2.0
#include "base/version_text.hpp"

#include <fmt/format.h>

namespace cugraft {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace cugraft
