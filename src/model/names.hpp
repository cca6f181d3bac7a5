// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cugraft/change_report.hpp"

namespace cugraft {

/// The enumerator's name.
std::string_view name_of(mismatch why) noexcept;
std::string_view name_of(recapture_status status) noexcept;

/// `kernel "scale" (tag "layer 3")`, without its position.
std::string text_of(const node_summary& node);

}  // namespace cugraft
