// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cugraft {

/// Runs Graphviz's `dot`, found on PATH, without a shell, and gives the SVG that it makes.
/// @throws usage_error  if there is no such program, or it fails; says what to do
std::string run_graphviz(std::string_view dot);

}  // namespace cugraft
