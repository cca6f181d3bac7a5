// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// Logic, shifts and bit fields.
namespace cugraft_sim::ptx {
namespace {

struct and_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct or_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct xor_op {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct not_op {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};

struct not_predicate_op {
  bool operator()(bool a) const { return !a; }
};

struct logical_not_op {
  template <class T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};

template <class Op>
instruction decode_logic(decoding& d) {
  const scalar type = d.take_type();
  if (type == scalar::pred) return d.simple(&binary<bool, Op>, type, 2);
  return d.simple(bits_binary<Op>(type), type, 2);
}

instruction decode_not(decoding& d) {
  const scalar type = d.take_type();
  if (type == scalar::pred) return d.simple(&unary<bool, not_predicate_op>, type, 1);
  return d.simple(bits_unary<not_op>(type), type, 1);
}

/// Shifts by the width or more give zero, or the sign.
template <class T>
const instruction* shift_left(thread& t, const instruction* i) {
  const auto amount = get<std::uint32_t>(t, i->b);
  const T a = get<T>(t, i->a);
  set(t, i->d, amount < 8 * sizeof(T) ? static_cast<T>(std::uint64_t{a} << amount) : T{0});
  return i + 1;
}

template <class T>
const instruction* shift_right(thread& t, const instruction* i) {
  const T a = get<T>(t, i->a);
  auto amount = get<std::uint32_t>(t, i->b);
  if (std::is_signed_v<T>) amount = std::min<std::uint32_t>(amount, 8 * sizeof(T) - 1);
  set(t, i->d, amount < 8 * sizeof(T) ? static_cast<T>(a >> amount) : T{0});
  return i + 1;
}

instruction shift(decoding& d, handler run, scalar type) {
  if (run == nullptr) d.unsupported();
  d.expect_operands(3);
  instruction result;
  result.run = run;
  result.d = d.destination(0);
  result.a = d.source(1, type);
  result.b = d.source(2, scalar::u32);
  return result;
}

instruction decode_shift_left(decoding& d) {
  const scalar type = d.take_type();
  return shift(d, for_bits(type, []<class T>() -> handler { return &shift_left<T>; }), type);
}

instruction decode_shift_right(decoding& d) {
  const scalar type = d.take_type();
  const auto make = []<class T>() -> handler { return &shift_right<T>; };
  const handler run = for_bits(type, make);
  return shift(d, run != nullptr ? run : for_integer(type, make), type);
}

/// The pair `b:a` moved by `c` bits; the upper half of a left, the lower half of a right shift.
template <bool Left, bool Wrap>
struct funnel_op {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const std::uint32_t amount = Wrap ? c & 31 : std::min(c, 32U);
    const std::uint64_t pair = std::uint64_t{b} << 32 | a;
    return static_cast<std::uint32_t>(Left ? (pair << amount) >> 32 : pair >> amount);
  }
};

instruction decode_funnel(decoding& d) {
  const std::string_view direction = d.take_any();
  const bool wraps = d.take("wrap");
  const scalar type = d.take_type();
  if (type != scalar::b32 || (!wraps && !d.take("clamp")) || (direction != "l" && direction != "r"))
    d.unsupported();
  if (direction == "l")
    return d.simple(wraps ? &ternary<std::uint32_t, funnel_op<true, true>>
                          : &ternary<std::uint32_t, funnel_op<true, false>>,
                    type, 3);
  return d.simple(wraps ? &ternary<std::uint32_t, funnel_op<false, true>>
                        : &ternary<std::uint32_t, funnel_op<false, false>>,
                  type, 3);
}

struct population_op {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};

struct leading_zeros_op {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};

struct reverse_op {
  template <class T>
  T operator()(T a) const {
    T result = 0;
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit)
      if ((a >> bit & 1) != 0) result |= T{1} << (8 * sizeof(T) - 1 - bit);
    return result;
  }
};

template <class Op>
instruction decode_count(decoding& d) {
  const scalar type = d.take_type();
  if (size_of(type) < 4) d.unsupported();
  return d.simple(bits_unary<Op>(type), type, 1);
}

/// Place of the highest bit that differs from the sign, or all ones.
template <class T, bool ShiftAmount>
const instruction* find_bit(thread& t, const instruction* i) {
  using bits = std::make_unsigned_t<T>;
  const T a = get<T>(t, i->a);
  const bits value = static_cast<bits>(a < 0 ? ~a : a);
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(value));
  const std::uint32_t place = ShiftAmount ? zeros : 8 * sizeof(T) - 1 - zeros;
  set(t, i->d, value == 0 ? ~std::uint32_t{0} : place);
  return i + 1;
}

instruction decode_find_bit(decoding& d) {
  const bool amount = d.take("shiftamt");
  const scalar type = d.take_type();
  if (size_of(type) < 4) d.unsupported();
  const handler run = for_integer(type, [amount]<class T>() -> handler {
    return amount ? &find_bit<T, true> : &find_bit<T, false>;
  });
  return d.simple(run, type, 1);
}

