// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cugraft/launch.hpp"

/// How values read in a report; docs/report.md has the table.
namespace cugraft::model {

/// "0x302000000".
std::string text_of_address(std::uintptr_t address);
template <class T>
std::string text_of_address(const T* pointer) {
  return text_of_address(reinterpret_cast<std::uintptr_t>(pointer));
}

/// "(8, 1, 1)".
std::string text_of_extents(const dim3& extents);

/// "00 00 80 3f".
std::string text_of_bytes(std::span<const std::byte> bytes);

/// Bytes and what they may mean: "00 00 80 3f (int 1065353216, float 1)". A reading as floating
/// point is left out where it is no number that people use. Of more than 32 bytes those from
/// `interesting` on are shown.
std::string text_of_argument(std::span<const std::byte> bytes, std::size_t interesting);

/// A fill's value in as many digits as its elements have, with the readings of four bytes.
std::string text_of_fill(std::uint32_t value, unsigned element_size);

/// "host", "device", "array", "unified", "memory kind 7".
std::string text_of_memory_kind(int memory_kind);

}  // namespace cugraft::model
