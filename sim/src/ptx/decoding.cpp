// SPDX-License-Identifier: Apache-2.0
#include "ptx/decoding.hpp"

#include <algorithm>
#include <bit>

#include "ptx/error.hpp"
#include "ptx/specials.hpp"

namespace cugraft_sim::ptx {

decoding::decoding(function_builder& into, const syntax::instruction& what, unsigned line,
                   std::uint32_t index)
    : into_(into), what_(what), line_(line), index_(index) {
  std::string_view rest = what.opcode;
  name_ = rest.substr(0, rest.find('.'));
  while (rest.find('.') != std::string_view::npos) {
    rest.remove_prefix(rest.find('.') + 1);
    modifiers_.push_back(rest.substr(0, rest.find('.')));
  }
}

bool decoding::has(std::string_view modifier) const {
  return std::find(modifiers_.begin(), modifiers_.end(), modifier) != modifiers_.end();
}

bool decoding::take(std::string_view modifier) {
  const auto found = std::find(modifiers_.begin(), modifiers_.end(), modifier);
  if (found == modifiers_.end()) return false;
  modifiers_.erase(found);
  return true;
}

void decoding::ignore(std::initializer_list<std::string_view> modifiers) {
  for (const std::string_view modifier : modifiers) take(modifier);
}

void decoding::ignore_hints(std::string_view prefix) {
  std::erase_if(modifiers_, [prefix](std::string_view modifier) {
    return modifier.substr(0, prefix.size()) == prefix;
  });
}

scalar decoding::peek_type() const {
  for (const std::string_view modifier : modifiers_)
    if (const std::optional<scalar> type = find_scalar(modifier)) return *type;
  unsupported();
}

scalar decoding::take_type() {
  const scalar result = peek_type();
  modifiers_.erase(std::find_if(modifiers_.begin(), modifiers_.end(), [](std::string_view name) {
    return find_scalar(name).has_value();
  }));
  return result;
}

std::string_view decoding::take_any() {
  if (modifiers_.empty()) unsupported();
  const std::string_view result = modifiers_.front();
  modifiers_.erase(modifiers_.begin());
  return result;
}

void decoding::finish_modifiers() const {
  if (!modifiers_.empty()) unsupported();
}

void decoding::unsupported() const {
  throw load_error(load_failure::unsupported, line_,
                   "unsupported instruction '" + std::string(what_.opcode) + "'");
}

void decoding::wrong(const std::string& what) const {
  throw load_error(load_failure::syntax, line_, "'" + std::string(what_.opcode) + "': " + what);
}

void decoding::expect_operands(std::size_t least, std::size_t most) const {
  finish_modifiers();
  if (operand_count() < least || operand_count() > most)
    wrong("has " + std::to_string(operand_count()) + " operands");
}

std::uint32_t decoding::destination(const syntax::operand& what) {
  if (what.kind != syntax::operand_kind::name || what.negated || what.value != 0)
    wrong("needs a register to write to");
  if (what.name == "_") return into_.sink();
  const symbol* found = into_.find(what.name);
  if (found == nullptr || found->what != symbol::kind::reg)
    wrong("'" + std::string(what.name) + "' is not a register");
  return into_.slot_of(what.name);
}

std::uint32_t decoding::constant(const syntax::operand& what, scalar type) {
  const auto bits = static_cast<std::uint64_t>(what.value);
  if (what.kind == syntax::operand_kind::integer) {
    if (is_float(type)) wrong("an integer where a floating-point number belongs");
    return into_.constant(type == scalar::pred ? std::uint64_t{bits != 0} : bits);
  }
  const bool narrow = what.kind == syntax::operand_kind::real32;
  if (size_of(type) == 4) {
    const auto single = static_cast<float>(std::bit_cast<double>(bits));
    return into_.constant(narrow ? bits : std::bit_cast<std::uint32_t>(single));
  }
  if (size_of(type) != 8 || narrow) wrong("a floating-point number of another size");
  return into_.constant(bits);
}

std::uint32_t decoding::source(const syntax::operand& what, scalar type) {
  using enum syntax::operand_kind;
  if (what.kind == integer || what.kind == real || what.kind == real32) return constant(what, type);
  if (what.kind != name || what.negated) wrong("has an operand of a form that it does not take");
  if (const symbol* found = into_.find(what.name)) {
    if (found->what == symbol::kind::parameter && !found->of_kernel)
      wrong("takes the address of a function's parameter");
    if (found->what != symbol::kind::reg) return into_.address(*found, what.value);
    if (what.value != 0) wrong("adds a displacement to a register");
    return into_.slot_of(what.name);
  }
  if (const std::optional<special> found = find_special(what.name))
    return into_.special_register(*found);
  if (what.name == "WARP_SZ") return into_.constant(32);
  wrong("'" + std::string(what.name) + "' is not declared");
}

std::optional<special> decoding::find_special(std::string_view name) const {
  const std::optional<special> found = special_named(name);
  if (!found && !name.empty() && name.front() == '%' && name.find('.') != std::string_view::npos)
    throw load_error(load_failure::unsupported, line_,
                     "unsupported special register '" + std::string(name) + "'");
  return found;
}

std::uint32_t decoding::predicate(std::size_t index, bool& negated) {
  syntax::operand plain = operand(index);
  negated = plain.negated;
  plain.negated = false;
  return source(plain, scalar::pred);
}

std::uint32_t decoding::destination_list(const syntax::operand& what, std::size_t count) {
  if (what.kind != syntax::operand_kind::group || what.parts.size() != count)
    wrong("needs a group of " + std::to_string(count));
  std::vector<std::uint32_t> slots;
  for (const syntax::operand& part : what.parts) slots.push_back(destination(part));
  std::vector<std::uint32_t>& lists = into_.body().lists;
  lists.insert(lists.end(), slots.begin(), slots.end());
  return static_cast<std::uint32_t>(lists.size() - count);
}

std::uint32_t decoding::source_list(const syntax::operand& what, std::size_t count, scalar type) {
  if (what.kind != syntax::operand_kind::group || what.parts.size() != count)
    wrong("needs a group of " + std::to_string(count));
  std::vector<std::uint32_t> slots;
  for (const syntax::operand& part : what.parts) slots.push_back(source(part, type));
  std::vector<std::uint32_t>& lists = into_.body().lists;
  lists.insert(lists.end(), slots.begin(), slots.end());
  return static_cast<std::uint32_t>(lists.size() - count);
}

void decoding::address(std::size_t index, instruction& result) {
  const syntax::operand& what = operand(index);
  if (what.kind != syntax::operand_kind::address) wrong("needs an address in brackets");
  result.offset = 0;
  if (what.name.empty()) {
    result.a = into_.constant(static_cast<std::uint64_t>(what.value));
    return;
  }
  const symbol* found = into_.find(what.name);
  if (found == nullptr) wrong("'" + std::string(what.name) + "' is not declared");
  if (found->what != symbol::kind::reg) {
    result.a = into_.address(*found, what.value);
  } else {
    result.a = into_.slot_of(what.name);
    result.offset = what.value;
  }
}

std::int64_t decoding::distance(std::string_view label) const {
  const std::optional<std::uint32_t> target = into_.find_label(label);
  if (!target) wrong("there is no label '" + std::string(label) + "'");
  return std::int64_t{*target} - std::int64_t{index_};
}

std::int64_t decoding::branch_offset(std::size_t index) const {
  return distance(operand(index).name);
}

std::vector<std::int64_t> decoding::branch_table(std::size_t index) const {
  const syntax::branch_targets* table = into_.find_targets(operand(index).name);
  if (table == nullptr)
    wrong("there are no branch targets '" + std::string(operand(index).name) + "'");
  std::vector<std::int64_t> result;
  for (const std::string_view label : table->labels) result.push_back(distance(label));
  return result;
}

instruction decoding::simple(handler run, scalar type, std::size_t sources) {
  if (run == nullptr) unsupported();
  expect_operands(sources + 1);
  instruction result;
  result.run = run;
  result.d = destination(0);
  if (sources > 0) result.a = source(1, type);
  if (sources > 1) result.b = source(2, type);
  if (sources > 2) result.c = source(3, type);
  return result;
}

}  // namespace cugraft_sim::ptx
