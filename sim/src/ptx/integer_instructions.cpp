// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "ptx/float_instructions.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// Integer arithmetic. Everything is computed in 64 unsigned bits, or 128 for products, so that
// overflow wraps as on a GPU.
namespace cugraft_sim::ptx {
namespace {

using wide = std::uint64_t;

__extension__ using signed_128 = __int128;
__extension__ using unsigned_128 = unsigned __int128;

template <class T>
using wide_product = std::conditional_t<std::is_signed_v<T>, signed_128, unsigned_128>;

template <class T>
wide_product<T> product(T a, T b) {
  return static_cast<wide_product<T>>(a) * static_cast<wide_product<T>>(b);
}

struct add_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wide(a) + wide(b));
  }
};

struct subtract_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wide(a) - wide(b));
  }
};

template <class Sum>
std::int32_t saturate(Sum sum) {
  constexpr Sum low = std::numeric_limits<std::int32_t>::min();
  constexpr Sum high = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(sum, low, high));
}

struct add_saturated_op {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return saturate(std::int64_t{a} + b);
  }
};

struct subtract_saturated_op {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return saturate(std::int64_t{a} - b);
  }
};

struct multiply_low_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wide(a) * wide(b));
  }
};

struct multiply_high_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product(a, b) >> (8 * sizeof(T)));
  }
};

/// The whole product of 16 or 32 bits, kept as 64.
struct multiply_wide_op {
  template <class T>
  auto operator()(T a, T b) const {
    using result = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<result>(a) * static_cast<result>(b);
  }
};

template <class T>
T low_24_bits(T value) {
  const auto shifted = static_cast<std::uint32_t>(value) << 8;
  return static_cast<T>(static_cast<T>(shifted) >> 8);
}

struct multiply_24_low_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product(low_24_bits(a), low_24_bits(b)));
  }
};

struct multiply_24_high_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product(low_24_bits(a), low_24_bits(b)) >> 16);
  }
};

/// A product plus `c`, which is as wide as the product.
template <class T, class Multiply>
const instruction* multiply_add(thread& t, const instruction* i) {
  using result = std::invoke_result_t<Multiply, T, T>;
  const result product = Multiply{}(get<T>(t, i->a), get<T>(t, i->b));
  if constexpr (std::is_same_v<Multiply, multiply_wide_op> && sizeof(T) == 2) {
    using sum = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
    set(t, i->d, static_cast<sum>(wide(product) + wide(get<sum>(t, i->c))));
  } else {
    set(t, i->d, static_cast<result>(wide(product) + wide(get<result>(t, i->c))));
  }
  return i + 1;
}

/// Division by zero has no defined result in PTX; all ones is what a GPU gives (H200).
struct divide_op {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~wide{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - wide(a));
    return static_cast<T>(a / b);
  }
};

