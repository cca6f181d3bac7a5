// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cugraft/kernel.hpp"
#include "driver/table.hpp"
#include "handles/library_state.hpp"

namespace cugraft {
namespace detail {

/// What the copies of a kernel share. Immutable once made.
struct kernel_state {
  const driver_table* table = nullptr;
  CUfunction function = nullptr;
  std::string name;
  std::vector<kernel_parameter> parameters;
  std::shared_ptr<const library_state> library;  ///< null for a function that others own
};

}  // namespace detail

inline const std::shared_ptr<const detail::kernel_state>& state_of(const kernel& kernel) noexcept {
  return detail::access::state(kernel);
}

/// Loads `function`, so that no capture has to, and reads its name and layout.
/// @throws unsupported_error, cuda_error
kernel make_kernel(const driver_table& table, CUfunction function,
                   std::shared_ptr<const detail::library_state> library);

/// The function of `kernel` in `context`.
/// @throws cuda_error
CUfunction function_of(const detail::context_state& context, CUkernel kernel);

}  // namespace cugraft
