// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cugraft/render.hpp"
#include "model/names.hpp"
#include "model/report_state.hpp"
#include "render/dump_rules.hpp"
#include "render/graph_forms.hpp"

namespace cugraft {
namespace {

using detail::saved_state;

std::optional<node_summary> summary_at(const saved_state& state, std::size_t level,
                                       std::size_t node) {
  const model::structure& nodes = state.nodes.structure();
  if (level >= nodes.level_count() || !nodes.level(level).has(node)) return std::nullopt;
  return node_summary{nodes.path_of(node), nodes.kind(node), std::string(name_at(state, node)),
                      std::string(state.nodes.tag(node))};
}

std::size_t count_in(const saved_state& state, std::size_t level) {
  const model::structure& nodes = state.nodes.structure();
  return level < nodes.level_count() ? nodes.level(level).count : 0;
}

recapture_failure structural_failure(const saved_state& before, const saved_state& after,
                                     const model::structure_mismatch& differs) {
  mismatch_facts facts;
  facts.why = differs.why;
  facts.position = differs.position;
  facts.expected = summary_at(before, differs.level, differs.position);
  facts.found = summary_at(after, differs.level, differs.position);
  facts.expected_count = count_in(before, differs.level);
  facts.found_count = count_in(after, differs.level);
  recapture_failure result;
  if (differs.from) {
    facts.from = summary_at(before, differs.level, *differs.from);
    if (facts.from) result.involved.push_back(*facts.from);
  }
  result.why = differs.why;
  result.message = mismatch_message(facts);
  result.nodes_matched = differs.position;
  result.used = engine::compare;
  result.expected = std::move(facts.expected);
  result.found = std::move(facts.found);
  return result;
}

// Kernels that are one by name and layout get one handle.
void name_functions(const model::node_value& before, model::node_value& after) {
  const auto* const old = std::get_if<model::kernel_value>(&before.data);
  auto* const now = std::get_if<model::kernel_value>(&after.data);
  if (old != nullptr && now != nullptr && old->layout != nullptr && now->layout != nullptr &&
      model::same_layout(old->layout.get(), now->layout.get()))
    now->function = old->function;
}

void compare_node(const saved_state& before, const saved_state& after, std::size_t node,
                  const comparison_options& options, detail::report_state& result) {
  raw_change change;
  change.before = before.nodes.value(node);
  change.after = after.nodes.value(node);
  if (options.kernels_by_name) name_functions(change.before, change.after);
  change.judgement = model::judge(change.before, change.after);
  if (change.judgement.rule == nullptr) return;
  change.path = before.nodes.structure().path_of(node);
  change.tag = before.nodes.tag(node);
  result.overall = std::max(result.overall, change.judgement.effect);
  result.raw.push_back(std::move(change));
}

void compare_shown(const saved_state& before, const saved_state& after, std::size_t node,
                   const comparison_options& options, detail::report_state& result) {
  std::optional<node_change> change =
      compare_dumped(before.nodes.kind(node), before.shown[node], after.shown[node], options);
  if (!change) return;
  change->path = before.nodes.structure().path_of(node);
  result.overall = std::max(result.overall, change->effect);
  result.given.push_back(std::move(*change));
}

}  // namespace

recapture_result compare(const saved_graph& before, const saved_graph& after,
                         const comparison_options& options) {
  const saved_state& old = state_of(before);
  const saved_state& now = state_of(after);
  if (old.is_dump != now.is_dump)
    throw usage_error(
        "a saved graph and a driver's dump do not show the same of a node: compare two of one "
        "sort");
  if (const auto differs = model::first_mismatch(old.nodes.structure(), now.nodes.structure()))
    return structural_failure(old, now, *differs);
  auto result = std::make_shared<detail::report_state>();
  result->used = engine::compare;
  result->nodes_total = old.nodes.size();
  result->generation = now.generation;
  for (std::size_t node = 0; node < old.nodes.size(); ++node)
    (old.is_dump ? compare_shown : compare_node)(old, now, node, options, *result);
  return detail::report_state::make(std::move(result));
}

}  // namespace cugraft
