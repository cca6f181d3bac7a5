// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"

#include <string_view>
#include <variant>

#include "ptx/calls.hpp"
#include "ptx/decoding.hpp"
#include "ptx/instructions.hpp"

namespace cugraft_sim::ptx {
namespace {

/// Walks the statements of a body twice: labels first, as branches go forward as well.
class body_decoder {
 public:
  body_decoder(function_builder& into, const syntax::function& what) : into_(into), what_(what) {}

  void declare_labels() {
    std::uint32_t index = 0;
    std::string_view last_label;
    enter();
    for (const syntax::statement& next : what_.body) {
      if (std::holds_alternative<syntax::instruction>(next.what)) ++index;
      if (const auto* label = std::get_if<syntax::label>(&next.what)) {
        into_.declare_label(label->name, index, next.line);
        last_label = label->name;
      }
      if (const auto* targets = std::get_if<syntax::branch_targets>(&next.what))
        into_.declare_targets(last_label, *targets);
      if (const auto* scope = std::get_if<syntax::scope>(&next.what)) change(*scope);
    }
    into_.close_scope();
  }

  void decode() {
    enter();
    into_.declare_formals(what_);
    for (const syntax::statement& next : what_.body)
      std::visit([&](const auto& what) { add(what, next.line); }, next.what);
    into_.close_scope();
    instruction last;
    last.run = &return_to_caller;
    append(last, {what_.line, "ret"});
  }

 private:
  void enter() {
    scopes_ = 0;
    into_.open_scope(scopes_++);
  }

  void change(syntax::scope how) {
    if (how == syntax::scope::open)
      into_.open_scope(scopes_++);
    else
      into_.close_scope();
  }

  void append(const instruction& what, source_line where) {
    into_.body().code.push_back(what);
    into_.body().lines.push_back(where);
  }

  void add(const syntax::label&, unsigned) {}
  void add(const syntax::branch_targets&, unsigned) {}
  void add(syntax::scope how, unsigned) { change(how); }
  void add(const syntax::registers& what, unsigned line) { into_.declare(what, line); }
  void add(const syntax::variable& what, unsigned) { into_.declare(what); }

  void add(const syntax::instruction& what, unsigned line) {
    const auto index = static_cast<std::uint32_t>(into_.body().code.size());
    decoding d(into_, what, line, index);
    instruction result = find_decoder(what.opcode)(d);
    if (what.guard) {
      const syntax::operand guard{syntax::operand_kind::name, false, what.guard->name, 0, {}};
      result.guard = d.source(guard, scalar::pred);
      result.guard_negated = what.guard->negated;
    }
    append(result, {line, what.opcode});
  }

  function_builder& into_;
  const syntax::function& what_;
  unsigned scopes_ = 0;
};

}  // namespace

void decode_function(program& into, const module_symbols& names, const syntax::function& what,
                     std::uint32_t index) {
  function_builder builder(into, names, index);
  builder.body().name = what.name;
  builder.body().is_entry = what.is_entry;
  body_decoder body(builder, what);
  body.declare_labels();
  body.decode();
}

}  // namespace cugraft_sim::ptx
