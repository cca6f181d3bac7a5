// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cugraft_sim::ptx {

/// The next multiple of `alignment`, a power of two.
constexpr std::size_t align_up(std::size_t value, std::size_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace cugraft_sim::ptx
