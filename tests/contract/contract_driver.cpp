// SPDX-License-Identifier: Apache-2.0
#include "contract/contract_driver.hpp"

#include <cstdlib>
#include <string>

namespace cugraft::testing {
namespace {

const std::string& real_driver() {
  static const std::string named = [] {
    const char* const value = std::getenv("CUGRAFT_DRIVER");
    const std::string asked = value != nullptr ? value : "";
    return asked == "system" ? "libcuda.so.1" : asked;
  }();
  return named;
}

}  // namespace

bool has_real_driver() { return !real_driver().empty(); }

int real_driver_version() {
  static const int version = version_of_driver(real_driver());
  return version;
}

driver_source contract_driver(int version) {
  if (has_real_driver()) return {real_driver_version(), real_driver()};
  return {version, {}};
}

}  // namespace cugraft::testing
