// SPDX-License-Identifier: Apache-2.0
#include "model/text_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "model/values.hpp"

namespace cugraft::model {
namespace {

constexpr std::size_t most_bytes = 32;  // of a larger argument a window is shown
constexpr std::size_t window = 16;

template <class T>
T read(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Addresses and small integers make absurd numbers, and would only hide the right reading.
template <class T>
std::string floating_reading(const char* type, T value) {
  const T size = std::abs(value);
  const bool likely = size == 0 || std::isinf(value) || (size >= T(1e-30) && size <= T(1e30));
  return likely ? fmt::format(", {} {}", type, value) : std::string();
}

std::string readings(std::span<const std::byte> bytes) {
  switch (bytes.size()) {
    case 1:
      return fmt::format("int {}", read<std::int8_t>(bytes));
    case 2:
      return fmt::format("int {}", read<std::int16_t>(bytes));
    case 4:
      return fmt::format("int {}", read<std::int32_t>(bytes)) +
             floating_reading("float", read<float>(bytes));
    case 8:
      return fmt::format("{:#x}, int {}", read<std::uint64_t>(bytes), read<std::int64_t>(bytes)) +
             floating_reading("double", read<double>(bytes));
    default:
      return {};
  }
}

}  // namespace

std::string text_of_address(std::uintptr_t address) { return fmt::format("{:#x}", address); }

std::string text_of_extents(const dim3& extents) {
  return fmt::format("({}, {}, {})", extents.x, extents.y, extents.z);
}

std::string text_of_bytes(std::span<const std::byte> bytes) {
  std::string result;
  for (const std::byte byte : bytes)
    result += fmt::format("{}{:02x}", result.empty() ? "" : " ", std::to_integer<unsigned>(byte));
  return result;
}

std::string text_of_argument(std::span<const std::byte> bytes, std::size_t interesting) {
  if (bytes.size() > most_bytes) {
    const std::size_t begin = std::min(interesting, bytes.size() - window);
    return fmt::format("bytes {} to {} of {}: {}", begin, begin + window - 1, bytes.size(),
                       text_of_bytes(bytes.subspan(begin, window)));
  }
  const std::string meaning = readings(bytes);
  return text_of_bytes(bytes) + (meaning.empty() ? "" : " (" + meaning + ")");
}

std::string text_of_fill(std::uint32_t value, unsigned element_size) {
  const std::string digits = fmt::format("0x{:0{}x}", value, 2 * element_size);
  if (element_size != 4) return digits;
  return digits + " (" + readings(std::as_bytes(std::span(&value, 1))) + ")";
}

std::string text_of_memory_kind(int memory_kind) {
  switch (memory_kind) {
    case memory_kind_host:
      return "host";
    case memory_kind_device:
      return "device";
    case memory_kind_array:
      return "array";
    case memory_kind_unified:
      return "unified";
    default:
      return fmt::format("memory kind {}", memory_kind);
  }
}

}  // namespace cugraft::model