struct remainder_op {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~wide{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

struct minimum_op {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

struct maximum_op {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

struct negate_op {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(0 - wide(a));
  }
};

struct absolute_op {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? static_cast<T>(0 - wide(a)) : a;
  }
};

struct sum_of_differences_op {
  template <class T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(wide(c) + (a < b ? wide(b) - wide(a) : wide(a) - wide(b)));
  }
};

/// `a` plus `b` plus the carry: subtraction comes with its second operand inverted.
template <class T, bool Subtract, bool WithCarry>
const instruction* add_carry(thread& t, const instruction* i) {
  const T a = get<T>(t, i->a);
  const T b = Subtract ? static_cast<T>(~get<T>(t, i->b)) : get<T>(t, i->b);
  const bool in = WithCarry ? t.carry : Subtract;
  const auto sum = static_cast<unsigned_128>(a) + b + (in ? 1U : 0U);
  set(t, i->d, static_cast<T>(sum));
  if (i->variant != 0) t.carry = (sum >> (8 * sizeof(T))) != 0;
  return i + 1;
}

/// Half of a product plus `c` plus the carry.
template <class T, bool High, bool WithCarry>
const instruction* multiply_add_carry(thread& t, const instruction* i) {
  using bits = std::make_unsigned_t<T>;
  const auto whole = product(get<T>(t, i->a), get<T>(t, i->b));
  const auto half = static_cast<bits>(High ? whole >> (8 * sizeof(T)) : whole);
  const auto sum =
      static_cast<unsigned_128>(half) + get<bits>(t, i->c) + (WithCarry && t.carry ? 1U : 0U);
  set(t, i->d, static_cast<bits>(sum));
  if (i->variant != 0) t.carry = (sum >> (8 * sizeof(T))) != 0;
  return i + 1;
}

template <bool WithCarry>
instruction decode_product_carry(decoding& d) {
  const bool writes = d.take("cc");
  const bool high = d.take("hi");
  if (!high && !d.take("lo")) d.unsupported();
  const scalar type = d.take_type();
  if (size_of(type) < 4) d.unsupported();
  const handler run = for_integer(type, [high]<class T>() -> handler {
    return high ? &multiply_add_carry<T, true, WithCarry>
                : &multiply_add_carry<T, false, WithCarry>;
  });
  instruction result = d.simple(run, type, 3);
  result.variant = writes ? 1 : 0;
  return result;
}

template <bool Subtract, bool WithCarry>
instruction decode_carry(decoding& d) {
  const bool writes = d.take("cc");
  const scalar type = d.take_type();
  const bool narrow = size_of(type) == 4;
  if (is_float(type) || size_of(type) < 4) d.unsupported();
  instruction result = d.simple(narrow ? &add_carry<std::uint32_t, Subtract, WithCarry>
                                       : &add_carry<std::uint64_t, Subtract, WithCarry>,
                                type, 2);
  result.variant = writes ? 1 : 0;
  return result;
}

template <class Op, class Saturated, bool Subtract>
instruction decode_sum(decoding& d) {
  if (is_float(d.peek_type())) return decode_float_arithmetic(d);
  if (d.has("cc")) return decode_carry<Subtract, false>(d);
  const bool saturated = d.take("sat");
  const scalar type = d.take_type();
  if (!saturated) return d.simple(integer_binary<Op>(type), type, 2);
  if (type != scalar::s32) d.unsupported();
  return d.simple(&binary<std::int32_t, Saturated>, type, 2);
}

template <class Multiply>
handler product_handler(scalar type, bool adds) {
  return for_integer(type, [adds]<class T>() -> handler {
    return adds ? &multiply_add<T, Multiply> : &binary<T, Multiply>;
  });
}

instruction decode_product(decoding& d) {
  if (is_float(d.peek_type())) return decode_float_arithmetic(d);
  const bool adds = d.name() == "mad";
  if (adds && d.has("cc")) return decode_product_carry<false>(d);
  const std::string_view part = d.take_any();
  const scalar type = d.take_type();
  handler run = nullptr;
  if (part == "lo") run = product_handler<multiply_low_op>(type, adds);
  if (part == "hi") run = product_handler<multiply_high_op>(type, adds);
  if (part == "wide" && size_of(type) < 8) run = product_handler<multiply_wide_op>(type, adds);
  return d.simple(run, type, adds ? 3 : 2);
}

instruction decode_product_24(decoding& d) {
  const bool adds = d.name() == "mad24";
  const std::string_view part = d.take_any();
  const scalar type = d.take_type();
  if ((part != "lo" && part != "hi") || (type != scalar::s32 && type != scalar::u32))
    d.unsupported();
  return d.simple(part == "lo" ? product_handler<multiply_24_low_op>(type, adds)
                               : product_handler<multiply_24_high_op>(type, adds),
                  type, adds ? 3 : 2);
}

template <class Op>
instruction decode_binary(decoding& d) {
  if (is_float(d.peek_type())) return decode_float_arithmetic(d);
  const scalar type = d.take_type();
  return d.simple(integer_binary<Op>(type), type, 2);
}

template <class Op>
instruction decode_signed_unary(decoding& d) {
  if (is_float(d.peek_type())) return decode_float_arithmetic(d);
  const scalar type = d.take_type();
  if (!is_signed(type)) d.unsupported();
  return d.simple(integer_unary<Op>(type), type, 1);
}

instruction decode_sum_of_differences(decoding& d) {
  const scalar type = d.take_type();
  const handler run =
      for_integer(type, []<class T>() -> handler { return &ternary<T, sum_of_differences_op>; });
  return d.simple(run, type, 3);
}

/// The sum of the products of four bytes each, plus `c`.
template <class A, class B>
struct dot_product_op {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    for (unsigned shift = 0; shift < 32; shift += 8)
      c += static_cast<std::uint32_t>(static_cast<A>(a >> shift) * static_cast<B>(b >> shift));
    return c;
  }
};

template <class A>
handler dot_product(bool signed_b) {
  return signed_b ? &ternary<std::uint32_t, dot_product_op<A, std::int8_t>>
                  : &ternary<std::uint32_t, dot_product_op<A, std::uint8_t>>;
}

instruction decode_dot_product(decoding& d) {
  const scalar a = d.take_type();
  const scalar b = d.take_type();
  if (is_float(a) || is_float(b) || size_of(a) != 4 || size_of(b) != 4) d.unsupported();
  const bool signed_b = is_signed(b);
  return d.simple(
      is_signed(a) ? dot_product<std::int8_t>(signed_b) : dot_product<std::uint8_t>(signed_b), a,
      3);
}

constexpr std::array<instruction_row, 17> rows{{
    {"add", decode_sum<add_op, add_saturated_op, false>},
    {"sub", decode_sum<subtract_op, subtract_saturated_op, true>},
    {"addc", decode_carry<false, true>},
    {"subc", decode_carry<true, true>},
    {"mul", decode_product},
    {"mad", decode_product},
    {"madc", decode_product_carry<true>},
    {"mul24", decode_product_24},
    {"mad24", decode_product_24},
    {"div", decode_binary<divide_op>},
    {"rem", decode_binary<remainder_op>},
    {"min", decode_binary<minimum_op>},
    {"max", decode_binary<maximum_op>},
    {"abs", decode_signed_unary<absolute_op>},
    {"neg", decode_signed_unary<negate_op>},
    {"sad", decode_sum_of_differences},
    {"dp4a", decode_dot_product},
}};

}  // namespace

std::span<const instruction_row> integer_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
