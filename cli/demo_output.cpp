// SPDX-License-Identifier: Apache-2.0
#include "demo_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

namespace cugraft::cli {
namespace {

/// Nodes that changed alike: the same kernel in several layers.
struct change_group {
  std::string what;
  std::vector<std::string> nodes;
};

std::string describe(const node_change& change) {
  std::vector<std::string> fields;
  for (const field_change& field : change.fields)
    fields.push_back(fmt::format("{} {} -> {}", field.field, field.before, field.after));
  const std::string name = change.name.empty() ? to_string(change.kind) : change.name;
  return fmt::format("{}: {}", name, fmt::join(fields, "; "));
}

std::string place(const node_change& change) {
  const std::string path = to_string(change.path);
  return change.tag.empty() ? path : fmt::format("{} ({})", path, change.tag);
}

std::vector<change_group> group(std::span<const node_change> changes) {
  std::vector<change_group> groups;
  for (const node_change& change : changes) {
    const std::string what = describe(change);
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const change_group& other) { return other.what == what; });
    if (same == groups.end()) same = groups.insert(groups.end(), {what, {}});
    same->nodes.push_back(place(change));
  }
  return groups;
}

std::string_view describe(update_method method) {
  switch (method) {
    case update_method::automatic:
      break;
    case update_method::none:
      return "nothing to update";
    case update_method::patched:
      return "patched";
    case update_method::whole:
      return "updated as a whole";
    case update_method::instantiated:
      return "instantiated anew";
  }
  return "updated";
}

std::string summary(const step_result& step) {
  const std::size_t changed = step.report.nodes_changed();
  if (changed == 0) return "nothing changed";
  const std::string update = step.update.method == update_method::patched
                                 ? fmt::format("{} patched", step.update.nodes_patched)
                                 : std::string(describe(step.update.method));
  return fmt::format("{} of {} nodes changed, {}", changed, step.report.nodes_total(), update);
}

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

void print_cost(std::string_view name, step_cost cost) {
  fmt::print("         {:<32}{:>12.1f}{:>12.1f}\n", name, microseconds(cost.prepare),
             microseconds(cost.total));
}

void print_agreement(const demo_result& result) {
  if (result.agree())
    fmt::print(
        "results  all three ways agree in each of {} elements after each of {} steps; "
        "distance to the host's reference at most {:.1e}\n",
        result.elements, result.steps.size(), result.reference_error());
  else
    fmt::print(
        "results  NOT the same, see above; distance to the host's reference {:.1e}, "
        "allowed {:.1e}\n",
        result.reference_error(), reference_tolerance);
}

}  // namespace

void print_head(const demo_options& options, const chosen_driver& chosen, std::size_t nodes,
                engine used) {
  fmt::print("driver   {} of version {}{}: {}\n", chosen.driver.path().string(),
             version_text(chosen.driver.version()), chosen.simulated ? ", simulated" : "",
             chosen.why);
  if (!chosen.missing.empty()) fmt::print("         {}\n", chosen.missing);
  fmt::print("loop     one token a step through {} layers: {} nodes on two streams\n",
             options.layers, nodes);
  fmt::print("engine   {}\n", to_string(used));
}

void print_step(const step_result& step) {
  fmt::print("step {:<3} token {}, temperature {}: {}\n", step.step.position, step.step.token,
             step.step.temperature, summary(step));
  for (const change_group& group : group(step.report.changes()))
    fmt::print("         {} at {}\n", group.what, fmt::join(group.nodes, ", "));
  for (const difference& difference : step.differences)
    fmt::print("         {} DIFFERS from eager in {} elements, first {}: {} instead of {}\n",
               difference.way, difference.count, difference.first, difference.found,
               difference.expected);
  std::fflush(stdout);  // a step shows when it is done, also in a pipe
}

void print_end(const demo_result& result, bool simulated) {
  print_agreement(result);
  fmt::print("times    {:<32}{:>12}{:>12}   median host time per step in us\n", "", "prepare",
             "total");
  print_cost("eager", median_cost(result, &step_result::eager));
  print_cost("capture and cuGraphExecUpdate", median_cost(result, &step_result::whole_update));
  print_cost(fmt::format("cugraft ({})", to_string(result.engine_used())),
             median_cost(result, &step_result::recapture));
  if (simulated) fmt::print("         times on the simulated driver are no claim about any GPU\n");
}

}  // namespace cugraft::cli
