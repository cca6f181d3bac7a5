// SPDX-License-Identifier: Apache-2.0
#pragma once

#define CUGRAFT_VERSION_MAJOR 0
#define CUGRAFT_VERSION_MINOR 1
#define CUGRAFT_VERSION_PATCH 0

namespace cugraft {

inline constexpr int version_major = CUGRAFT_VERSION_MAJOR;
inline constexpr int version_minor = CUGRAFT_VERSION_MINOR;
inline constexpr int version_patch = CUGRAFT_VERSION_PATCH;

}  // namespace cugraft
