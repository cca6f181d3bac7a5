// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/result_names.hpp"
#include "cugraft/render.hpp"
#include "model/names.hpp"
#include "render/names.hpp"

namespace cugraft {
namespace {

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string text_of(const field_change& field) {
  const std::string place =
      field.size == 0 ? "" : fmt::format(" (offset {}, size {})", field.offset, field.size);
  return fmt::format("    {}{}: {} -> {}\n", field.field, place, field.before, field.after);
}

std::string text_of(const node_change& change) {
  const node_summary node{change.path, change.kind, change.name, change.tag};
  std::string result =
      fmt::format("  {}: {} by {}", text_with_path(node), to_string(change.effect), change.rule);
  if (change.native_status)
    result += fmt::format(", {} by the driver", name_of(*change.native_status));
  result += '\n';
  for (const field_change& field : change.fields) result += text_of(field);
  return result;
}

// What to do, once for each rule that decided.
std::string text_of_rules(std::span<const node_change> changes) {
  std::vector<std::string_view> seen;
  std::string result;
  for (const node_change& change : changes) {
    const update_rule* rule = find_update_rule(change.rule);
    if (rule == nullptr || std::ranges::find(seen, rule->id) != seen.end()) continue;
    seen.push_back(rule->id);
    result += fmt::format("  {}: {} ({})\n", rule->id, rule->text, rule->source);
  }
  return result;
}

std::string text_of(const report_timing& timing) {
  return fmt::format("  capture {:.1f} us, compare {:.1f} us, apply {:.1f} us\n",
                     microseconds(timing.capture), microseconds(timing.compare),
                     microseconds(timing.apply));
}

std::string text_of(const refusal& refused) {
  std::string result = fmt::format("  {}: ", text_with_path(refused.node));
  result += refused.rule.empty()
                ? "no rule foresaw this"
                : fmt::format("{} by {}", to_string(refused.predicted), refused.rule);
  if (refused.code != 0)
    result += fmt::format("; {} gave {}", refused.function, result_text(refused.code));
  if (refused.update_result != 0)
    result += fmt::format(", update result {}", refused.update_result);
  return result + '\n';
}

}  // namespace

std::string to_text(const change_report& report) {
  std::string result =
      fmt::format("{}: {} of {} nodes changed, {}, generation {}\n",
                  to_string(report.engine_used()), report.nodes_changed(), report.nodes_total(),
                  to_string(report.overall()), report.generation());
  if (report.structure_replaced()) result += "  the structure was replaced\n";
  for (const node_change& change : report.changes()) result += text_of(change);
  return result + text_of_rules(report.changes()) + text_of(report.timing());
}

std::string to_text(const recapture_failure& failure) {
  std::string result =
      fmt::format("{}: re-capture failed after {} nodes, {}, {}\n", to_string(failure.used),
                  failure.nodes_matched, name_of(failure.why), result_text(failure.code));
  result += fmt::format("  {}\n", failure.message);
  if (!failure.function.empty()) result += fmt::format("  function: {}\n", failure.function);
  if (failure.expected)
    result += fmt::format("  expected: {}\n", text_with_path(*failure.expected));
  if (failure.found) result += fmt::format("  found: {}\n", text_with_path(*failure.found));
  for (const node_summary& node : failure.involved)
    result += fmt::format("  involved: {}\n", text_with_path(node));
  return result + (failure.graph_lost ? "  the graph is lost: destroy it\n"
                                      : "  the graph is what it was\n");
}

std::string to_text(const exec_update& update) {
  std::string result =
      update.up_to_date
          ? fmt::format("up to date: {}, {} nodes patched, {} driver calls\n",
                        name_of(update.method), update.nodes_patched, update.driver_calls)
          : fmt::format("refused, nothing changed: {} driver calls\n", update.driver_calls);
  for (const refusal& refused : update.refused) result += text_of(refused);
  return result;
}

}  // namespace cugraft
