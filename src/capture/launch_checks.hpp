// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/identify.hpp"
#include "cugraft/launch.hpp"
#include "driver/table.hpp"

// What is wrong with a launch, a copy or a fill before the driver sees it.

namespace cugraft {

/// "kernel \"scale\"".
std::string kernel_text(const kernel& kernel);

/// The kernel is of the driver of `table`, and the launch one that some device takes. `where` is
/// the stream or the graph that it is for.
/// @throws usage_error
void require_launchable(const driver_table& table, object where, const launch_config& config,
                        const kernel& kernel);

/// As many arguments as the kernel's layout has, or each of its size too. @throws usage_error
void require_count(const kernel& kernel, std::size_t given);
void require_sizes(const kernel& kernel, std::span<const detail::argument> arguments);

/// `count` is not 0. `what` is the call. @throws usage_error
void require_bytes(const char* what, std::size_t count);

/// Elements of `element_size` bytes can be filled with `value`. @throws usage_error
void require_element(const char* what, std::uint32_t value, unsigned element_size);

}  // namespace cugraft
