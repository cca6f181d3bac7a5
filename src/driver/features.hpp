// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "cugraft/driver.hpp"

namespace cugraft {

/// The oldest driver that cugraft works with.
inline constexpr int minimum_version = 12040;

inline constexpr std::size_t feature_count =
    static_cast<std::size_t>(feature::recapture_to_graph) + 1;

/// The feature in the words of a message, as "native re-capture".
std::string_view feature_text(feature feature) noexcept;

}  // namespace cugraft
