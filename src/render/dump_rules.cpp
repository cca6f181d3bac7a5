// SPDX-License-Identifier: Apache-2.0
#include "render/dump_rules.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "model/update_rules.hpp"

namespace cugraft {
namespace {

using model::rule_row;

struct dumped_field {
  node_kind kind;
  std::string_view word;  // in the field's name, in lower case
  rule_row row;
};

// What a label's fields are called is documented nowhere; the first row that fits decides, and what
// fits none is `opaque`. Copies and fills of several rows go by their own rules, below.
constexpr dumped_field known_fields[] = {
    {node_kind::kernel, "cluster", rule_row::kernel_cluster},
    {node_kind::kernel, "cooperative", rule_row::kernel_cooperative},
    {node_kind::kernel, "priority", rule_row::kernel_priority},
    {node_kind::kernel, "grid", rule_row::kernel_grid},
    {node_kind::kernel, "block", rule_row::kernel_block},
    {node_kind::kernel, "shared", rule_row::kernel_shared_memory},
    {node_kind::kernel, "func", rule_row::kernel_function_foreign},
    {node_kind::kernel, "accesspolicy", rule_row::kernel_attribute},
    {node_kind::kernel, "mem_sync_domain", rule_row::kernel_attribute},
    {node_kind::copy, "kind", rule_row::copy_memory_kind},
    {node_kind::copy, "width", rule_row::copy_size},
    {node_kind::copy, "ptr", rule_row::copy_address},
    {node_kind::fill, "height", rule_row::fill_rows},
    {node_kind::fill, "value", rule_row::fill_1d},
    {node_kind::fill, "width", rule_row::fill_1d},
    {node_kind::fill, "dptr", rule_row::fill_1d},
    {node_kind::host, "fn", rule_row::host_function},
    {node_kind::host, "userdata", rule_row::host_function},
    {node_kind::event_record, "event", rule_row::event_event},
    {node_kind::event_wait, "event", rule_row::event_event},
    {node_kind::allocation, "", rule_row::memory_fixed},
    {node_kind::free, "", rule_row::memory_fixed},
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char symbol) { return std::tolower(symbol); });
  return result;
}

// Handles of nodes and graphs, and the place in the driver's own order.
bool differs_from_run_to_run(node_kind kind, const std::string& name) {
  const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
  if (has("topoid") || has("node handle") || name == "id" || name.ends_with(".id")) return true;
  // Of a conditional node the first is that of its condition, the next its own.
  if (kind == node_kind::conditional) return name == "handle[2]";
  return name == "handle" || name.ends_with(".handle");
}

// Whether the node works on more than one row, as far as its fields show: by a "height" that is not
// 1. A dump that has none leaves it open.
enum class rows { one, several, not_shown };

rows rows_of(const shown_node& node) {
  for (const shown_field& field : node.fields)
    if (lower(field.name).ends_with("height")) return field.text == "1" ? rows::one : rows::several;
  return rows::not_shown;
}

rule_row with_rows(node_kind kind, rule_row row, const shown_node& before,
                   const shown_node& after) {
  const bool is_fill = kind == node_kind::fill;
  if (!is_fill && kind != node_kind::copy) return row;
  const rows old = rows_of(before), now = rows_of(after);
  if (old == rows::not_shown || now == rows::not_shown) return rule_row::opaque;
  if (old == rows::one && now == rows::one) return row;
  if (!is_fill) return rule_row::copy_2d;
  if (old != now) return rule_row::fill_rows;
  return row == rule_row::fill_1d ? rule_row::fill_2d_shape : row;
}

rule_row row_for(node_kind kind, const std::string& name, const shown_node& before,
                 const shown_node& after) {
  const auto found = std::ranges::find_if(known_fields, [&](const dumped_field& field) {
    return field.kind == kind && name.find(field.word) != name.npos;
  });
  if (found == std::end(known_fields)) return rule_row::opaque;
  return with_rows(kind, found->row, before, after);
}

bool outranks(rule_row a, rule_row b) {
  const update_rule &first = model::rule(a), &second = model::rule(b);
  return first.effect != second.effect ? first.effect > second.effect : a < b;
}

// Fields by name, each with what both sides show; a side that lacks it shows "none".
std::map<std::string, std::pair<const shown_field*, const shown_field*>> joined(
    const shown_node& before, const shown_node& after) {
  std::map<std::string, std::pair<const shown_field*, const shown_field*>> result;
  for (const shown_field& field : before.fields) result[field.name].first = &field;
  for (const shown_field& field : after.fields) result[field.name].second = &field;
  return result;
}

}  // namespace

std::optional<node_change> compare_dumped(node_kind kind, const shown_node& before,
                                          const shown_node& after,
                                          const comparison_options& options) {
  node_change result;
  result.kind = kind;
  result.name = before.name;
  std::optional<rule_row> decides;
  const auto add = [&](std::string_view field, std::string_view old, std::string_view now,
                       rule_row row) {
    result.fields.push_back({std::string(field), std::string(old), std::string(now)});
    if (!decides || outranks(row, *decides)) decides = row;
  };
  if (before.name != after.name)
    add("function", before.name, after.name, rule_row::kernel_function_foreign);
  for (const auto& [name, sides] : joined(before, after)) {
    const auto [old, now] = sides;
    if (old != nullptr && now != nullptr && old->text == now->text) continue;
    const std::string plain = lower(name);
    if (differs_from_run_to_run(kind, plain)) continue;
    if (options.kernels_by_name && kind == node_kind::kernel && plain.find("func") != plain.npos)
      continue;
    add(name, old == nullptr ? "none" : old->text, now == nullptr ? "none" : now->text,
        row_for(kind, plain, before, after));
  }
  if (!decides) return std::nullopt;
  result.effect = model::rule(*decides).effect;
  result.rule = model::rule(*decides).id;
  return result;
}

}  // namespace cugraft
