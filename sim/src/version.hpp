// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cugraft_sim {

/// The version of a driver that nobody set: the first with a re-capture.
inline constexpr int default_version = 13030;

/// Whether the dial has this value.
bool is_version(int version) noexcept;

/// "13.3" as 13030; 0 for what does not read as a version.
int parse_version(std::string_view text) noexcept;

/// The values of the dial, for messages.
std::string version_list();

}  // namespace cugraft_sim
