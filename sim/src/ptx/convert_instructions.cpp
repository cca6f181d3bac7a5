// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ptx/float_math.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// cvt between integers, f16, f32 and f64.
namespace cugraft_sim::ptx {
namespace {

// Bits of `instruction::variant`; the two lowest are the rounding.
constexpr std::uint8_t rounding_bits = 3;
constexpr std::uint8_t flush_bit = 4;
constexpr std::uint8_t saturate_bit = 8;
constexpr std::uint8_t integral_bit = 16;  ///< rounds to an integer

/// f16 as a type of its own; its bits are what registers hold.
struct half {
  std::uint16_t bits;
};

template <class T>
constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, half>;

rounding rounding_of(const instruction& i) {
  return static_cast<rounding>(i.variant & rounding_bits);
}

template <class T>
T to_integral(T value, rounding mode) {
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

/// A value outside of `To` gives the nearest bound. PTX says zero for NaN; a GPU (H200) gives the
/// top bit alone where either side has 64 bits.
template <class To, class From>
To clamped(From value) {
  using limits = std::numeric_limits<To>;
  constexpr bool is_long = sizeof(From) == 8 || sizeof(To) == 8;
  if (std::isnan(value)) return static_cast<To>(std::uint64_t{is_long} << (8 * sizeof(To) - 1));
  // Both powers of two, which floating-point numbers hold exactly.
  const From low = static_cast<From>(limits::min());
  const From beyond = std::ldexp(From{1}, limits::digits);
  if (value < low) return limits::min();
  if (value >= beyond) return limits::max();
  return static_cast<To>(value);
}

/// The integer nearest to `value` that `To` holds.
template <class To, class From>
To saturated_integer(From value) {
  using limits = std::numeric_limits<To>;
  if (std::cmp_less(value, limits::min())) return limits::min();
  if (std::cmp_greater(value, limits::max())) return limits::max();
  return static_cast<To>(value);
}

template <class To, class From>
To rounded(From value, rounding mode) {
  if (mode == rounding::nearest) return static_cast<To>(value);
  const rounding_scope scope(mode);
  const volatile From in = value;
  const volatile To out = static_cast<To>(From{in});
  return out;
}

template <class To, class From>
auto read(const thread& t, const instruction& i) {
  if constexpr (std::is_same_v<From, half> && std::is_same_v<To, double>) {
    return half_to_double(get<std::uint16_t>(t, i.a));
  } else if constexpr (std::is_same_v<From, half>) {
    return half_to_float(get<std::uint16_t>(t, i.a));
  } else {
    const From value = get<From>(t, i.a);
    if constexpr (std::is_same_v<From, float>)
      if ((i.variant & flush_bit) != 0) return flushed(value);
    return value;
  }
}

template <class To, class From>
void convert_to_real(thread& t, const instruction& i, From value) {
  constexpr bool keeps_nan = std::is_same_v<From, double>;
  const bool saturates = (i.variant & saturate_bit) != 0;
  if constexpr (std::is_floating_point_v<From>)
    if ((i.variant & integral_bit) != 0) value = to_integral(value, rounding_of(i));
  if constexpr (std::is_same_v<To, half>) {
    const auto wide = static_cast<double>(value);
    if (keeps_nan && std::isnan(value) && !saturates) return set(t, i.d, half_nan(wide));
    set(t, i.d, to_half(saturates ? saturated(wide) : wide, rounding_of(i)));
  } else {
    To result = rounded<To>(value, rounding_of(i));
    if (!keeps_nan) result = canonical(result);
    if ((i.variant & flush_bit) != 0) result = flushed(result);
    set(t, i.d, saturates ? saturated(result) : result);
  }
}

template <class To, class From>
const instruction* convert(thread& t, const instruction* i) {
  const auto value = read<To, From>(t, *i);
  if constexpr (is_real<To>)
    convert_to_real<To>(t, *i, value);
  else if constexpr (is_real<From>)
    set(t, i->d, clamped<To>(to_integral(value, rounding_of(*i))));
  else if ((i->variant & saturate_bit) != 0)
    set(t, i->d, saturated_integer<To>(value));
  else
    set(t, i->d, static_cast<To>(value));
  return i + 1;
}

template <class Make>
handler for_convertible(scalar type, Make make) {
  if (type == scalar::u8) return make.template operator()<std::uint8_t>();
  if (type == scalar::s8) return make.template operator()<std::int8_t>();
  if (type == scalar::f16) return make.template operator()<half>();
  if (const handler found = for_float(type, make)) return found;
  return for_integer(type, make);
}

std::uint8_t take_flags(decoding& d) {
  std::uint8_t flags = 0;
  constexpr std::array<std::string_view, 4> real{"rn", "rz", "rm", "rp"};
  constexpr std::array<std::string_view, 4> integral{"rni", "rzi", "rmi", "rpi"};
  for (std::uint8_t mode = 0; mode < real.size(); ++mode) {
    if (d.take(real[mode])) flags = mode;
    if (d.take(integral[mode])) flags = mode | integral_bit;
  }
  if (d.take("ftz")) flags |= flush_bit;
  if (d.take("sat")) flags |= saturate_bit;
  return flags;
}

instruction decode_convert(decoding& d) {
  std::uint8_t flags = take_flags(d);
  const scalar to = d.take_type();
  const scalar from = d.take_type();
  const handler run = for_convertible(to, [from]<class To>() -> handler {
    return for_convertible(from, []<class From>() -> handler { return &convert<To, From>; });
  });
  instruction result = d.simple(run, from, 1);
  result.variant = flags;
  return result;
}

constexpr std::array<instruction_row, 1> rows{{{"cvt", decode_convert}}};

}  // namespace

std::span<const instruction_row> convert_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
