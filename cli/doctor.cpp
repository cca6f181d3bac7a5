// SPDX-License-Identifier: Apache-2.0
#include "doctor.hpp"

#include <fmt/format.h>

#include <utility>

#include "diagnosis.hpp"
#include "exit_status.hpp"
#include "json_output.hpp"

namespace cugraft::cli {
namespace {

void print_driver(const diagnosis& found) {
  if (!found.chosen) {
    fmt::print("driver   none\n");
    return;
  }
  const chosen_driver& chosen = *found.chosen;
  fmt::print("driver   {} of version {}{}: {}\n", chosen.driver.path().string(),
             version_text(chosen.driver.version()), chosen.simulated ? ", simulated" : "",
             chosen.why);
  for (const device_status& device : found.devices)
    fmt::print("device   {}: {}, compute capability {}.{}\n", device.ordinal, device.name,
               device.compute_major, device.compute_minor);
}

void print_text(const diagnosis& found) {
  print_driver(found);
  for (const feature_status& feature : found.features)
    fmt::print("feature  {:<20}{:<5} from {} on\n", feature.name, feature.supported ? "yes" : "no",
               version_text(feature.required_version));
  for (const engine_status& engine : found.engines)
    fmt::print("engine   {:<20}{}{}{}{}\n", to_string(engine.which),
               engine.usable ? "usable" : "not usable", engine.automatic ? ", automatic" : "",
               engine.why.empty() ? "" : ": ", engine.why);
  if (found.failures_checked)
    fmt::print("failures native was made to fail, in a process of its own: {}\n",
               found.failures_found == 0
                   ? "everything was as it should be"
                   : fmt::format("{} findings, listed as missing", found.failures_found));
  for (const finding& finding : found.findings)
    fmt::print("missing  {}\n         what to do: {}\n", finding.missing, finding.advice);
  fmt::print("result   cugraft is {} here{}\n", found.usable() ? "usable" : "not usable",
             found.usable() && found.chosen->simulated ? ", on the simulated driver" : "");
}

json to_json_value(const device_status& device) {
  return {{"ordinal", device.ordinal},
          {"name", device.name},
          {"compute_capability", fmt::format("{}.{}", device.compute_major, device.compute_minor)}};
}

json to_json_value(const feature_status& feature) {
  return {{"name", feature.name},
          {"required_version", feature.required_version},
          {"supported", feature.supported}};
}

json to_json_value(const engine_status& engine) {
  return {{"which", to_string(engine.which)},
          {"usable", engine.usable},
          {"automatic", engine.automatic},
          {"why", engine.why}};
}

json to_json_value(const finding& finding) {
  return {{"missing", finding.missing}, {"advice", finding.advice}};
}

template <class Element>
json to_json_array(const std::vector<Element>& elements) {
  json result = json::array();
  for (const Element& element : elements) result.push_back(to_json_value(element));
  return result;
}

void print_json(const diagnosis& found) {
  json all{{"usable", found.usable()}, {"driver", nullptr}, {"driver_version", nullptr}};
  if (found.chosen) {
    all["driver"] = found.chosen->driver.path().string();
    all["driver_version"] = found.chosen->driver.version();
    all["simulated"] = found.chosen->simulated;
    all["chosen_because"] = found.chosen->why;
  }
  all["devices"] = to_json_array(found.devices);
  all["features"] = to_json_array(found.features);
  all["engines"] = to_json_array(found.engines);
  all["failures_checked"] = found.failures_checked;
  all["findings"] = to_json_array(found.findings);
  print_object(all);
}

}  // namespace

int run_doctor(const doctor_options& options) {
  const diagnosis found = diagnose(options.driver);
  if (options.json)
    print_json(found);
  else
    print_text(found);
  return found.usable() ? exit_ok : exit_failed;
}

}  // namespace cugraft::cli
