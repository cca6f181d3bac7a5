// SPDX-License-Identifier: Apache-2.0
#include "ptx/globals.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "ptx/align.hpp"
#include "ptx/error.hpp"

namespace cugraft_sim::ptx {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;

[[noreturn]] void fail(load_failure reason, const syntax::variable& what, const std::string& text) {
  throw load_error(reason, what.line, text + " '" + std::string(what.name) + "'");
}

symbol add_global(const syntax::variable& what, program& into) {
  if (what.external) fail(load_failure::unresolved, what, "unresolved external variable");
  symbol result;
  result.what = symbol::kind::variable;
  result.where = what.where;
  result.offset = align_up(into.initial_globals.size(), what.alignment);
  if (result.offset + what.size > most_bytes)
    fail(load_failure::unsupported, what, "unsupported size: more than 1 GiB of globals at");
  into.initial_globals.resize(result.offset + what.size);
  into.globals_alignment = std::max(into.globals_alignment, what.alignment);
  into.variables.push_back(
      {std::string(what.name), result.offset, what.size, what.where == space::constant});
  return result;
}

symbol add_shared(const syntax::variable& what, program& into) {
  symbol result;
  result.what = symbol::kind::variable;
  result.where = space::shared;
  result.offset = into.shared.size();
  into.shared.push_back({std::string(what.name), what.size, what.alignment, what.external});
  return result;
}

/// The bits of an initial value in the variable's own type.
std::uint64_t bits_of(const syntax::initial_value& value, const syntax::variable& of) {
  const auto bits = static_cast<std::uint64_t>(value.value);
  if (!value.is_real) return bits;
  const std::size_t size = size_of(of.type);
  if (value.is_real32 ? size != 4 : size != 8 && size != 4)
    fail(load_failure::syntax, of, "an initial value of another size for");
  if (value.is_real32 || size == 8) return bits;
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
}

void write_address(const syntax::initial_value& value, const syntax::variable& of, std::size_t at,
                   program& into, const module_symbols& names) {
  const auto found = names.variables.find(value.symbol);
  if (found == names.variables.end() || size_of(of.type) != 8 ||
      (found->second.where != space::global && found->second.where != space::constant))
    throw load_error(load_failure::unsupported, of.line,
                     "unsupported initial value '" + std::string(value.symbol) + "'");
  into.addresses.push_back({at, found->second.offset + static_cast<std::uint64_t>(value.value)});
}

void write_values(const syntax::variable& what, program& into, const module_symbols& names) {
  const std::size_t size = size_of(what.type);
  std::size_t at = names.variables.at(what.name).offset;
  for (const syntax::initial_value& value : what.values) {
    if (!value.symbol.empty()) {
      write_address(value, what, at, into, names);
    } else {
      const std::uint64_t bits = bits_of(value, what);
      std::memcpy(into.initial_globals.data() + at, &bits, size);
    }
    at += size;
  }
}

}  // namespace

void lay_out_globals(const syntax::source& what, program& into, module_symbols& names) {
  for (const syntax::variable& next : what.variables) {
    if (next.where == space::local || next.where == space::param)
      fail(load_failure::unsupported, next, "unsupported local variable of the module");
    const symbol added =
        next.where == space::shared ? add_shared(next, into) : add_global(next, into);
    if (!names.variables.emplace(next.name, added).second)
      fail(load_failure::syntax, next, "declared twice:");
  }
  for (const syntax::variable& next : what.variables)
    if (next.where != space::shared) write_values(next, into, names);
}

}  // namespace cugraft_sim::ptx
