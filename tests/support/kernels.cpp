// SPDX-License-Identifier: Apache-2.0
#include "support/kernels.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cugraft::testing {

std::string kernel_image(std::string_view name) {
  const char* const named = std::getenv("CUGRAFT_TEST_DATA");
  const std::string path =
      fmt::format("{}/support/kernels/{}.ptx", named != nullptr ? named : CUGRAFT_TEST_DATA, name);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

library load_kernels(const context& context, std::string_view name) {
  return library::from_image(context, kernel_image(name));
}

}  // namespace cugraft::testing
