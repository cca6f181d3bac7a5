// SPDX-License-Identifier: Apache-2.0
#include "driver_choice.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "cugraft/error.hpp"

namespace cugraft::cli {
namespace {

constexpr const char* simulated_driver_file = "libcugraft_sim.so";

std::filesystem::path tool_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

chosen_driver load_simulated(const driver_options& options, std::string why) {
  // The simulated driver reads its version when it is loaded, as a driver knows its own.
  if (!options.sim_version.empty())
    setenv("CUGRAFT_SIM_VERSION", options.sim_version.c_str(), /*overwrite=*/1);
  return {driver::load(simulated_driver_path()), true, std::move(why), {}};
}

/// The system's driver if it can run something; else what it lacks goes to `missing`.
std::optional<driver> find_system_driver(std::string& missing) {
  try {
    const driver found = driver::load();
    if (found.device_count() > 0) return found;
    missing = found.path().string() + " has no device";
  } catch (const error& failure) {
    missing = failure.what();
  }
  return std::nullopt;
}

// Whether it is the file beside the tool, however it came to be chosen.
bool is_simulated(const driver& driver) {
  std::error_code ignored;
  try {
    return std::filesystem::equivalent(driver.path(), simulated_driver_path(), ignored);
  } catch (const error&) {
    return false;  // there is none
  }
}

chosen_driver load_named(const std::string& path, std::string why) {
  const driver named = driver::load(path);
  return {named, is_simulated(named), std::move(why), {}};
}

chosen_driver choose_freely(const driver_options& options) {
  // Who names a driver wants that one; if it cannot be used, that is an error.
  if (const char* const named = std::getenv("CUGRAFT_DRIVER"); named != nullptr && *named != 0)
    return load_named(named, "CUGRAFT_DRIVER names it");
  std::string missing;
  if (const std::optional<driver> found = find_system_driver(missing))
    return {*found, false, "the system's driver has a device", {}};
  chosen_driver result = load_simulated(options, "the system's is not usable");
  result.missing = std::move(missing);
  return result;
}

}  // namespace

std::filesystem::path simulated_driver_path() {
  const std::filesystem::path folder = tool_folder();
  const std::array candidates{folder / ".." / "lib" / simulated_driver_file,
                              folder / CUGRAFT_CLI_LIBRARY_FOLDER / simulated_driver_file};
  for (const std::filesystem::path& candidate : candidates)
    if (std::filesystem::exists(candidate)) return std::filesystem::canonical(candidate);
  throw error(
      fmt::format("the simulated driver is not installed beside the tool: there is no {}; "
                  "name a driver with --driver PATH",
                  candidates.back().lexically_normal().string()));
}

chosen_driver choose_driver(const driver_options& options) {
  if (options.which == "sim") return load_simulated(options, "asked for");
  if (options.which == "system") return {driver::load("libcuda.so.1"), false, "asked for", {}};
  if (!options.which.empty()) return load_named(options.which, "asked for");
  if (!options.sim_version.empty()) return load_simulated(options, "a version of it was asked for");
  return choose_freely(options);
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace cugraft::cli
