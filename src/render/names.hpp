// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cugraft/graph_exec.hpp"

namespace cugraft {

/// The enumerator's name.
std::string_view name_of(update_method method) noexcept;

/// `5/2 kernel "scale" (tag "layer 3")`.
std::string text_with_path(const node_summary& node);

}  // namespace cugraft
