// SPDX-License-Identifier: Apache-2.0
#include "diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cugraft/context.hpp"
#include "cugraft/error.hpp"
#include "failure_checks.hpp"

namespace cugraft::cli {
namespace {

constexpr std::array feature_names{
    std::pair{feature::parameter_layouts, "parameter_layouts"},
    std::pair{feature::edge_data, "edge_data"},
    std::pair{feature::capture_to_graph, "capture_to_graph"},
    std::pair{feature::conditional_nodes, "conditional_nodes"},
    std::pair{feature::conditional_switch, "conditional_switch"},
    std::pair{feature::child_graph_move, "child_graph_move"},
    std::pair{feature::node_ids, "node_ids"},
    std::pair{feature::node_params_query, "node_params_query"},
    std::pair{feature::recapture_to_graph, "recapture_to_graph"},
};

constexpr int compute_capability_major = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int compute_capability_minor = 76;

/// Calls a driver function that cugraft does not wrap; false where it fails or is absent.
template <class... Parameters>
bool ask(const driver& driver, const char* name, std::type_identity_t<Parameters>... arguments) {
  void* address = driver.entry_point(name, 2000);
  return address != nullptr && reinterpret_cast<int (*)(Parameters...)>(address)(arguments...) == 0;
}

device_status look_at_device(const driver& driver, int ordinal) {
  device_status result{.ordinal = ordinal};
  int device = 0;
  std::array<char, 256> name{};
  if (!ask<int*, int>(driver, "cuDeviceGet", &device, ordinal)) return result;
  if (ask<char*, int, int>(driver, "cuDeviceGetName", name.data(), 255, device))
    result.name = name.data();
  ask<int*, int, int>(driver, "cuDeviceGetAttribute", &result.compute_major,
                      compute_capability_major, device);
  ask<int*, int, int>(driver, "cuDeviceGetAttribute", &result.compute_minor,
                      compute_capability_minor, device);
  return result;
}

std::vector<feature_status> look_at_features(const driver& driver) {
  std::vector<feature_status> result;
  for (const auto& [which, name] : feature_names)
    result.push_back({name, required_version(which), driver.supports(which)});
  return result;
}

void look_at_engines(diagnosis& result) {
  try {
    result.engines = engines(context::primary(result.chosen->driver));
  } catch (const error& failure) {
    result.findings.push_back({failure.what(), "see whether another program can use the device"});
  }
}

// What native does when a re-capture fails, which its self-test inside the library leaves out.
void look_at_failures(diagnosis& result) {
  try {
    result.failures_checked = true;
    for (const std::string& finding : failure_checks_in_child(*result.chosen)) {
      result.findings.push_back({finding, "tell cugraft's developers, with the driver's version"});
      ++result.failures_found;
    }
  } catch (const error& failure) {
    result.failures_checked = false;
    result.findings.push_back({failure.what(), "run doctor where it may start processes"});
  }
}

void advise(diagnosis& result) {
  const chosen_driver& chosen = *result.chosen;
  if (!chosen.missing.empty())
    result.findings.push_back({chosen.missing,
                               "on a machine with an NVIDIA GPU install its driver, 12.4 or newer; "
                               "until then everything runs on the simulated driver"});
  const int needed = required_version(feature::recapture_to_graph);
  if (!chosen.driver.supports(feature::recapture_to_graph))
    result.findings.push_back(
        {fmt::format("this driver of version {} has no cuStreamBeginRecaptureToGraph, which the "
                     "engine native needs",
                     version_text(chosen.driver.version())),
         fmt::format(
             "the engine compare does the same here; for native install a driver of version "
             "{} or newer, or try it on the simulated one: --driver sim --sim-version {}",
             version_text(needed), version_text(needed))});
}

bool has_native(const diagnosis& found) noexcept {
  return std::any_of(found.engines.begin(), found.engines.end(), [](const engine_status& status) {
    return status.which == engine::native && status.usable;
  });
}

}  // namespace

bool diagnosis::usable() const noexcept {
  return std::any_of(engines.begin(), engines.end(),
                     [](const engine_status& status) { return status.usable; });
}

diagnosis diagnose(const driver_options& options) {
  diagnosis result;
  try {
    result.chosen = choose_driver(options);
    const driver& driver = result.chosen->driver;
    result.features = look_at_features(driver);
    const int count = driver.device_count();
    for (int i = 0; i < count; ++i) result.devices.push_back(look_at_device(driver, i));
  } catch (const error& failure) {
    result.findings.push_back({failure.what(),
                               "name another driver, --driver sim for the simulated "
                               "one, or install NVIDIA's, 12.4 or newer"});
  }
  if (!result.chosen) return result;
  if (result.devices.empty())
    result.findings.push_back({"there is no device", "see whether nvidia-smi lists one"});
  else
    look_at_engines(result);
  advise(result);
  if (has_native(result)) look_at_failures(result);
  return result;
}

}  // namespace cugraft::cli