template <class T>
const instruction* extract_field(thread& t, const instruction* i) {
  constexpr unsigned width = 8 * sizeof(T);
  const T a = get<T>(t, i->a);
  const unsigned begin = get<std::uint8_t>(t, i->b);
  const unsigned count = get<std::uint8_t>(t, i->c);
  const bool fill =
      std::is_signed_v<T> && count != 0 && (a >> std::min(begin + count - 1, width - 1) & 1) != 0;
  std::make_unsigned_t<T> result = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const bool inside = bit < count && begin + bit < width;
    if (inside ? (a >> (begin + bit) & 1) != 0 : fill) result |= std::make_unsigned_t<T>{1} << bit;
  }
  set(t, i->d, static_cast<T>(result));
  return i + 1;
}

instruction decode_extract(decoding& d) {
  const scalar type = d.take_type();
  if (size_of(type) < 4) d.unsupported();
  const handler run = for_integer(type, []<class T>() -> handler { return &extract_field<T>; });
  return d.simple(run, type, 3);
}

template <class T>
const instruction* insert_field(thread& t, const instruction* i) {
  constexpr unsigned width = 8 * sizeof(T);
  const T from = get<T>(t, i->a);
  const unsigned begin = get<std::uint8_t>(t, i->c);
  const unsigned count = get<std::uint8_t>(t, i->extra);
  T result = get<T>(t, i->b);
  for (unsigned bit = 0; bit < count && begin + bit < width; ++bit) {
    const T mask = T{1} << (begin + bit);
    result = (from >> bit & 1) != 0 ? result | mask : result & ~mask;
  }
  set(t, i->d, result);
  return i + 1;
}

instruction decode_insert(decoding& d) {
  const scalar type = d.take_type();
  if (type != scalar::b32 && type != scalar::b64) d.unsupported();
  d.expect_operands(5);
  instruction result;
  result.run = type == scalar::b32 ? &insert_field<std::uint32_t> : &insert_field<std::uint64_t>;
  result.d = d.destination(0);
  result.a = d.source(1, type);
  result.b = d.source(2, type);
  result.c = d.source(3, scalar::u32);
  result.extra = d.source(4, scalar::u32);
  return result;
}

/// Picks each byte from the eight of `b:a`; the top bit of a selector spreads the byte's sign.
struct permute_op {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t selectors) const {
    const std::uint64_t pair = std::uint64_t{b} << 32 | a;
    std::uint32_t result = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::uint32_t selector = selectors >> (4 * byte) & 15;
      auto picked = static_cast<std::uint32_t>(pair >> (8 * (selector & 7)) & 0xFF);
      if ((selector & 8) != 0) picked = (picked & 0x80) != 0 ? 0xFF : 0;
      result |= picked << (8 * byte);
    }
    return result;
  }
};

instruction decode_permute(decoding& d) {
  const scalar type = d.take_type();
  if (type != scalar::b32) d.unsupported();
  return d.simple(&ternary<std::uint32_t, permute_op>, type, 3);
}

/// Any function of three bits: bit `4a + 2b + c` of the table is the result.
const instruction* look_up(thread& t, const instruction* i) {
  const auto a = get<std::uint32_t>(t, i->a);
  const auto b = get<std::uint32_t>(t, i->b);
  const auto c = get<std::uint32_t>(t, i->c);
  std::uint32_t result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if ((i->variant >> row & 1) != 0)
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  set(t, i->d, result);
  return i + 1;
}

instruction decode_look_up(decoding& d) {
  if (d.take_type() != scalar::b32) d.unsupported();
  d.expect_operands(5);
  if (d.operand(4).kind != syntax::operand_kind::integer) d.wrong("needs a table of 8 bits");
  instruction result;
  result.run = &look_up;
  result.d = d.destination(0);
  result.a = d.source(1, scalar::b32);
  result.b = d.source(2, scalar::b32);
  result.c = d.source(3, scalar::b32);
  result.variant = static_cast<std::uint8_t>(d.operand(4).value);
  return result;
}

instruction decode_logical_not(decoding& d) {
  const scalar type = d.take_type();
  return d.simple(bits_unary<logical_not_op>(type), type, 1);
}

constexpr std::array<instruction_row, 16> rows{{
    {"and", decode_logic<and_op>},
    {"or", decode_logic<or_op>},
    {"xor", decode_logic<xor_op>},
    {"not", decode_not},
    {"cnot", decode_logical_not},
    {"shl", decode_shift_left},
    {"shr", decode_shift_right},
    {"shf", decode_funnel},
    {"popc", decode_count<population_op>},
    {"clz", decode_count<leading_zeros_op>},
    {"brev", decode_count<reverse_op>},
    {"bfind", decode_find_bit},
    {"bfe", decode_extract},
    {"bfi", decode_insert},
    {"prmt", decode_permute},
    {"lop3", decode_look_up},
}};

}  // namespace

std::span<const instruction_row> bit_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
