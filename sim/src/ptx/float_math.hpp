// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <type_traits>

// Floating-point rules of PTX that differ from the host's.
namespace cugraft_sim::ptx {

enum class rounding : std::uint8_t { nearest, zero, down, up };

/// Sets the host's rounding for the scope. What is computed in it has to pass through volatile
/// variables, as compilers move arithmetic over the call else.
class rounding_scope {
 public:
  explicit rounding_scope(rounding mode) : before_(std::fegetround()) {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[static_cast<int>(mode)]);
  }
  rounding_scope(const rounding_scope&) = delete;
  rounding_scope& operator=(const rounding_scope&) = delete;
  ~rounding_scope() { std::fesetround(before_); }

 private:
  int before_;
};

/// GPUs give one NaN for every f32 result that is one; that of f64 has digits from its operands.
template <class T>
T canonical(T value) noexcept {
  if constexpr (std::is_same_v<T, float>)
    if (std::isnan(value)) return std::bit_cast<float>(0x7FFFFFFFU);
  return value;
}

/// `.ftz`: subnormal numbers count as zero, with their sign. f64 has no such form.
template <class T>
T flushed(T value) noexcept {
  if constexpr (std::is_same_v<T, float>)
    if (std::fpclassify(value) == FP_SUBNORMAL) return std::copysign(0.0F, value);
  return value;
}

/// `.sat`: between 0 and 1, NaN as 0.
template <class T>
T saturated(T value) noexcept {
  return value > 0 ? (value < 1 ? value : T{1}) : T{0};
}

/// f16 bits to f32, exactly; NaN to the one of f32 results.
float half_to_float(std::uint16_t bits) noexcept;

/// f16 bits to f64, exactly; NaN keeps sign and digits.
double half_to_double(std::uint16_t bits) noexcept;

/// f64 to f16 bits in one rounding, NaN to the one of f32 results; f32 is exact in f64.
std::uint16_t to_half(double value, rounding mode) noexcept;

/// The f16 bits of a NaN with sign and the first digits of an f64 one.
std::uint16_t half_nan(double nan) noexcept;

}  // namespace cugraft_sim::ptx
