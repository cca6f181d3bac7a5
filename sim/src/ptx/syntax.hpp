// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptx/module.hpp"
#include "ptx/types.hpp"

// PTX as it was written: what the parser makes and the decoder reads. Names point into the text.
namespace cugraft_sim::ptx::syntax {

/// One value of an initialiser: bits of a number, or the address of a variable plus `value`.
struct initial_value {
  std::string_view symbol;
  bool generic = false;  ///< `generic(symbol)`
  bool is_real = false;  ///< `value` holds the bits of a double or, for `is_real32`, of a float
  bool is_real32 = false;
  std::int64_t value = 0;
};

/// A variable or parameter.
struct variable {
  std::string_view name;
  space where = space::global;
  scalar type = scalar::b8;
  std::size_t alignment = 1;
  std::size_t size = 0;  ///< in bytes; zero for `extern .shared name[]`
  bool external = false;
  std::vector<initial_value> values;
  unsigned line = 0;
};

/// `.reg .b32 %r<4>`: `count` registers with numbered names, or one where `count` is zero.
struct registers {
  std::string_view name;
  scalar type = scalar::b32;
  unsigned count = 0;
};

enum class operand_kind : std::uint8_t {
  name,     ///< register, special register, variable, label or function
  integer,  ///< `value`
  real,     ///< bits of a double in `value`
  real32,   ///< bits of a float in `value`
  address,  ///< `[name + value]`; `name` empty for an absolute address
  group,    ///< `{a, b}`
  pair,     ///< `a | b`
  list,     ///< `(a, b)` of a call
};

struct operand {
  operand_kind kind = operand_kind::name;
  bool negated = false;  ///< `!p`
  std::string_view name;
  std::int64_t value = 0;
  std::vector<operand> parts;
};

struct guard {
  std::string_view name;
  bool negated = false;
};

struct instruction {
  std::string_view opcode;
  std::optional<syntax::guard> guard;
  std::vector<operand> operands;
};

struct label {
  std::string_view name;
};

/// `.branchtargets a, b;`: the labels that a branch by index may go to.
struct branch_targets {
  std::vector<std::string_view> labels;
};

/// `{` and `}` within a body: names declared between them end there.
enum class scope : std::uint8_t { open, close };

/// A statement of a body.
struct statement {
  unsigned line = 0;
  std::variant<instruction, label, branch_targets, scope, registers, variable> what;
};

/// An `.entry` or a `.func`.
struct function {
  std::string_view name;
  unsigned line = 0;
  bool is_entry = false;
  bool has_body = false;
  std::vector<variable> results;  ///< return parameters of a `.func`
  std::vector<variable> parameters;
  std::optional<dimensions> max_threads;
  std::optional<dimensions> required_threads;
  std::optional<dimensions> required_cluster;
  bool explicit_cluster = false;
  std::vector<statement> body;
};

/// A whole text.
struct source {
  unsigned version = 0;
  unsigned target = 0;
  std::vector<variable> variables;
  std::vector<function> functions;
};

}  // namespace cugraft_sim::ptx::syntax
