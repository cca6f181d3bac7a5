// SPDX-License-Identifier: Apache-2.0
#include "model/difference.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "model/differing_fields.hpp"
#include "model/graph.hpp"
#include "model/update_rules.hpp"

namespace cugraft::model {
namespace {

bool is_foreign(const kernel_view& kernel) noexcept {
  return kernel.attributes != nullptr && kernel.attributes->known_to != known::everything;
}

rule_row row_for(const kernel_view& before, const kernel_view& after, field which,
                 const exec_traits& traits) {
  switch (which) {
    case field::function:
      return is_foreign(before) || is_foreign(after) ? rule_row::kernel_function_foreign
                                                     : rule_row::kernel_function;
    case field::grid:
      return rule_row::kernel_grid;
    case field::block:
      return rule_row::kernel_block;
    case field::shared_memory_bytes:
      return rule_row::kernel_shared_memory;
    case field::cluster:
      return rule_row::kernel_cluster;
    case field::cooperative:
      return rule_row::kernel_cooperative;
    case field::attribute:
      return rule_row::kernel_attribute;
    case field::priority:
      return traits.node_priority ? rule_row::kernel_priority_in_use : rule_row::kernel_priority;
    default:
      return rule_row::kernel_arguments;
  }
}

rule_row row_for(const copy_value& before, const copy_value& after, field which,
                 const exec_traits&) {
  if (is_multidimensional(before) || is_multidimensional(after)) return rule_row::copy_2d;
  switch (which) {
    case field::source_kind:
    case field::destination_kind:
      return rule_row::copy_memory_kind;
    case field::width:
      return rule_row::copy_size;
    default:
      return rule_row::copy_address;
  }
}

rule_row row_for(const fill_value& before, const fill_value& after, field which,
                 const exec_traits&) {
  if (has_rows(before) != has_rows(after)) return rule_row::fill_rows;
  if (!has_rows(before)) return rule_row::fill_1d;
  return which == field::value || which == field::destination ? rule_row::fill_2d_value
                                                              : rule_row::fill_2d_shape;
}

rule_row row_for(const host_value&, const host_value&, field, const exec_traits&) {
  return rule_row::host_function;
}

rule_row row_for(const event_value&, const event_value&, field, const exec_traits&) {
  return rule_row::event_event;
}

rule_row row_for(const allocation_value&, const allocation_value&, field, const exec_traits&) {
  return rule_row::memory_fixed;
}

rule_row row_for(const free_value&, const free_value&, field, const exec_traits&) {
  return rule_row::memory_fixed;
}

// Whether `a` says more about a change than `b`: it is stricter, or comes first in the table.
bool outranks(rule_row a, rule_row b) noexcept {
  return rule(a).effect != rule(b).effect ? rule(a).effect > rule(b).effect : a < b;
}

judgement judgement_by(rule_row row) { return {rule(row).effect, &rule(row)}; }

template <class Value>
judgement judge_as(const Value& before, const Value& after, const exec_traits& traits) {
  std::optional<rule_row> decides;
  differing_fields(before, after, [&](const difference& found) {
    const rule_row row = row_for(before, after, found.which, traits);
    if (row != decides && (!decides || outranks(row, *decides))) decides = row;
  });
  return decides ? judgement_by(*decides) : judgement();
}

}  // namespace

std::vector<difference> differences(const node_value& before, const node_value& after) {
  std::vector<difference> result;
  differing_fields(before, after, [&](const difference& found) { result.push_back(found); });
  std::ranges::sort(result, {},
                    [](const difference& found) { return std::pair(found.which, found.index); });
  return result;
}

bool attributes_differ(const node_value& before, const node_value& after) {
  const auto* const old = std::get_if<kernel_value>(&before.data);
  const auto* const now = std::get_if<kernel_value>(&after.data);
  return old != nullptr && now != nullptr && !same_value(old->attributes, now->attributes);
}

judgement judge(const node_value& before, const node_value& after, const exec_traits& traits) {
  if (before.data.index() != after.data.index()) return judgement_by(rule_row::opaque);
  return std::visit(
      [&](const auto& value) -> judgement {
        using T = std::remove_cvref_t<decltype(value)>;
        const T& other = std::get<T>(after.data);
        if constexpr (std::is_same_v<T, kernel_value>)
          return judge_as(view_of(value), view_of(other), traits);
        else if constexpr (std::is_same_v<T, conditional_value>)
          return value == other ? judgement() : judgement_by(rule_row::opaque);
        else if constexpr (std::is_same_v<T, opaque_value> || std::is_same_v<T, child_value>)
          return {};
        else
          return judge_as(value, other, traits);
      },
      before.data);
}

judgement judge(const node_value& before, const graph& graph, std::size_t node,
                const exec_traits& traits) {
  const auto* const kernel = std::get_if<kernel_value>(&before.data);
  if (kernel == nullptr || graph.kind(node) != node_kind::kernel || !graph.has_parameters(node))
    return judge(before, graph.value(node), traits);
  return judge_as(view_of(*kernel), graph.kernel(node), traits);
}

}  // namespace cugraft::model
