// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "demo_output.hpp"
#include "json_output.hpp"

namespace cugraft::cli {
namespace {

json to_json_value(step_cost cost) {
  return {{"prepare_ns", cost.prepare.count()}, {"total_ns", cost.total.count()}};
}

json to_json_value(const difference& difference) {
  return {{"way", difference.way},
          {"count", difference.count},
          {"first", difference.first},
          {"expected", difference.expected},
          {"found", difference.found}};
}

json to_json_value(const step_result& step) {
  json differences = json::array();
  for (const difference& one : step.differences) differences.push_back(to_json_value(one));
  return {{"position", step.step.position},
          {"token", step.step.token},
          {"temperature", step.step.temperature},
          {"report", json::parse(to_json(step.report))},
          {"update", json::parse(to_json(step.update))},
          {"reference_error", step.reference_error},
          {"differences", std::move(differences)}};
}

json timings(const demo_result& result, bool simulated) {
  return {{"statistic", "median host time per step"},
          {"simulated", simulated},
          {"eager", to_json_value(median_cost(result, &step_result::eager))},
          {"whole_update", to_json_value(median_cost(result, &step_result::whole_update))},
          {"cugraft", to_json_value(median_cost(result, &step_result::recapture))}};
}

}  // namespace

void print_json(const demo_options& options, const chosen_driver& chosen,
                const demo_result& result) {
  json steps = json::array();
  for (const step_result& step : result.steps) steps.push_back(to_json_value(step));
  const json all{{"driver", chosen.driver.path().string()},
                 {"driver_version", chosen.driver.version()},
                 {"simulated", chosen.simulated},
                 {"chosen_because", chosen.why},
                 {"system_driver", chosen.missing},
                 {"engine", to_string(result.engine_used())},
                 {"layers", options.layers},
                 {"nodes", result.nodes},
                 {"steps", result.steps.size()},
                 {"elements", result.elements},
                 {"agree", result.agree()},
                 {"reference_error", result.reference_error()},
                 {"digest", fmt::format("{:016x}", result.digest)},
                 {"nodes_changed", result.nodes_changed()},
                 {"nodes_patched", result.nodes_patched()},
                 {"timings", timings(result, chosen.simulated)},
                 {"step_results", std::move(steps)}};
  print_object(all);
}

}  // namespace cugraft::cli
