// SPDX-License-Identifier: Apache-2.0
#include "cugraft/engine.hpp"
#include "engines/registry.hpp"

namespace cugraft {

std::vector<engine_status> engines(const context& context) {
  std::vector<engine_status> result;
  for (const engine_info& each : registered_engines()) result.push_back(each.status(context));
  return result;
}

}  // namespace cugraft
