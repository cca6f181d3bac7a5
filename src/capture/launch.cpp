// SPDX-License-Identifier: Apache-2.0
#include "cugraft/launch.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/launch_checks.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"

// Kernel launches on any stream: checked, then given to the open session that has the stream, else
// to the driver.

namespace cugraft {
namespace {

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
  if (launch_filter* const filter = filter_of(stream))
    if (filter->takes(config, kernel, arguments)) return;
  require_launchable(table_of(stream), stream.get(), config, kernel);
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
  require_launchable(table_of(stream), stream.get(), config, kernel);
  require_count(kernel, arguments.size());
  pointer_list pointers(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) pointers[i] = arguments[i];
  enqueue(stream, config, kernel, pointers.data());
}

void launch_packed(stream_ref stream, const launch_config& config, const kernel& kernel,
                   std::span<const std::byte> arguments) {
  require_launchable(table_of(stream), stream.get(), config, kernel);
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
