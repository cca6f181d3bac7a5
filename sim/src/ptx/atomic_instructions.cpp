// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "ptx/access.hpp"
#include "ptx/float_math.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"
#include "ptx/take_space.hpp"

// atom and red. Atomic towards other launches as well, whatever scope the instruction names.
namespace cugraft_sim::ptx {
namespace {

struct add_op {
  template <class T>
  T operator()(T old, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return canonical(old + b);
    else
      return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(b));
  }
};

struct minimum_op {
  template <class T>
  T operator()(T old, T b) const {
    return std::min(old, b);
  }
};

struct maximum_op {
  template <class T>
  T operator()(T old, T b) const {
    return std::max(old, b);
  }
};

struct exchange_op {
  template <class T>
  T operator()(T, T b) const {
    return b;
  }
};

struct and_op {
  template <class T>
  T operator()(T old, T b) const {
    return old & b;
  }
};

struct or_op {
  template <class T>
  T operator()(T old, T b) const {
    return old | b;
  }
};

struct xor_op {
  template <class T>
  T operator()(T old, T b) const {
    return old ^ b;
  }
};

/// Counts up to `b` and starts over.
struct increment_op {
  template <class T>
  T operator()(T old, T b) const {
    return old >= b ? 0 : old + 1;
  }
};

struct decrement_op {
  template <class T>
  T operator()(T old, T b) const {
    return old == 0 || old > b ? b : old - 1;
  }
};

template <class T>
using bits_of =
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

/// Replaces the value at `at` by what `change` makes of it, and returns the old one.
template <class T, class Change>
T change_single(std::byte* at, Change change) {
  using bits = bits_of<T>;
  auto* word = reinterpret_cast<bits*>(at);
  bits before = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    const T old = std::bit_cast<T>(before);
    const auto after = std::bit_cast<bits>(change(old));
    if (__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
      return old;
  }
}

std::byte* locate_any(thread& t, space where, std::uint64_t address, std::size_t size) {
  switch (where) {
    case space::global:
      return locate<space::global>(t, address, size, access::write);
    case space::shared:
      return locate<space::shared>(t, address, size, access::write);
    default:
      return locate<space::generic>(t, address, size, access::write);
  }
}

std::uint64_t address_of(const thread& t, const instruction& i) {
  return t.slots[i.a] + static_cast<std::uint64_t>(i.offset);
}

template <class T, class Change>
const instruction* change_at(thread& t, const instruction* i, Change change) {
  const std::uint64_t address = address_of(t, *i);
  const auto where = static_cast<space>(i->variant);
  std::byte* at = locate_any(t, where, address, sizeof(T));
  if (at == nullptr) return access_failed(t, i, where, address, sizeof(T));
  set(t, i->d, change_single<T>(at, change));
  return i + 1;
}

template <class T, class Op>
const instruction* modify(thread& t, const instruction* i) {
  const T b = get<T>(t, i->b);
  return change_at<T>(t, i, [b](T old) { return Op{}(old, b); });
}

/// Global memory adds f32 without subnormal numbers (PTX ISA, atom), shared memory with them.
const instruction* add_single(thread& t, const instruction* i) {
  const auto where = static_cast<space>(i->variant);
  const bool tagged = address_of(t, *i) >> tag_shift != 0;
  const bool in_global = where == space::global || (where == space::generic && !tagged);
  const auto b = get<float>(t, i->b);
  if (!in_global) return modify<float, add_op>(t, i);
  return change_at<float>(t, i,
                          [b](float old) { return flushed(add_op{}(flushed(old), flushed(b))); });
}

template <class T>
const instruction* compare_and_swap(thread& t, const instruction* i) {
  const T expected = get<T>(t, i->b);
  const T desired = get<T>(t, i->c);
  return change_at<T>(t, i, [=](T old) { return old == expected ? desired : old; });
}

template <class Op>
handler ordered_handler(scalar type) {
  if (size_of(type) < 4) return nullptr;
  return for_integer(type, []<class T>() -> handler { return &modify<T, Op>; });
}

template <class Op>
handler bits_handler(scalar type) {
  if (size_of(type) < 4) return nullptr;
  return for_bits(type, []<class T>() -> handler { return &modify<T, Op>; });
}

handler add_handler(scalar type) {
  if (type == scalar::f32) return &add_single;
  if (type == scalar::f64) return &modify<double, add_op>;
  return ordered_handler<add_op>(type);
}

handler swap_handler(scalar type) {
  return for_bits(type, []<class T>() -> handler { return &compare_and_swap<T>; });
}

handler take_handler(decoding& d, scalar type) {
  if (d.take("add")) return add_handler(type);
  if (d.take("min")) return ordered_handler<minimum_op>(type);
  if (d.take("max")) return ordered_handler<maximum_op>(type);
  if (d.take("exch")) return bits_handler<exchange_op>(type);
  if (d.take("and")) return bits_handler<and_op>(type);
  if (d.take("or")) return bits_handler<or_op>(type);
  if (d.take("xor")) return bits_handler<xor_op>(type);
  if (type != scalar::u32) return nullptr;
  if (d.take("inc")) return &modify<std::uint32_t, increment_op>;
  if (d.take("dec")) return &modify<std::uint32_t, decrement_op>;
  return nullptr;
}

instruction decode_atomic(decoding& d, bool returns) {
  instruction result;
  const space where = take_space(d);
  if (where != space::generic && where != space::global && where != space::shared) d.unsupported();
  d.ignore({"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"});
  d.ignore_hints("L2::");
  const bool swaps = returns && d.take("cas");
  const scalar type = d.take_type();
  result.run = swaps ? swap_handler(type) : take_handler(d, type);
  if (result.run == nullptr) d.unsupported();
  const std::size_t first = returns ? 1 : 0;
  d.expect_operands(first + (swaps ? 3 : 2));
  result.variant = static_cast<std::uint8_t>(where);
  result.d = returns ? d.destination(0) : d.into().sink();
  d.address(first, result);
  result.b = d.source(first + 1, type);
  if (swaps) result.c = d.source(first + 2, type);
  return result;
}

instruction decode_atom(decoding& d) { return decode_atomic(d, true); }
instruction decode_reduction(decoding& d) { return decode_atomic(d, false); }

constexpr std::array<instruction_row, 2> rows{{
    {"atom", decode_atom},
    {"red", decode_reduction},
}};

}  // namespace

std::span<const instruction_row> atomic_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
