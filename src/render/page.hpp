// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cugraft {

/// The text of page.html, which the build puts into the library.
extern const std::string_view page;

/// Where the data goes in it.
inline constexpr std::string_view page_data_mark = "DATA_OF_CUGRAFT";

}  // namespace cugraft
