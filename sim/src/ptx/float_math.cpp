// SPDX-License-Identifier: Apache-2.0
#include "ptx/float_math.hpp"

namespace cugraft_sim::ptx {
namespace {

/// Rounds to an integer: what is left of a half's digits after scaling.
double to_integral(double value, rounding mode) {
  switch (mode) {
    case rounding::zero:
      return std::trunc(value);
    case rounding::down:
      return std::floor(value);
    case rounding::up:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

}  // namespace

float half_to_float(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits >> 10 & 31U;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 31)
    return fraction != 0 ? std::bit_cast<float>(0x7FFFFFFFU)
                         : std::bit_cast<float>(sign | 0x7F800000U);
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(fraction | 0x400U),
                                                static_cast<int>(exponent) - 25);
  return sign != 0 ? -size : size;
}

double half_to_double(std::uint16_t bits) noexcept {
  if ((bits & 0x7FFFU) <= 0x7C00U) return half_to_float(bits);
  const std::uint64_t sign = std::uint64_t{bits & 0x8000U} << 48;
  return std::bit_cast<double>(sign | 0x7FF8000000000000U | std::uint64_t{bits & 0x3FFU} << 42);
}

std::uint16_t to_half(double value, rounding mode) noexcept {
  constexpr std::uint16_t infinity = 0x7C00;
  if (std::isnan(value)) return 0x7FFF;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isinf(value)) return sign | infinity;
  // One unit in the last place: 2^-24 for subnormal numbers, else 2^(exponent - 10).
  const int exponent = value == 0 ? -14 : std::max(std::ilogb(value), -14);
  const double units = to_integral(std::ldexp(value, 10 - exponent), mode);
  const double rounded = std::ldexp(std::abs(units), exponent - 10);
  if (rounded > 65504) {
    const bool grows = mode == rounding::nearest || (mode == rounding::up && sign == 0) ||
                       (mode == rounding::down && sign != 0);
    return sign | (grows ? infinity : std::uint16_t{0x7BFF});
  }
  if (rounded < 0x1p-14) return sign | static_cast<std::uint16_t>(std::ldexp(rounded, 24));
  const int power = std::ilogb(rounded);
  const auto fraction = static_cast<unsigned>(std::ldexp(rounded, 10 - power)) & 0x3FFU;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(power + 15) << 10 | fraction);
}

std::uint16_t half_nan(double nan) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(nan);
  return static_cast<std::uint16_t>((bits >> 48 & 0x8000U) | 0x7E00U | (bits >> 42 & 0x1FFU));
}

}  // namespace cugraft_sim::ptx
