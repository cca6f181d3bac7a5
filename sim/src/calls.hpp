// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "call_books.hpp"
#include "check.hpp"
#include "cuda_api.hpp"
#include "entry.hpp"
#include "function_facts.hpp"
#include "null_stream.hpp"
#include "state.hpp"

namespace cugraft_sim {

/// CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, which the older headers do not have: what a library
/// without the function's symbol cannot say.
inline constexpr auto error_requires_newer_driver = static_cast<CUresult>(36);

/// Whether the driver of the set version has the function and nobody hid it. Needs the lock.
bool is_offered(function_id id) noexcept;

/// The bookkeeping of this driver's calls. Needs the lock where `call_books` says so.
call_books& the_calls() noexcept;

/// What an exported function is.
struct entry_point {
  function_id id;
  int version = facts_of(id).version;  ///< that brought it
  null_stream_is null_stream = null_stream_is::legacy;
};

/// The checks before any implementation: version, initialisation, soundness of the context.
CUresult check_before(const entry_point& which);

/// The result of a call whose implementation returned `result`: a release does its work also where
/// the context has failed, and then tells of the failure.
CUresult result_after(function_id id, CUresult result);

/// What every exported function does. It takes the driver's lock.
template <class... Parameters>
CUresult enter(const entry_point& which, CUresult (*implementation)(Parameters...),
               Parameters... arguments) {
  const function_id id = which.id;
  the_calls().wait(id);
  const auto lock = lock_state();
  const check::function_scope named(id);
  const null_stream_scope null_stream(which.null_stream);
  const std::optional<fault> planned = the_calls().begin(id);
  CUresult result = CUDA_SUCCESS;
  if (!planned || planned->after_effect) {
    result = check_before(which);
    if (result == CUDA_SUCCESS) result = result_after(id, implementation(arguments...));
  }
  if (planned) result = static_cast<CUresult>(planned->code);
  the_calls().end(id, result);
  return result;
}

}  // namespace cugraft_sim
