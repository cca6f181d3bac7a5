// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "entry.hpp"

namespace cugraft_sim {

/// A line of the function list.
struct function_facts {
  std::string_view name;  ///< as `cuGetProcAddress` wants it
  int version = 0;        ///< that brought this form
};

const function_facts& facts_of(function_id id) noexcept;

/// The function of this base name, if it is in the list.
std::optional<function_id> find_function_id(std::string_view name) noexcept;

/// What a call needs before it can be made.
enum class needs { nothing, initialisation, sound_context };

needs needs_of(function_id id) noexcept;

/// Whether the function gives something back to the driver.
bool is_release(function_id id) noexcept;

}  // namespace cugraft_sim
