// SPDX-License-Identifier: Apache-2.0
#include "ptx/module.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ptx/align.hpp"
#include "ptx/decode.hpp"
#include "ptx/globals.hpp"
#include "ptx/parser.hpp"
#include "ptx/program.hpp"

namespace cugraft_sim::ptx {
namespace {

/// A function may be declared before it is defined; calls go to the definition.
std::vector<syntax::function> with_one_of_each(std::vector<syntax::function> all,
                                               module_symbols& names) {
  std::vector<syntax::function> result;
  for (syntax::function& next : all) {
    const auto [found, is_new] =
        names.functions.emplace(next.name, static_cast<std::uint32_t>(result.size()));
    if (is_new) {
      result.push_back(std::move(next));
    } else if (next.has_body) {
      syntax::function& before = result[found->second];
      if (before.has_body)
        throw load_error(load_failure::syntax, next.line,
                         "'" + std::string(next.name) + "' is defined twice");
      before = std::move(next);
    }
  }
  return result;
}

/// Functions that `kernel` may run, its own first.
std::vector<std::uint32_t> reachable(const program& code, std::uint32_t own) {
  std::vector<std::uint32_t> result{own};
  for (std::size_t k = 0; k < result.size(); ++k)
    for (const call_site& site : code.functions[result[k]].calls)
      if (site.external == nullptr &&
          std::find(result.begin(), result.end(), site.function) == result.end())
        result.push_back(site.function);
  return result;
}

std::vector<bool> shared_in_use(const program& code, const kernel& of) {
  std::vector<bool> result(code.shared.size());
  for (const std::uint32_t index : of.functions)
    for (const symbol_slot& next : code.functions[index].symbols)
      if (next.where == space::shared) result[next.variable] = true;
  return result;
}

/// Static variables first; all dynamic ones begin at the same place after them.
void lay_out_shared(const program& code, kernel& of, entry& info) {
  const std::vector<bool> in_use = shared_in_use(code, of);
  std::size_t dynamic_alignment = 1;
  of.shared_offsets.resize(code.shared.size());
  for (std::size_t k = 0; k < code.shared.size(); ++k) {
    const shared_variable& next = code.shared[k];
    if (!in_use[k]) continue;
    if (next.is_dynamic) {
      dynamic_alignment = std::max(dynamic_alignment, next.alignment);
    } else {
      of.shared_offsets[k] = align_up(info.static_shared_bytes, next.alignment);
      info.static_shared_bytes = of.shared_offsets[k] + next.size;
    }
  }
  of.dynamic_offset = align_up(info.static_shared_bytes, dynamic_alignment);
  for (std::size_t k = 0; k < code.shared.size(); ++k)
    if (code.shared[k].is_dynamic) of.shared_offsets[k] = of.dynamic_offset;
}

entry describe(const syntax::function& what) {
  entry result;
  result.name = what.name;
  for (const syntax::variable& next : what.parameters) {
    const std::size_t offset = align_up(result.parameter_bytes, next.alignment);
    result.parameters.push_back({offset, next.size, next.alignment});
    result.parameter_bytes = offset + next.size;
  }
  result.max_threads = what.max_threads;
  result.required_threads = what.required_threads;
  result.required_cluster = what.required_cluster;
  result.explicit_cluster = what.explicit_cluster;
  return result;
}

void add_entry(const syntax::function& what, std::uint32_t index, program& into) {
  entry info = describe(what);
  kernel code;
  code.functions = reachable(into, index);
  info.local_bytes = into.functions[index].local_bytes;
  info.index = into.entries.size();
  lay_out_shared(into, code, info);
  into.entries.push_back(std::move(info));
  into.kernels.push_back(std::move(code));
}

void build(program& into) {
  const syntax::source source = parse(into.text);
  into.version = source.version;
  into.target = source.target;
  module_symbols names;
  const std::vector<syntax::function> functions = with_one_of_each(source.functions, names);
  names.declarations = &functions;
  lay_out_globals(source, into, names);
  into.functions.resize(functions.size());
  for (std::uint32_t k = 0; k < functions.size(); ++k)
    if (functions[k].has_body) decode_function(into, names, functions[k], k);
  for (std::uint32_t k = 0; k < functions.size(); ++k)
    if (functions[k].is_entry && functions[k].has_body) add_entry(functions[k], k, into);
}

template <class Items>
const typename Items::value_type* find_named(const Items& items, std::string_view name) noexcept {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [name](const auto& item) { return item.name == name; });
  return found != items.end() ? &*found : nullptr;
}

}  // namespace

std::shared_ptr<const ptx_module> ptx_module::load(std::string_view text, hook_table hooks) {
  auto code = std::make_unique<program>();
  code->text = text.substr(0, text.find('\0'));
  code->hooks = std::move(hooks);
  build(*code);
  return std::shared_ptr<const ptx_module>(new ptx_module(std::move(code)));
}

ptx_module::ptx_module(std::unique_ptr<const program> code) : program_(std::move(code)) {}

ptx_module::~ptx_module() = default;

unsigned ptx_module::version() const noexcept { return program_->version; }

unsigned ptx_module::target() const noexcept { return program_->target; }

std::span<const entry> ptx_module::entries() const noexcept { return program_->entries; }

const entry* ptx_module::find_entry(std::string_view name) const noexcept {
  return find_named(program_->entries, name);
}

std::span<const global_variable> ptx_module::variables() const noexcept {
  return program_->variables;
}

const global_variable* ptx_module::find_variable(std::string_view name) const noexcept {
  return find_named(program_->variables, name);
}

std::size_t ptx_module::globals_size() const noexcept { return program_->initial_globals.size(); }

std::size_t ptx_module::globals_alignment() const noexcept { return program_->globals_alignment; }

void ptx_module::initialise_globals(std::byte* block) const {
  if (globals_size() == 0) return;
  std::memcpy(block, program_->initial_globals.data(), globals_size());
  for (const address_value& next : program_->addresses) {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(block) + next.target;
    std::memcpy(block + next.at, &address, sizeof address);
  }
}

}  // namespace cugraft_sim::ptx
