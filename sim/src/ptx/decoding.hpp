// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/function_builder.hpp"
#include "ptx/program.hpp"
#include "ptx/syntax.hpp"

namespace cugraft_sim::ptx {

/// One instruction while it is decoded: hands out its modifiers and operands, and knows how to
/// refuse it.
class decoding {
 public:
  decoding(function_builder& into, const syntax::instruction& what, unsigned line,
           std::uint32_t index);

  /// The first part of the opcode.
  std::string_view name() const noexcept { return name_; }
  unsigned line() const noexcept { return line_; }

  bool has(std::string_view modifier) const;

  /// Takes the modifier if it is there. Those that nobody took make the instruction unsupported.
  bool take(std::string_view modifier);

  /// Takes all of these that are there: modifiers that make no difference to the interpreter.
  void ignore(std::initializer_list<std::string_view> modifiers);

  /// As `ignore`, for the hints that start with `prefix` ("L1::").
  void ignore_hints(std::string_view prefix);

  /// The first modifier that names a type.
  scalar peek_type() const;

  /// Takes the first modifier that names a type.
  scalar take_type();

  /// Takes the first modifier, whatever it is.
  std::string_view take_any();

  /// Refuses the instruction if a modifier is left.
  void finish_modifiers() const;

  /// Refuses the instruction as one that the interpreter lacks.
  [[noreturn]] void unsupported() const;

  /// Refuses the instruction as wrong.
  [[noreturn]] void wrong(const std::string& what) const;

  /// Refuses the instruction unless it has between `least` and `most` operands.
  void expect_operands(std::size_t least, std::size_t most) const;
  void expect_operands(std::size_t count) const { expect_operands(count, count); }

  std::size_t operand_count() const noexcept { return what_.operands.size(); }
  const syntax::operand& operand(std::size_t index) const { return what_.operands[index]; }

  /// Slot of the register at `index`, which the instruction writes.
  std::uint32_t destination(std::size_t index) { return destination(operand(index)); }
  std::uint32_t destination(const syntax::operand& what);

  /// Slot of the register, constant, address or special register at `index`, read as a `type`.
  std::uint32_t source(std::size_t index, scalar type) { return source(operand(index), type); }
  std::uint32_t source(const syntax::operand& what, scalar type);

  /// Slot of the predicate at `index`, which may be negated: `!p`.
  std::uint32_t predicate(std::size_t index, bool& negated);

  /// Slots of the group `{a, b}`, in the function's lists.
  std::uint32_t destination_list(const syntax::operand& what, std::size_t count);
  std::uint32_t source_list(const syntax::operand& what, std::size_t count, scalar type);

  /// Sets the slot of the base and the displacement of the address at `index`.
  void address(std::size_t index, instruction& result);

  /// How far from this instruction the label at `index` is.
  std::int64_t branch_offset(std::size_t index) const;

  /// How far the labels of the `.branchtargets` at `index` are.
  std::vector<std::int64_t> branch_table(std::size_t index) const;

  /// A result with a handler and the destination and sources that all simple forms have.
  instruction simple(handler run, scalar type, std::size_t sources);

  function_builder& into() noexcept { return into_; }

 private:
  std::uint32_t constant(const syntax::operand& what, scalar type);
  std::int64_t distance(std::string_view label) const;
  std::optional<special> find_special(std::string_view name) const;

  function_builder& into_;
  const syntax::instruction& what_;
  unsigned line_;
  std::uint32_t index_;
  std::string_view name_;
  std::vector<std::string_view> modifiers_;
};

}  // namespace cugraft_sim::ptx
