// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "cuda_api.hpp"
#include "cugraft_sim/control.hpp"
#include "entry.hpp"
#include "state.hpp"

namespace cugraft_sim {

/// CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, which the older headers do not have: what a library
/// without the function's symbol cannot say.
inline constexpr auto error_requires_newer_driver = static_cast<CUresult>(36);

/// A line of the function list.
struct function_facts {
  std::string_view name;  ///< as `cuGetProcAddress` wants it
  int version = 0;        ///< that brought this form
};

const function_facts& facts_of(function_id id) noexcept;

/// The function of this base name, if it is in the list.
std::optional<function_id> find_function_id(std::string_view name) noexcept;

/// Whether the driver of the set version has the function and nobody hid it. Needs the lock.
bool is_offered(function_id id) noexcept;

/// The bookkeeping of calls. All of it needs the lock.
namespace calls {

/// @throws std::invalid_argument  for a function that is not in the list, or a count of 0
void plan(const fault& planned);
void plan(const random_faults& planned);
std::size_t faults_hit() noexcept;
void clear_faults() noexcept;

/// @throws std::invalid_argument  for a function that is not in the list
std::uint64_t count(std::string_view function);
void start_log();
std::vector<call> take_log();

/// @throws std::invalid_argument  for a function that is not in the list
void hide(std::string_view function);

/// @throws std::invalid_argument  for a function that is not in the list
void set_delay(std::string_view function, unsigned microseconds);
/// Sleeps as long as the function is to take longer. Without the lock.
void wait(function_id id);

/// What the plan says about the call that begins now, which it counts.
std::optional<fault> begin(function_id id);
void end(function_id id, CUresult result);

}  // namespace calls

/// The checks before any implementation: version, initialisation, soundness of the context.
CUresult check_before(function_id id);

/// The result of a call whose implementation returned `result`: a release does its work also where
/// the context has failed, and then tells of the failure.
CUresult result_after(function_id id, CUresult result);

/// What every exported function does. It expects and holds the driver's lock.
template <class... Parameters>
CUresult enter(function_id id, CUresult (*implementation)(Parameters...), Parameters... arguments) {
  calls::wait(id);
  const auto lock = lock_state();
  const check::function_scope named(id);
  const std::optional<fault> planned = calls::begin(id);
  CUresult result = CUDA_SUCCESS;
  if (!planned || planned->after_effect) {
    result = check_before(id);
    if (result == CUDA_SUCCESS) result = result_after(id, implementation(arguments...));
  }
  if (planned) result = static_cast<CUresult>(planned->code);
  calls::end(id, result);
  return result;
}

}  // namespace cugraft_sim
