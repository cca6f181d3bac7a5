// SPDX-License-Identifier: Apache-2.0
#include "ptx/float_instructions.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ptx/float_math.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// Floating-point arithmetic. add, sub, mul, fma, div.rn, rcp.rn and sqrt.rn round as IEEE says and
// agree with a GPU in every bit. The approximate forms (`.approx`, `.full`) give the correctly
// rounded value, or nearly so: within the bounds that PTX states, but not a GPU's very bits.
namespace cugraft_sim::ptx {
namespace {

// Bits of `instruction::variant`; the two lowest are the rounding.
constexpr std::uint8_t rounding_bits = 3;
constexpr std::uint8_t flush_bit = 4;
constexpr std::uint8_t saturate_bit = 8;

struct add_op {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

struct subtract_op {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};

struct multiply_op {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};

struct divide_op {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

struct fused_op {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

/// -0 is less than +0, and a number beats a NaN.
struct minimum_op {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};

struct maximum_op {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};

template <class Op>
struct propagating_op {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    return Op{}(a, b);
  }
};

/// A NaN keeps its sign, and becomes a quiet one.
struct negate_op {
  template <class T>
  T operator()(T a) const {
    return std::isnan(a) ? a + a : -a;
  }
};

struct absolute_op {
  template <class T>
  T operator()(T a) const {
    return std::isnan(a) ? a + a : std::abs(a);
  }
};

struct copy_sign_op {
  template <class T>
  T operator()(T sign, T size) const {
    return std::copysign(size, sign);
  }
};

struct root_op {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

struct reciprocal_op {
  template <class T>
  T operator()(T a) const {
    return T{1} / a;
  }
};

/// f32 through f64, so that the result is rounded once.
#define CUGRAFT_SIM_THROUGH_DOUBLE(name, expression) \
  struct name {                                      \
    template <class T>                               \
    T operator()(T narrow) const {                   \
      const auto a = static_cast<double>(narrow);    \
      return static_cast<T>(expression);             \
    }                                                \
  };

CUGRAFT_SIM_THROUGH_DOUBLE(reciprocal_root_op, 1 / std::sqrt(a))
CUGRAFT_SIM_THROUGH_DOUBLE(power_of_two_op, std::exp2(a))
CUGRAFT_SIM_THROUGH_DOUBLE(logarithm_op, std::log2(a))
CUGRAFT_SIM_THROUGH_DOUBLE(sine_op, std::sin(a))
CUGRAFT_SIM_THROUGH_DOUBLE(cosine_op, std::cos(a))
CUGRAFT_SIM_THROUGH_DOUBLE(hyperbolic_tangent_op, std::tanh(a))
#undef CUGRAFT_SIM_THROUGH_DOUBLE

template <class T, class Op, std::size_t... Index>
T apply(const volatile T* values, std::index_sequence<Index...>) {
  return Op{}(T{values[Index]}...);
}

/// Nearest rounding, no flags: what most code uses.
template <class T, class Op, std::size_t Count>
const instruction* plain(thread& t, const instruction* i) {
  if constexpr (Count == 1) set(t, i->d, canonical(Op{}(get<T>(t, i->a))));
  if constexpr (Count == 2) set(t, i->d, canonical(Op{}(get<T>(t, i->a), get<T>(t, i->b))));
  if constexpr (Count == 3)
    set(t, i->d, canonical(Op{}(get<T>(t, i->a), get<T>(t, i->b), get<T>(t, i->c))));
  return i + 1;
}

template <class T, class Op, std::size_t Count>
const instruction* with_flags(thread& t, const instruction* i) {
  const std::array<std::uint32_t, 3> slots{i->a, i->b, i->c};
  const bool flush = (i->variant & flush_bit) != 0;
  volatile T values[Count];
  for (std::size_t k = 0; k < Count; ++k)
    values[k] = flush ? flushed(get<T>(t, slots[k])) : get<T>(t, slots[k]);
  volatile T result;
  {
    const rounding_scope scope(static_cast<rounding>(i->variant & rounding_bits));
    result = apply<T, Op>(values, std::make_index_sequence<Count>());
  }
  T value = canonical(T{result});
  if (flush) value = flushed(value);
  if ((i->variant & saturate_bit) != 0) value = saturated(value);
  set(t, i->d, value);
  return i + 1;
}

std::uint8_t take_flags(decoding& d) {
  std::uint8_t flags = 0;
  constexpr std::array<std::string_view, 4> modes{"rn", "rz", "rm", "rp"};
  for (std::uint8_t mode = 0; mode < modes.size(); ++mode)
    if (d.take(modes[mode])) flags = mode;
  if (d.take("ftz")) flags |= flush_bit;
  if (d.take("sat")) flags |= saturate_bit;
  return flags;
}

template <class Op, std::size_t Count>
instruction decode_with(decoding& d) {
  const std::uint8_t flags = take_flags(d);
  const scalar type = d.take_type();
  const handler run = for_float(type, [flags]<class T>() -> handler {
    return flags != 0 ? &with_flags<T, Op, Count> : &plain<T, Op, Count>;
  });
  instruction result = d.simple(run, type, Count);
  result.variant = flags;
  return result;
}

template <class Op>
instruction decode_extreme(decoding& d) {
  if (d.take("NaN")) return decode_with<propagating_op<Op>, 2>(d);
  return decode_with<Op, 2>(d);
}

template <class Op, std::size_t Count>
instruction decode_maybe_approximate(decoding& d) {
  d.ignore({"approx", "full"});
  return decode_with<Op, Count>(d);
}

template <class Op>
instruction decode_approximate(decoding& d) {
  if (!d.take("approx")) d.unsupported();
  return decode_with<Op, 1>(d);
}

instruction decode_copy_sign(decoding& d) {
  const scalar type = d.take_type();
  const handler run =
      for_float(type, []<class T>() -> handler { return &binary<T, copy_sign_op>; });
  return d.simple(run, type, 2);
}

enum class property : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <class T>
const instruction* test_property(thread& t, const instruction* i) {
  const T a = get<T>(t, i->a);
  const auto has = [a](property what) {
    switch (what) {
      case property::finite:
        return std::isfinite(a);
      case property::infinite:
        return std::isinf(a);
      case property::number:
        return !std::isnan(a);
      case property::notanumber:
        return std::isnan(a);
      case property::normal:
        return a == 0 || std::isnormal(a);
      default:
        return std::fpclassify(a) == FP_SUBNORMAL;
    }
  };
  set(t, i->d, has(static_cast<property>(i->variant)));
  return i + 1;
}

instruction decode_test(decoding& d) {
  constexpr std::array<std::string_view, 6> names{"finite",     "infinite", "number",
                                                  "notanumber", "normal",   "subnormal"};
  std::uint8_t which = 0;
  while (which < names.size() && !d.take(names[which])) ++which;
  if (which == names.size()) d.unsupported();
  const scalar type = d.take_type();
  instruction result =
      d.simple(for_float(type, []<class T>() -> handler { return &test_property<T>; }), type, 1);
  result.variant = which;
  return result;
}

constexpr std::array<instruction_row, 11> rows{{
    {"fma", decode_with<fused_op, 3>},
    {"sqrt", decode_maybe_approximate<root_op, 1>},
    {"rcp", decode_maybe_approximate<reciprocal_op, 1>},
    {"rsqrt", decode_approximate<reciprocal_root_op>},
    {"ex2", decode_approximate<power_of_two_op>},
    {"lg2", decode_approximate<logarithm_op>},
    {"sin", decode_approximate<sine_op>},
    {"cos", decode_approximate<cosine_op>},
    {"tanh", decode_approximate<hyperbolic_tangent_op>},
    {"copysign", decode_copy_sign},
    {"testp", decode_test},
}};

}  // namespace

instruction decode_float_arithmetic(decoding& d) {
  const std::string_view name = d.name();
  if (name == "add") return decode_with<add_op, 2>(d);
  if (name == "sub") return decode_with<subtract_op, 2>(d);
  if (name == "mul") return decode_with<multiply_op, 2>(d);
  if (name == "mad") return decode_with<fused_op, 3>(d);
  if (name == "div") return decode_maybe_approximate<divide_op, 2>(d);
  if (name == "min") return decode_extreme<minimum_op>(d);
  if (name == "max") return decode_extreme<maximum_op>(d);
  if (name == "abs") return decode_with<absolute_op, 1>(d);
  if (name == "neg") return decode_with<negate_op, 1>(d);
  d.unsupported();
}

std::span<const instruction_row> float_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
