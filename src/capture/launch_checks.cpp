// SPDX-License-Identifier: Apache-2.0
#include "capture/launch_checks.hpp"

#include <fmt/format.h>

#include "handles/kernel_state.hpp"

namespace cugraft {
namespace {

void require_extents(const kernel& kernel, const dim3& extents, const char* what) {
  if (extents.x != 0 && extents.y != 0 && extents.z != 0) return;
  throw usage_error(kernel_text(kernel) + ": an extent of the " + what +
                    " is 0; every extent is at least 1");
}

// In a session a launch that the driver refuses ends the capture (docs/driver/observations.md), so
// what no device takes is found before.
void require_threads(const kernel& kernel, const dim3& block) {
  constexpr std::uint64_t most = 1024;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (block.x <= most && block.y <= most && block.z <= most && threads <= most) return;
  throw usage_error(fmt::format("{}: a block of {} x {} x {} threads; no device takes more than {}",
                                kernel_text(kernel), block.x, block.y, block.z, most));
}

void require_cluster(const kernel& kernel, const launch_config& config) {
  if (!config.cluster) return;
  const dim3& cluster = *config.cluster;
  require_extents(kernel, cluster, "cluster");
  if (config.grid.x % cluster.x == 0 && config.grid.y % cluster.y == 0 &&
      config.grid.z % cluster.z == 0)
    return;
  throw usage_error(kernel_text(kernel) +
                    ": the cluster does not divide the grid; each extent of the grid must be a "
                    "multiple of that of the cluster");
}

// Where the driver would put the handle by which a device updates the node, nobody could read it.
void require_attributes(const kernel& kernel, const launch_config& config) {
  for (const launch_attribute& each : config.attributes)
    if (each.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      throw usage_error(
          kernel_text(kernel) +
          ": launch attribute 13 makes a node that the device updates, and gives its handle back, "
          "which a launch of cugraft cannot; such a node takes no part in updates either (driver "
          "rules, 1.4): launch it by cuLaunchKernelEx");
}

}  // namespace

std::string kernel_text(const kernel& kernel) {
  return "kernel \"" + std::string(kernel.name()) + "\"";
}

void require_launchable(const driver_table& table, object where, const launch_config& config,
                        const kernel& kernel) {
  if (kernel.get() == nullptr) throw usage_error("launch: the kernel is empty");
  if (state_of(kernel)->table != &table)
    throw usage_error(kernel_text(kernel) + " is of another driver than " + identify(where) +
                      ": load it again with the " + where.kind + "'s driver");
  require_extents(kernel, config.grid, "grid");
  require_extents(kernel, config.block, "block");
  require_threads(kernel, config.block);
  require_cluster(kernel, config);
  require_attributes(kernel, config);
}

void require_count(const kernel& kernel, std::size_t given) {
  const std::size_t wanted = kernel.parameters().size();
  if (given == wanted) return;
  throw usage_error(kernel_text(kernel) + " takes " + std::to_string(wanted) + " argument" +
                    (wanted == 1 ? "" : "s") + ", " + std::to_string(given) + " given");
}

void require_sizes(const kernel& kernel, std::span<const detail::argument> arguments) {
  const std::span<const kernel_parameter> parameters = kernel.parameters();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].size != parameters[i].size)
      throw usage_error(kernel_text(kernel) + ", argument " + std::to_string(i) + ": " +
                        std::to_string(parameters[i].size) + " bytes wanted, " +
                        std::to_string(arguments[i].size) + " given; cast to the parameter's type");
}

void require_bytes(const char* what, std::size_t count) {
  if (count == 0)
    throw usage_error(std::string(what) +
                      ": nothing to do for 0; leave the call out, since a node of size 0 cannot be "
                      "updated (driver rules, 5.2)");
}

void require_element(const char* what, std::uint32_t value, unsigned element_size) {
  if (element_size != 1 && element_size != 2 && element_size != 4)
    throw usage_error(std::string(what) + ": elements of " + std::to_string(element_size) +
                      " bytes; 1, 2 and 4 are possible");
  if (element_size < 4 && (value >> (8 * element_size)) != 0)
    throw usage_error(std::string(what) + ": the value " + std::to_string(value) +
                      " does not fit an element of " + std::to_string(element_size) + " byte" +
                      (element_size == 1 ? "" : "s"));
}

}  // namespace cugraft
