// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace cugraft::cli {

/// Keys stay in the order in which they are written here.
using json = nlohmann::ordered_json;

/// Prints `object` on stdout. Bytes of a path that are no UTF-8 become U+FFFD.
void print_object(const json& object);

}  // namespace cugraft::cli
