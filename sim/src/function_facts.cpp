// SPDX-License-Identifier: Apache-2.0
#include "function_facts.hpp"

#include <algorithm>
#include <array>

namespace cugraft_sim {
namespace {

constexpr std::array<function_facts, function_count> all_facts{{
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) {name, version},
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
}};

}  // namespace

const function_facts& facts_of(function_id id) noexcept {
  return all_facts[static_cast<std::size_t>(id)];
}

std::optional<function_id> find_function_id(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_facts, name, &function_facts::name);
  if (found == all_facts.end()) return std::nullopt;
  return static_cast<function_id>(found - all_facts.begin());
}

needs needs_of(function_id id) noexcept {
  switch (id) {
    case function_id::init:
    case function_id::driver_get_version:
    case function_id::get_proc_address:
    case function_id::get_error_name:
    case function_id::get_error_string:
      return needs::nothing;
    case function_id::device_get:
    case function_id::device_get_count:
    case function_id::device_get_name:
    case function_id::device_get_attribute:
    case function_id::device_primary_ctx_retain:
    case function_id::device_primary_ctx_release:
    case function_id::ctx_push_current:
    case function_id::ctx_pop_current:
    case function_id::ctx_set_current:
    case function_id::ctx_get_current:
    case function_id::ctx_create:
    case function_id::ctx_destroy:
    case function_id::device_can_access_peer:
    case function_id::thread_exchange_stream_capture_mode:
      return needs::initialisation;
    default:
      return needs::sound_context;
  }
}

bool is_release(function_id id) noexcept {
  switch (id) {
    case function_id::stream_destroy:
    case function_id::event_destroy:
    case function_id::mem_free:
    case function_id::mem_free_host:
    case function_id::mem_pool_destroy:
    case function_id::library_unload:
    case function_id::graph_destroy:
    case function_id::graph_exec_destroy:
    case function_id::user_object_release:
    case function_id::graph_release_user_object:
      return true;
    default:
      return false;
  }
}

}  // namespace cugraft_sim
