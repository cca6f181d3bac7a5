// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <type_traits>

#include "ptx/float_math.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// setp, set, selp and slct.
namespace cugraft_sim::ptx {
namespace {

/// Unordered forms (`ltu`) hold for NaN as well.
enum class relation : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
};

constexpr std::array<std::string_view, 18> relation_names{"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                                          "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                                          "ltu", "leu", "gtu", "geu", "num", "nan"};

enum class combination : std::uint8_t { none, conjunction, disjunction, difference };

constexpr std::array<std::string_view, 4> combination_names{"", "and", "or", "xor"};

// Bits of `instruction::variant` beside the combination.
constexpr std::uint8_t combination_bits = 3;
constexpr std::uint8_t negated_bit = 4;
constexpr std::uint8_t flush_bit = 8;

template <relation Relation, class T>
bool ordered(T a, T b) {
  if constexpr (Relation == relation::eq || Relation == relation::equ) return a == b;
  if constexpr (Relation == relation::ne || Relation == relation::neu) return a != b;
  if constexpr (Relation == relation::lt || Relation == relation::ltu) return a < b;
  if constexpr (Relation == relation::le || Relation == relation::leu) return a <= b;
  if constexpr (Relation == relation::gt || Relation == relation::gtu) return a > b;
  if constexpr (Relation == relation::ge || Relation == relation::geu) return a >= b;
  return Relation == relation::num;
}

template <relation Relation, class T>
bool holds(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return Relation >= relation::equ && Relation != relation::num;
  return ordered<Relation>(a, b);
}

bool combined(bool value, const thread& t, const instruction& i) {
  const auto how = static_cast<combination>(i.variant & combination_bits);
  if (how == combination::none) return value;
  const bool other = get<bool>(t, i.c) != ((i.variant & negated_bit) != 0);
  if (how == combination::conjunction) return value && other;
  if (how == combination::disjunction) return value || other;
  return value != other;
}

template <relation Relation, class T>
bool compare(const thread& t, const instruction& i) {
  T a = get<T>(t, i.a);
  T b = get<T>(t, i.b);
  if constexpr (std::is_same_v<T, float>) {
    if ((i.variant & flush_bit) != 0) {
      a = flushed(a);
      b = flushed(b);
    }
  }
  return holds<Relation>(a, b);
}

template <relation Relation, class T>
const instruction* set_predicate(thread& t, const instruction* i) {
  set(t, i->d, compare<Relation, T>(t, *i));
  return i + 1;
}

/// `setp` with `p|q` or a combination: q is the opposite of the comparison, combined as p is.
template <relation Relation, class T>
const instruction* set_predicates(thread& t, const instruction* i) {
  const bool value = compare<Relation, T>(t, *i);
  const bool first = combined(value, t, *i);
  const bool second = combined(!value, t, *i);
  set(t, i->d, first);
  set(t, i->extra, second);
  return i + 1;
}

/// `set`: all ones or 1.0 for true; `count` says which.
template <relation Relation, class T>
const instruction* set_value(thread& t, const instruction* i) {
  const bool value = combined(compare<Relation, T>(t, *i), t, *i);
  if (i->count != 0)
    set(t, i->d, value ? 1.0F : 0.0F);
  else
    set(t, i->d, value ? ~std::uint32_t{0} : 0U);
  return i + 1;
}

enum class form : std::uint8_t { predicate, predicates, value };

template <relation Relation, class T>
handler handler_of(form what) {
  switch (what) {
    case form::predicate:
      return &set_predicate<Relation, T>;
    case form::predicates:
      return &set_predicates<Relation, T>;
    default:
      return &set_value<Relation, T>;
  }
}

template <class T>
handler integer_handler(relation which, form what) {
  using enum relation;
  switch (which) {
    case eq:
      return handler_of<eq, T>(what);
    case ne:
      return handler_of<ne, T>(what);
    case lo:
    case lt:
      return handler_of<lt, T>(what);
    case ls:
    case le:
      return handler_of<le, T>(what);
    case hi:
    case gt:
      return handler_of<gt, T>(what);
    case hs:
    case ge:
      return handler_of<ge, T>(what);
    default:
      return nullptr;
  }
}

template <class T>
handler unordered_handler(relation which, form what) {
  using enum relation;
  switch (which) {
    case equ:
      return handler_of<equ, T>(what);
    case neu:
      return handler_of<neu, T>(what);
    case ltu:
      return handler_of<ltu, T>(what);
    case leu:
      return handler_of<leu, T>(what);
    case gtu:
      return handler_of<gtu, T>(what);
    case geu:
      return handler_of<geu, T>(what);
    case num:
      return handler_of<num, T>(what);
    default:
      return handler_of<nan, T>(what);
  }
}

template <class T>
handler typed_handler(relation which, form what) {
  if constexpr (std::is_floating_point_v<T>)
    if (which >= relation::equ) return unordered_handler<T>(which, what);
  return integer_handler<T>(which, what);
}

handler comparison(scalar type, relation which, form what) {
  const auto make = [which, what]<class T>() { return typed_handler<T>(which, what); };
  // Bits have no order.
  if (const handler found = for_bits(type, make)) return which <= relation::ne ? found : nullptr;
  if (const handler found = for_float(type, make))
    return which < relation::lo || which > relation::hs ? found : nullptr;
  return for_integer(type, make);
}

relation take_relation(decoding& d) {
  for (std::size_t k = 0; k < relation_names.size(); ++k)
    if (d.take(relation_names[k])) return static_cast<relation>(k);
  d.unsupported();
}

std::uint8_t take_combination(decoding& d) {
  for (std::uint8_t k = 1; k < combination_names.size(); ++k)
    if (d.take(combination_names[k])) return k;
  return 0;
}

void set_sources(decoding& d, instruction& result, scalar type) {
  const bool combines = (result.variant & combination_bits) != 0;
  d.expect_operands(combines ? 4 : 3);
  result.a = d.source(1, type);
  result.b = d.source(2, type);
  bool negated = false;
  if (combines) result.c = d.predicate(3, negated);
  if (negated) result.variant |= negated_bit;
}

instruction decode_set_predicate(decoding& d) {
  instruction result;
  const relation which = take_relation(d);
  result.variant = take_combination(d);
  if (d.take("ftz")) result.variant |= flush_bit;
  const scalar type = d.take_type();
  set_sources(d, result, type);
  const bool pair = d.operand(0).kind == syntax::operand_kind::pair;
  const bool simple = !pair && (result.variant & combination_bits) == 0;
  result.run = comparison(type, which, simple ? form::predicate : form::predicates);
  if (result.run == nullptr) d.unsupported();
  result.d = d.destination(pair ? d.operand(0).parts[0] : d.operand(0));
  result.extra = pair ? d.destination(d.operand(0).parts[1]) : d.into().sink();
  return result;
}

instruction decode_set(decoding& d) {
  instruction result;
  const relation which = take_relation(d);
  result.variant = take_combination(d);
  if (d.take("ftz")) result.variant |= flush_bit;
  const scalar to = d.take_type();
  const scalar type = d.take_type();
  if (to != scalar::u32 && to != scalar::s32 && to != scalar::f32) d.unsupported();
  set_sources(d, result, type);
  result.run = comparison(type, which, form::value);
  if (result.run == nullptr) d.unsupported();
  result.d = d.destination(0);
  result.count = to == scalar::f32 ? 1 : 0;
  return result;
}

const instruction* select(thread& t, const instruction* i) {
  t.slots[i->d] = get<bool>(t, i->c) ? t.slots[i->a] : t.slots[i->b];
  return i + 1;
}

instruction decode_select(decoding& d) {
  const scalar type = d.take_type();
  d.expect_operands(4);
  instruction result;
  result.run = &select;
  result.d = d.destination(0);
  result.a = d.source(1, type);
  result.b = d.source(2, type);
  result.c = d.source(3, scalar::pred);
  return result;
}

/// `slct`: a where c is not negative; NaN counts as negative.
template <class Sign>
const instruction* select_by_sign(thread& t, const instruction* i) {
  t.slots[i->d] = get<Sign>(t, i->c) >= 0 ? t.slots[i->a] : t.slots[i->b];
  return i + 1;
}

instruction decode_select_by_sign(decoding& d) {
  const scalar type = d.take_type();
  const scalar sign = d.take_type();
  if (sign != scalar::s32 && sign != scalar::f32) d.unsupported();
  d.expect_operands(4);
  instruction result;
  result.run = sign == scalar::s32 ? &select_by_sign<std::int32_t> : &select_by_sign<float>;
  result.d = d.destination(0);
  result.a = d.source(1, type);
  result.b = d.source(2, type);
  result.c = d.source(3, sign);
  return result;
}

constexpr std::array<instruction_row, 4> rows{{
    {"setp", decode_set_predicate},
    {"set", decode_set},
    {"selp", decode_select},
    {"slct", decode_select_by_sign},
}};

}  // namespace

std::span<const instruction_row> compare_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
