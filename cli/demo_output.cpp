// SPDX-License-Identifier: Apache-2.0
#include "demo_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace cugraft::cli {
namespace {

/// Nodes that changed alike: the same kernel in several layers.
struct change_group {
  std::string name;
  std::vector<std::string> fields;
  std::vector<std::string> nodes;
};

std::vector<std::string> describe(const std::vector<field_change>& fields) {
  std::vector<std::string> result;
  for (const field_change& field : fields)
    result.push_back(fmt::format("{}: {} -> {}", field.field, field.before, field.after));
  return result;
}

std::string place(const node_change& change) {
  const std::string path = to_string(change.path);
  return change.tag.empty() ? path : fmt::format("{} ({})", path, change.tag);
}

std::vector<change_group> group(std::span<const node_change> changes) {
  std::vector<change_group> groups;
  for (const node_change& change : changes) {
    change_group one{
        change.name.empty() ? to_string(change.kind) : change.name, describe(change.fields), {}};
    auto same = std::find_if(groups.begin(), groups.end(), [&](const change_group& other) {
      return other.name == one.name && other.fields == one.fields;
    });
    if (same == groups.end()) same = groups.insert(groups.end(), std::move(one));
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
  for (const change_group& same : group(step.report.changes()))
    fmt::print("         {} at {}\n           {}\n", same.name, fmt::join(same.nodes, ", "),
               fmt::join(same.fields, "\n           "));
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
