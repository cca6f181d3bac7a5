// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <memory>

#include "callback.hpp"
#include "context.hpp"

namespace cugraft_sim {
namespace {

CUresult failure_of_current_context() {
  const std::shared_ptr<context> current = the_state().contexts.find(current_context_handle());
  return current ? current->failure.load() : CUDA_SUCCESS;
}

}  // namespace

call_books& the_calls() noexcept {
  static auto* const instance = new call_books;  // worker threads outlive main()
  return *instance;
}

bool is_offered(function_id id) noexcept {
  return facts_of(id).version <= the_state().version && !the_calls().is_hidden(id);
}

CUresult check_before(const entry_point& which) {
  const function_id id = which.id;
  if (!is_offered(id) || which.version > the_state().version) return error_requires_newer_driver;
  const needs needed = needs_of(id);
  if (needed == needs::nothing) return CUDA_SUCCESS;
  if (callback_scope::is_open()) {
    check::call_from_callback();
    return CUDA_ERROR_NOT_PERMITTED;
  }
  if (!the_state().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (needed == needs::initialisation || is_release(id)) return CUDA_SUCCESS;
  return failure_of_current_context();
}

CUresult result_after(function_id id, CUresult result) {
  return result == CUDA_SUCCESS && is_release(id) ? failure_of_current_context() : result;
}

}  // namespace cugraft_sim
