// SPDX-License-Identifier: Apache-2.0
#include "ptx/parse_body.hpp"

#include <string>
#include <utility>

#include "ptx/instructions.hpp"
#include "ptx/parse_variable.hpp"

namespace cugraft_sim::ptx {
namespace {

std::int64_t parse_displacement(cursor& at) {
  if (at.accept('+')) return at.expect_signed();
  return at.peek().is('-') ? at.expect_signed() : 0;
}

syntax::operand parse_address(cursor& at) {
  syntax::operand result{syntax::operand_kind::address, false, {}, 0, {}};
  if (at.peek().kind == token_kind::word) {
    result.name = at.next().text;
    result.value = parse_displacement(at);
  } else {
    result.value = at.expect_signed();
  }
  at.expect(']');
  return result;
}

syntax::operand parse_number(cursor& at) {
  const bool negative = at.accept('-');
  const token& number = at.next();
  syntax::operand result;
  std::uint64_t bits = number.value;
  if (number.kind == token_kind::integer) {
    result.kind = syntax::operand_kind::integer;
    if (negative) bits = 0 - bits;
  } else if (number.kind == token_kind::real || number.kind == token_kind::real32) {
    const bool narrow = number.kind == token_kind::real32;
    result.kind = narrow ? syntax::operand_kind::real32 : syntax::operand_kind::real;
    if (negative) bits ^= narrow ? 0x80000000U : 0x8000000000000000U;
  } else {
    at.fail("expected an operand, found '" + std::string(number.text) + "'");
  }
  result.value = static_cast<std::int64_t>(bits);
  return result;
}

syntax::operand parse_name(cursor& at) {
  syntax::operand result;
  result.negated = at.accept('!');
  result.name = at.expect_word();
  result.value = parse_displacement(at);
  return result;
}

syntax::operand parse_simple(cursor& at) {
  const bool names = at.peek().kind == token_kind::word || at.peek().is('!');
  return names ? parse_name(at) : parse_number(at);
}

/// What is between `{` or `(` and its end; groups do not nest.
std::vector<syntax::operand> parse_parts(cursor& at, char end) {
  std::vector<syntax::operand> result;
  if (at.accept(end)) return result;
  do {
    result.push_back(parse_simple(at));
  } while (at.accept(','));
  at.expect(end);
  return result;
}

syntax::operand parse_operand(cursor& at) {
  if (at.accept('[')) return parse_address(at);
  if (at.accept('{')) return {syntax::operand_kind::group, false, {}, 0, parse_parts(at, '}')};
  if (at.accept('(')) return {syntax::operand_kind::list, false, {}, 0, parse_parts(at, ')')};
  syntax::operand first = parse_simple(at);
  if (!at.accept('|')) return first;
  syntax::operand second = parse_simple(at);
  return {syntax::operand_kind::pair, false, {}, 0, {std::move(first), std::move(second)}};
}

syntax::instruction parse_instruction(cursor& at) {
  syntax::instruction result;
  if (at.accept('@')) {
    const bool negated = at.accept('!');
    result.guard = syntax::guard{at.expect_word(), negated};
  }
  if (at.peek().kind != token_kind::word) at.fail("expected an instruction");
  // Asked before the operands: those of unknown instructions may have forms of their own.
  if (!knows_instruction(at.peek().text)) at.unsupported("instruction", at.peek().text);
  result.opcode = at.next().text;
  if (at.accept(';')) return result;
  do {
    result.operands.push_back(parse_operand(at));
  } while (at.accept(','));
  at.expect(';');
  return result;
}

syntax::branch_targets parse_branch_targets(cursor& at) {
  syntax::branch_targets result;
  at.next();
  do {
    result.labels.push_back(at.expect_word());
  } while (at.accept(','));
  at.expect(';');
  return result;
}

void add_declaration(cursor& at, std::vector<syntax::statement>& body) {
  const unsigned line = at.line();
  const std::string_view directive = at.peek().text;
  const std::optional<space> where = find_space(directive);
  if (directive == ".loc" || directive == ".file") {
    at.skip_line();
  } else if (directive == ".pragma") {
    while (!at.peek().is(';') && !at.at_end()) at.next();
    at.expect(';');
  } else if (directive == ".branchtargets") {
    body.push_back({line, parse_branch_targets(at)});
  } else if (directive == ".reg") {
    at.next();
    for (const syntax::registers& next : parse_registers(at)) body.push_back({line, next});
  } else if (where) {
    at.next();
    do {
      body.push_back({line, parse_variable(at, *where, false)});
    } while (at.accept(','));
    at.expect(';');
  } else {
    at.unsupported("directive", directive);
  }
}

bool is_directive(const token& next) {
  return next.kind == token_kind::word && next.text.front() == '.';
}

}  // namespace

std::vector<syntax::statement> parse_body(cursor& at) {
  std::vector<syntax::statement> body;
  at.expect('{');
  for (unsigned depth = 1; depth != 0;) {
    const unsigned line = at.line();
    if (at.at_end()) at.fail("a body has no end");
    if (at.accept('{')) {
      ++depth;
      body.push_back({line, syntax::scope::open});
    } else if (at.accept('}')) {
      if (--depth != 0) body.push_back({line, syntax::scope::close});
    } else if (at.accept(';')) {
      continue;
    } else if (is_directive(at.peek())) {
      add_declaration(at, body);
    } else if (at.peek().kind == token_kind::word && at.peek(1).is(':')) {
      body.push_back({line, syntax::label{at.next().text}});
      at.expect(':');
    } else {
      body.push_back({line, parse_instruction(at)});
    }
  }
  return body;
}

}  // namespace cugraft_sim::ptx
