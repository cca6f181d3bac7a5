// SPDX-License-Identifier: Apache-2.0
#include "cugraft/launch.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/kernel_state.hpp"

// Kernel launches on any stream: checked, then given to the open session that has the stream, else
// to the driver.

namespace cugraft {
namespace {

std::string kernel_text(const kernel& kernel) {
  return "kernel \"" + std::string(kernel.name()) + "\"";
}

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

void require_launchable(stream_ref stream, const launch_config& config, const kernel& kernel) {
  if (kernel.get() == nullptr) throw usage_error("launch: the kernel is empty");
  if (state_of(kernel)->table != &table_of(stream))
    throw usage_error(kernel_text(kernel) + " is of another driver than " + identify(stream.get()) +
                      ": load it again with the stream's driver");
  require_extents(kernel, config.grid, "grid");
  require_extents(kernel, config.block, "block");
  require_threads(kernel, config.block);
  require_cluster(kernel, config);
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

void enqueue(stream_ref stream, const launch_config& config, const kernel& kernel,
             void* const* arguments) {
  if (const auto session = recorder_of(stream))
    return session->launch(stream, config, kernel, arguments);
  const call_result result =
      driver_launch(table_of(stream), stream.get(), config, kernel, arguments);
  check(result.code, result.function, stream.get(), kernel.get());
}

// Pointers to argument values; small counts need no allocation.
class pointer_list {
 public:
  explicit pointer_list(std::size_t count) {
    if (count + 1 > few_.size()) many_.resize(count + 1);
  }
  void*& operator[](std::size_t i) noexcept { return data()[i]; }
  void** data() noexcept { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<void*, 24> few_{};
  std::vector<void*> many_;
};

}  // namespace

namespace detail {

void launch(stream_ref stream, const launch_config& config, const kernel& kernel,
            std::span<const argument> arguments, bool check_sizes) {
  require_launchable(stream, config, kernel);
  require_count(kernel, arguments.size());
  if (check_sizes) require_sizes(kernel, arguments);
  pointer_list pointers(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    pointers[i] = const_cast<void*>(arguments[i].data);
  enqueue(stream, config, kernel, pointers.data());
}

}  // namespace detail

void launch_raw(stream_ref stream, const launch_config& config, const kernel& kernel,
                std::span<void* const> arguments) {
  require_launchable(stream, config, kernel);
  require_count(kernel, arguments.size());
  pointer_list pointers(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) pointers[i] = arguments[i];
  enqueue(stream, config, kernel, pointers.data());
}

void launch_packed(stream_ref stream, const launch_config& config, const kernel& kernel,
                   std::span<const std::byte> arguments) {
  require_launchable(stream, config, kernel);
  const std::span<const kernel_parameter> parameters = kernel.parameters();
  pointer_list pointers(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t end = parameters[i].offset + parameters[i].size;
    if (end > arguments.size())
      throw usage_error(kernel_text(kernel) + ": argument " + std::to_string(i) + " ends at byte " +
                        std::to_string(end) + " of the packed arguments, " +
                        std::to_string(arguments.size()) + " given");
    pointers[i] = const_cast<std::byte*>(arguments.data()) + parameters[i].offset;
  }
  enqueue(stream, config, kernel, pointers.data());
}

}  // namespace cugraft
