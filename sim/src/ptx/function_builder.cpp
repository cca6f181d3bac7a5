// SPDX-License-Identifier: Apache-2.0
#include "ptx/function_builder.hpp"

#include <charconv>
#include <system_error>
#include <utility>

#include "ptx/align.hpp"
#include "ptx/error.hpp"

namespace cugraft_sim::ptx {

function_builder::function_builder(program& into, const module_symbols& names, std::uint32_t index)
    : program_(into), names_(names), body_(into.functions[index]) {}

void function_builder::add(std::string_view name, const symbol& what, unsigned line) {
  scope& inner = scopes_.back();
  if (find_numbered(inner, name) != nullptr || !inner.symbols.emplace(name, what).second)
    throw load_error(load_failure::syntax, line, "'" + std::string(name) + "' is declared twice");
}

void function_builder::declare(const syntax::registers& what, unsigned line) {
  if (what.count != 0) {
    scopes_.back().ranges[what.name] = {what.type, what.count};
    return;
  }
  symbol reg;
  reg.type = what.type;
  add(what.name, reg, line);
}

symbol* function_builder::find_numbered(scope& within, std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const auto range = within.ranges.find(name.substr(0, digits));
  unsigned number = 0;
  if (range == within.ranges.end() || digits == name.size() ||
      std::from_chars(name.data() + digits, name.data() + name.size(), number).ec != std::errc() ||
      number >= range->second.count)
    return nullptr;
  symbol reg;
  reg.type = range->second.type;
  return &within.symbols.emplace(name, reg).first->second;
}

void function_builder::declare(const syntax::variable& what) {
  symbol variable;
  variable.what = symbol::kind::variable;
  variable.where = what.where;
  if (what.where == space::param) {
    variable = parameter_symbol(what, body_.parameter_bytes);
  } else if (what.where == space::local) {
    variable.offset = align_up(body_.local_bytes, what.alignment);
    body_.local_bytes = variable.offset + what.size;
  } else if (what.where == space::shared) {
    variable.offset = program_.shared.size();
    program_.shared.push_back({std::string(what.name), what.size, what.alignment, false});
  } else {
    throw load_error(load_failure::unsupported, what.line,
                     "unsupported directive: a variable of the module within a function");
  }
  add(what.name, variable, what.line);
}

symbol function_builder::parameter_symbol(const syntax::variable& what, std::size_t& area) {
  symbol result;
  result.what = symbol::kind::parameter;
  result.where = space::param;
  result.offset = align_up(area, what.alignment);
  result.size = what.size;
  area = result.offset + what.size;
  return result;
}

void function_builder::declare_formals(const syntax::function& what) {
  std::size_t kernel_bytes = 0;
  std::size_t& area = what.is_entry ? kernel_bytes : body_.parameter_bytes;
  const auto declare_all = [&](const std::vector<syntax::variable>& from,
                               std::vector<parameter_span>& to) {
    for (const syntax::variable& next : from) {
      symbol formal = parameter_symbol(next, area);
      formal.of_kernel = what.is_entry;
      add(next.name, formal, next.line);
      to.push_back({formal.offset, formal.size});
    }
  };
  declare_all(what.parameters, body_.parameters);
  declare_all(what.results, body_.results);
}

void function_builder::declare_label(std::string_view name, std::uint32_t target, unsigned line) {
  if (!labels_.emplace(std::pair(scopes_.back().id, name), target).second)
    throw load_error(load_failure::syntax, line, "'" + std::string(name) + "' is declared twice");
}

std::optional<std::uint32_t> function_builder::find_label(std::string_view name) const {
  for (auto next = scopes_.rbegin(); next != scopes_.rend(); ++next)
    if (const auto found = labels_.find({next->id, name}); found != labels_.end())
      return found->second;
  return std::nullopt;
}

void function_builder::declare_targets(std::string_view name, const syntax::branch_targets& what) {
  targets_[name] = &what;
}

const syntax::branch_targets* function_builder::find_targets(std::string_view name) const {
  const auto found = targets_.find(name);
  return found != targets_.end() ? found->second : nullptr;
}

symbol* function_builder::find_in_scopes(std::string_view name) {
  for (auto next = scopes_.rbegin(); next != scopes_.rend(); ++next) {
    if (const auto found = next->symbols.find(name); found != next->symbols.end())
      return &found->second;
    if (symbol* found = find_numbered(*next, name)) return found;
  }
  return nullptr;
}

const symbol* function_builder::find(std::string_view name) {
  if (const symbol* found = find_in_scopes(name)) return found;
  const auto found = names_.variables.find(name);
  return found != names_.variables.end() ? &found->second : nullptr;
}

std::uint32_t function_builder::new_slot(std::uint64_t initial) {
  body_.image.push_back(initial);
  return static_cast<std::uint32_t>(body_.image.size() - 1);
}

std::uint32_t function_builder::slot_of(std::string_view reg) {
  symbol& found = *find_in_scopes(reg);
  if (found.slot == no_slot) found.slot = new_slot(0);
  return found.slot;
}

std::uint32_t function_builder::constant(std::uint64_t bits) {
  const auto found = constants_.find(bits);
  if (found != constants_.end()) return found->second;
  return constants_[bits] = new_slot(bits);
}

std::uint32_t function_builder::address(const symbol& variable, std::int64_t addend) {
  const auto displacement = static_cast<std::uint64_t>(addend);
  if (variable.what == symbol::kind::parameter) return constant(variable.offset + displacement);
  const std::uint32_t slot = new_slot(0);
  if (variable.where == space::local)
    body_.locals.push_back({slot, variable.offset + displacement});
  else
    body_.symbols.push_back({slot, variable.where, variable.offset, addend});
  return slot;
}

std::uint32_t function_builder::special_register(special what) {
  const auto found = specials_.find(what);
  if (found != specials_.end()) return found->second;
  const std::uint32_t slot = new_slot(0);
  body_.specials.push_back({slot, what});
  return specials_[what] = slot;
}

std::uint32_t function_builder::sink() {
  if (sink_ == no_slot) sink_ = new_slot(0);
  return sink_;
}

}  // namespace cugraft_sim::ptx
