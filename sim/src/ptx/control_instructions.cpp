// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "ptx/calls.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// Branches, calls, and the ends of a thread.
namespace cugraft_sim::ptx {
namespace {

/// Other threads get a turn after this many backward branches, as one may wait for another.
const instruction* branch(thread& t, const instruction* i) {
  const instruction* target = i + i->offset;
  if (i->offset > 0 || --t.fuel != 0) return target;
  t.next = target;
  return nullptr;
}

instruction decode_branch(decoding& d) {
  d.ignore({"uni"});
  d.expect_operands(1);
  instruction result;
  result.run = &branch;
  result.offset = d.branch_offset(0);
  return result;
}

const instruction* branch_indexed(thread& t, const instruction* i) {
  const auto index = get<std::uint32_t>(t, i->a);
  if (index >= i->count)
    return fail(t, i, outcome::trap,
                "branches by index " + std::to_string(index) + " of " + std::to_string(i->count));
  return i + static_cast<std::int32_t>(t.body->lists[i->extra + index]);
}

instruction decode_branch_indexed(decoding& d) {
  if (!d.take("idx")) d.unsupported();
  d.ignore({"uni"});
  d.expect_operands(2);
  instruction result;
  result.run = &branch_indexed;
  result.a = d.source(0, scalar::u32);
  const std::vector<std::int64_t> offsets = d.branch_table(1);
  std::vector<std::uint32_t>& lists = d.into().body().lists;
  result.extra = static_cast<std::uint32_t>(lists.size());
  result.count = static_cast<std::uint16_t>(offsets.size());
  for (const std::int64_t offset : offsets) lists.push_back(static_cast<std::uint32_t>(offset));
  return result;
}

parameter_span argument(decoding& d, const syntax::operand& what, std::size_t size) {
  const symbol* found = d.into().find(what.name);
  if (found == nullptr || found->what != symbol::kind::parameter || found->of_kernel)
    d.wrong("passes what is no parameter: '" + std::string(what.name) + "'");
  if (found->size != size) d.wrong("passes a parameter of another size");
  return {found->offset, found->size};
}

std::vector<parameter_span> arguments(decoding& d, const syntax::operand* list,
                                      const std::vector<syntax::variable>& formals) {
  std::vector<parameter_span> result;
  const std::size_t count = list != nullptr ? list->parts.size() : 0;
  if (count != formals.size()) d.wrong("passes another number of parameters than declared");
  for (std::size_t k = 0; k < count; ++k)
    result.push_back(argument(d, list->parts[k], formals[k].size));
  return result;
}

void set_callee(decoding& d, const std::string& name, std::uint32_t index, call_site& site) {
  if ((*d.into().names().declarations)[index].has_body) {
    site.function = index;
    return;
  }
  const hook_table& hooks = d.into().whole().hooks;
  const auto found = hooks.find(name);
  if (found == hooks.end())
    throw load_error(load_failure::unresolved, d.line(),
                     "unresolved external function '" + name + "'");
  site.external = &found->second;
}

instruction decode_call(decoding& d) {
  using enum syntax::operand_kind;
  d.ignore({"uni"});
  d.expect_operands(1, 4);
  const bool returns = d.operand(0).kind == list;
  const std::size_t callee = returns ? 1 : 0;
  if (d.operand_count() <= callee || d.operand(callee).kind != name) d.unsupported();
  const bool passes = d.operand_count() > callee + 1;
  if (d.operand_count() > callee + 2) d.unsupported();  // through a pointer, with a prototype
  const std::string function_name(d.operand(callee).name);
  const auto found = d.into().names().functions.find(function_name);
  if (found == d.into().names().functions.end()) d.unsupported();
  const syntax::function& declared = (*d.into().names().declarations)[found->second];
  call_site site;
  site.arguments = arguments(d, passes ? &d.operand(callee + 1) : nullptr, declared.parameters);
  site.results = arguments(d, returns ? &d.operand(0) : nullptr, declared.results);
  set_callee(d, function_name, found->second, site);
  instruction result;
  result.run = site.external != nullptr ? &call_external : &call_function;
  std::vector<call_site>& calls = d.into().body().calls;
  result.extra = static_cast<std::uint32_t>(calls.size());
  calls.push_back(std::move(site));
  return result;
}

instruction decode_return(decoding& d) {
  d.ignore({"uni"});
  d.expect_operands(0);
  instruction result;
  result.run = &return_to_caller;
  return result;
}

const instruction* exit_thread(thread& t, const instruction*) {
  t.state = thread_state::exited;
  return nullptr;
}

instruction decode_exit(decoding& d) {
  d.expect_operands(0);
  instruction result;
  result.run = &exit_thread;
  return result;
}

const instruction* trap(thread& t, const instruction* i) {
  return fail(t, i, outcome::trap, "stopped the kernel");
}

instruction decode_trap(decoding& d) {
  d.expect_operands(0);
  instruction result;
  result.run = &trap;
  return result;
}

/// Time does not pass, but others get their turn.
const instruction* sleep(thread& t, const instruction* i) {
  t.next = i + 1;
  return nullptr;
}

instruction decode_sleep(decoding& d) {
  if (d.take_type() != scalar::u32) d.unsupported();
  d.expect_operands(1);
  instruction result;
  result.run = &sleep;
  return result;
}

const instruction* go_on(thread&, const instruction* i) { return i + 1; }

/// Programmatic dependent launch: here a kernel begins after those before it have ended.
instruction decode_grid_dependency(decoding& d) {
  if (!d.take("wait") && !d.take("launch_dependents")) d.unsupported();
  d.expect_operands(0);
  instruction result;
  result.run = &go_on;
  return result;
}

constexpr std::array<instruction_row, 8> rows{{
    {"bra", decode_branch},
    {"brx", decode_branch_indexed},
    {"call", decode_call},
    {"ret", decode_return},
    {"exit", decode_exit},
    {"trap", decode_trap},
    {"nanosleep", decode_sleep},
    {"griddepcontrol", decode_grid_dependency},
}};

}  // namespace

std::span<const instruction_row> control_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
