// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/structure.hpp"

namespace cugraft::model {

/// Spreads every bit over all others: the finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

constexpr std::uint64_t as_number(edge_data data) noexcept {
  return data.from_port | (std::uint64_t{data.to_port} << 8) | (std::uint64_t{data.type} << 16);
}

}  // namespace cugraft::model
