// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ptx/decoding.hpp"
#include "ptx/thread.hpp"
#include "ptx/types.hpp"

// From a PTX type to a handler for the C++ type. `make` is a lambda with a template parameter that
// returns the handler; null stands for "not for this type".
namespace cugraft_sim::ptx {

/// u16 to s64.
template <class Make>
handler for_integer(scalar type, Make make) {
  switch (type) {
    case scalar::u16:
      return make.template operator()<std::uint16_t>();
    case scalar::u32:
      return make.template operator()<std::uint32_t>();
    case scalar::u64:
      return make.template operator()<std::uint64_t>();
    case scalar::s16:
      return make.template operator()<std::int16_t>();
    case scalar::s32:
      return make.template operator()<std::int32_t>();
    case scalar::s64:
      return make.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}

/// b16 to b64, as unsigned integers.
template <class Make>
handler for_bits(scalar type, Make make) {
  switch (type) {
    case scalar::b16:
      return make.template operator()<std::uint16_t>();
    case scalar::b32:
      return make.template operator()<std::uint32_t>();
    case scalar::b64:
      return make.template operator()<std::uint64_t>();
    default:
      return nullptr;
  }
}

/// f32 and f64.
template <class Make>
handler for_float(scalar type, Make make) {
  if (type == scalar::f32) return make.template operator()<float>();
  if (type == scalar::f64) return make.template operator()<double>();
  return nullptr;
}

/// Everything that has a value of 8 to 64 bits; b-types as unsigned integers, f16 as its bits.
template <class Make>
handler for_memory(scalar type, Make make) {
  switch (type) {
    case scalar::b8:
    case scalar::u8:
      return make.template operator()<std::uint8_t>();
    case scalar::s8:
      return make.template operator()<std::int8_t>();
    case scalar::f16:
      return make.template operator()<std::uint16_t>();
    default:
      break;
  }
  if (const handler found = for_bits(type, make)) return found;
  if (const handler found = for_float(type, make)) return found;
  return for_integer(type, make);
}

template <class T, class Op>
const instruction* unary(thread& t, const instruction* i) {
  set(t, i->d, Op{}(get<T>(t, i->a)));
  return i + 1;
}

template <class T, class Op>
const instruction* binary(thread& t, const instruction* i) {
  set(t, i->d, Op{}(get<T>(t, i->a), get<T>(t, i->b)));
  return i + 1;
}

template <class T, class Op>
const instruction* ternary(thread& t, const instruction* i) {
  set(t, i->d, Op{}(get<T>(t, i->a), get<T>(t, i->b), get<T>(t, i->c)));
  return i + 1;
}

template <class Op>
handler integer_unary(scalar type) {
  return for_integer(type, []<class T>() -> handler { return &unary<T, Op>; });
}

template <class Op>
handler integer_binary(scalar type) {
  return for_integer(type, []<class T>() -> handler { return &binary<T, Op>; });
}

template <class Op>
handler bits_unary(scalar type) {
  return for_bits(type, []<class T>() -> handler { return &unary<T, Op>; });
}

template <class Op>
handler bits_binary(scalar type) {
  return for_bits(type, []<class T>() -> handler { return &binary<T, Op>; });
}

}  // namespace cugraft_sim::ptx
