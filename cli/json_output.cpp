// SPDX-License-Identifier: Apache-2.0
#include "json_output.hpp"

#include <fmt/format.h>

namespace cugraft::cli {

void print_object(const json& object) {
  constexpr int indent = 2;
  fmt::print("{}\n",
             object.dump(indent, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace));
}

}  // namespace cugraft::cli
