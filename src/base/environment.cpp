// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <cstdlib>

namespace cugraft {

std::optional<std::string> driver_from_environment() {
  const char* value = std::getenv("CUGRAFT_DRIVER");
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace cugraft
