// SPDX-License-Identifier: Apache-2.0
#include "ptx/parse_variable.hpp"

#include <bit>
#include <limits>
#include <string>

namespace cugraft_sim::ptx {
namespace {

constexpr std::size_t most_parameter_bytes = 64 * 1024;

scalar parse_type(cursor& at) {
  const token& name = at.peek();
  if (name.kind != token_kind::word || name.text.front() != '.') at.fail("expected a type");
  const std::optional<scalar> type = find_scalar(name.text.substr(1));
  if (!type) at.unsupported("type", name.text);
  at.next();
  return *type;
}

std::size_t parse_alignment(cursor& at) {
  const std::uint64_t alignment = at.expect_integer();
  if (!std::has_single_bit(alignment) || alignment > 4096) at.fail("not an alignment");
  return alignment;
}

/// How many elements the brackets after a name say: 0 for `[]`, and nothing without brackets.
std::optional<std::size_t> parse_extent(cursor& at) {
  std::optional<std::size_t> count;
  while (at.accept('[')) {
    const std::size_t extent = at.peek().is(']') ? 0 : at.expect_integer();
    at.expect(']');
    count = count.value_or(1) * extent;
    if (*count > std::numeric_limits<std::uint32_t>::max()) at.fail("an array beyond 4 GiB");
  }
  return count;
}

syntax::initial_value parse_number(cursor& at) {
  syntax::initial_value result;
  const bool negative = at.accept('-');
  const token& number = at.next();
  result.is_real32 = number.kind == token_kind::real32;
  result.is_real = result.is_real32 || number.kind == token_kind::real;
  if (!result.is_real && number.kind != token_kind::integer) at.fail("expected an initial value");
  const std::uint64_t sign = result.is_real32 ? 0x80000000U : 0x8000000000000000U;
  const std::uint64_t bits = number.value;
  result.value = static_cast<std::int64_t>(!negative        ? bits
                                           : result.is_real ? bits ^ sign
                                                            : 0 - bits);
  return result;
}

syntax::initial_value parse_value(cursor& at) {
  if (at.peek().kind != token_kind::word) return parse_number(at);
  syntax::initial_value result;
  result.generic = at.peek().is("generic") && at.peek(1).is('(');
  if (result.generic) at.next(), at.expect('(');
  result.symbol = at.expect_word();
  if (result.generic) at.expect(')');
  if (at.accept('+')) result.value = at.expect_signed();
  return result;
}

std::vector<syntax::initial_value> parse_values(cursor& at) {
  if (!at.accept('{')) return {parse_value(at)};
  std::vector<syntax::initial_value> result;
  if (at.accept('}')) return result;
  do {
    result.push_back(parse_value(at));
  } while (at.accept(','));
  at.expect('}');
  return result;
}

void skip_attribute(cursor& at) {
  for (at.expect('('); !at.peek().is(')'); at.next())
    if (at.at_end()) at.fail("an attribute has no end");
  at.expect(')');
}

/// What stands between the state space and the type: `.align 8`, `.ptr .global`, `.v2`.
unsigned parse_qualifiers(cursor& at, syntax::variable& result) {
  unsigned lanes = 1;
  bool of_pointer = false;
  for (;;) {
    if (at.accept(".align")) {
      const std::size_t alignment = parse_alignment(at);
      if (!of_pointer) result.alignment = alignment;
    } else if (at.accept(".attribute")) {
      skip_attribute(at);
    } else if (at.accept(".v2")) {
      lanes = 2;
    } else if (at.accept(".v4")) {
      lanes = 4;
    } else if (at.accept(".ptr")) {
      of_pointer = true;  // an alignment that follows is that of what the parameter points to
    } else if (!of_pointer || !find_space(at.peek().text)) {
      return lanes;
    } else {
      at.next();
    }
  }
}

}  // namespace

std::optional<space> find_space(std::string_view directive) noexcept {
  if (directive == ".global") return space::global;
  if (directive == ".const") return space::constant;
  if (directive == ".shared") return space::shared;
  if (directive == ".local") return space::local;
  if (directive == ".param") return space::param;
  return std::nullopt;
}

syntax::variable parse_variable(cursor& at, space where, bool external) {
  syntax::variable result;
  result.where = where;
  result.external = external;
  result.line = at.line();
  result.alignment = 0;
  unsigned lanes = parse_qualifiers(at, result);
  result.type = parse_type(at);
  // `.param .u64 .ptr .align 1 name`: what follows the type describes what is pointed to.
  lanes *= parse_qualifiers(at, result);
  const std::size_t element = size_of(result.type) * lanes;
  if (result.alignment == 0) result.alignment = element;
  result.name = at.expect_word();
  const std::optional<std::size_t> extent = parse_extent(at);
  if (at.accept('=')) result.values = parse_values(at);
  result.size = element * extent.value_or(1);
  if (extent == 0U) result.size = size_of(result.type) * result.values.size();
  if (where == space::param && result.size > most_parameter_bytes)
    at.fail("a parameter beyond 64 KiB");
  if (result.values.size() * size_of(result.type) > result.size) at.fail("too many initial values");
  return result;
}

std::vector<syntax::variable> parse_parameters(cursor& at) {
  std::vector<syntax::variable> result;
  if (!at.accept('(') || at.accept(')')) return result;
  do {
    const std::string_view where = at.expect_word();
    if (where != ".param") at.unsupported("parameter space", where);
    result.push_back(parse_variable(at, space::param, false));
  } while (at.accept(','));
  at.expect(')');
  return result;
}

std::vector<syntax::registers> parse_registers(cursor& at) {
  std::vector<syntax::registers> result;
  const scalar type = parse_type(at);
  do {
    syntax::registers next{at.expect_word(), type, 0};
    if (at.accept('<')) {
      next.count = static_cast<unsigned>(at.expect_integer());
      at.expect('>');
      if (next.count > 1'000'000) at.fail("more than a million registers");
    }
    result.push_back(next);
  } while (at.accept(','));
  at.expect(';');
  return result;
}

}  // namespace cugraft_sim::ptx
