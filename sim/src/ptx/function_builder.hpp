// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/program.hpp"
#include "ptx/syntax.hpp"

namespace cugraft_sim::ptx {

/// What a name in a body stands for.
struct symbol {
  enum class kind : std::uint8_t { reg, variable, parameter } what = kind::reg;
  scalar type = scalar::b32;
  std::uint32_t slot = no_slot;  ///< of a register, once it is used
  space where = space::generic;  ///< of a variable
  std::uint64_t offset = 0;      ///< in its space; the index of a shared variable
  std::size_t size = 0;          ///< of a parameter
  bool of_kernel = false;        ///< a parameter of an entry: in the launch's parameter buffer
};

/// Names of the module that bodies may use.
struct module_symbols {
  std::unordered_map<std::string_view, symbol> variables;
  std::unordered_map<std::string_view, std::uint32_t> functions;
  const std::vector<syntax::function>* declarations = nullptr;
};

/// Collects the frame of one function: names in scope, slots, constants and parameter area.
class function_builder {
 public:
  function_builder(program& into, const module_symbols& names, std::uint32_t index);

  function& body() noexcept { return body_; }
  program& whole() noexcept { return program_; }
  const module_symbols& names() const noexcept { return names_; }

  void open_scope(unsigned id) { scopes_.push_back({id, {}, {}}); }
  void close_scope() { scopes_.pop_back(); }

  void declare(const syntax::registers& what, unsigned line);
  void declare(const syntax::variable& what);
  void declare_formals(const syntax::function& what);

  /// Labels are found before the instructions are decoded, so they know the scope they are in.
  void declare_label(std::string_view name, std::uint32_t target, unsigned line);
  std::optional<std::uint32_t> find_label(std::string_view name) const;

  /// `name` is the label before the directive.
  void declare_targets(std::string_view name, const syntax::branch_targets& what);
  const syntax::branch_targets* find_targets(std::string_view name) const;

  /// The symbol of this name in the innermost scope that has one, or null.
  const symbol* find(std::string_view name);

  /// The slot of the register of this name, which is in scope.
  std::uint32_t slot_of(std::string_view reg);
  std::uint32_t constant(std::uint64_t bits);
  std::uint32_t address(const symbol& variable, std::int64_t addend);
  std::uint32_t special_register(special what);

  /// A slot that nothing reads, for the destination `_`.
  std::uint32_t sink();

 private:
  struct register_range {
    scalar type = scalar::b32;
    unsigned count = 0;
  };

  struct scope {
    unsigned id = 0;
    std::unordered_map<std::string_view, symbol> symbols;
    std::unordered_map<std::string_view, register_range> ranges;  ///< `%r<100>`, by "%r"
  };

  symbol* find_in_scopes(std::string_view name);

  /// The register of a range, which becomes a symbol of its own when it is first named.
  static symbol* find_numbered(scope& within, std::string_view name);

  std::uint32_t new_slot(std::uint64_t initial);
  symbol parameter_symbol(const syntax::variable& what, std::size_t& area);
  void add(std::string_view name, const symbol& what, unsigned line);

  program& program_;
  const module_symbols& names_;
  function& body_;
  std::vector<scope> scopes_;
  std::map<std::pair<unsigned, std::string_view>, std::uint32_t> labels_;
  std::map<std::string_view, const syntax::branch_targets*> targets_;
  std::unordered_map<std::uint64_t, std::uint32_t> constants_;
  std::map<special, std::uint32_t> specials_;
  std::uint32_t sink_ = no_slot;
};

}  // namespace cugraft_sim::ptx
