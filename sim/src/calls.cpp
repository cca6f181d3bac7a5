// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "callback.hpp"
#include "context.hpp"

namespace cugraft_sim {
namespace {

constexpr std::array<function_facts, function_count> all_facts{{
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) {name, version},
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
}};

// What a call needs before it can be made.
enum class needs { nothing, initialisation, sound_context };

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

CUresult failure_of_current_context() {
  const std::shared_ptr<context> current = the_state().contexts.find(current_context_handle());
  return current ? current->failure.load() : CUDA_SUCCESS;
}

struct planned_fault {
  function_id id;
  fault what;
  std::uint64_t seen = 0;
};

struct bookkeeping {
  std::array<std::uint64_t, function_count> counts{};
  std::array<bool, function_count> hidden{};
  std::vector<planned_fault> faults;
  random_faults random;
  std::mt19937_64 chance;
  std::size_t hit = 0;
  bool logging = false;
  std::vector<call> log;
};

bookkeeping& books() noexcept {
  static auto* const instance = new bookkeeping;
  return *instance;
}

std::size_t index_of(function_id id) noexcept { return static_cast<std::size_t>(id); }

function_id require_id(std::string_view name) {
  if (const auto id = find_function_id(name)) return *id;
  throw std::invalid_argument("the simulated driver has no function " + std::string(name));
}

// The same calls give the same faults: one number is drawn for each call that may fail.
std::optional<fault> fault_by_chance(function_id id) {
  const random_faults& planned = books().random;
  if (planned.per_million == 0 || needs_of(id) == needs::nothing) return std::nullopt;
  if (is_release(id) && !planned.releases) return std::nullopt;
  constexpr std::uint64_t million = 1'000'000;
  const std::uint64_t drawn = books().chance();
  if (drawn % million >= planned.per_million) return std::nullopt;
  const int code = planned.codes[drawn / million % planned.codes.size()];
  return fault{.function = std::string(facts_of(id).name), .code = code};
}

std::array<std::atomic<unsigned>, function_count>& delays() noexcept {
  static std::array<std::atomic<unsigned>, function_count> microseconds{};
  return microseconds;
}

}  // namespace

const function_facts& facts_of(function_id id) noexcept { return all_facts[index_of(id)]; }

std::optional<function_id> find_function_id(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_facts, name, &function_facts::name);
  if (found == all_facts.end()) return std::nullopt;
  return static_cast<function_id>(found - all_facts.begin());
}

bool is_offered(function_id id) noexcept {
  return facts_of(id).version <= the_state().version && !books().hidden[index_of(id)];
}

CUresult check_before(function_id id) {
  if (!is_offered(id)) return error_requires_newer_driver;
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

namespace calls {

void plan(const fault& planned) {
  if (planned.nth == 0) throw std::invalid_argument("faults are counted from 1");
  books().faults.push_back({require_id(planned.function), planned});
}

void plan(const random_faults& planned) {
  if (planned.codes.empty()) throw std::invalid_argument("random faults need a code to return");
  books().random = planned;
  books().chance.seed(planned.seed);
}

std::size_t faults_hit() noexcept { return books().hit; }

void set_delay(std::string_view function, unsigned microseconds) {
  delays()[index_of(require_id(function))] = microseconds;
}

void wait(function_id id) {
  const unsigned microseconds = delays()[index_of(id)];
  if (microseconds != 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

void clear_faults() noexcept {
  books().faults.clear();
  books().random = {};
  books().hit = 0;
}

std::uint64_t count(std::string_view function) {
  return books().counts[index_of(require_id(function))];
}

void start_log() { books().logging = true; }

std::vector<call> take_log() {
  books().logging = false;
  return std::exchange(books().log, {});
}

void hide(std::string_view function) { books().hidden[index_of(require_id(function))] = true; }

std::optional<fault> begin(function_id id) {
  ++books().counts[index_of(id)];
  std::optional<fault> due;
  for (planned_fault& each : books().faults) {
    if (each.id != id) continue;
    ++each.seen;
    const bool hits =
        each.seen == each.what.nth || (each.what.from_then_on && each.seen > each.what.nth);
    if (hits && !due) due = each.what;
  }
  if (!due) due = fault_by_chance(id);
  if (due) ++books().hit;
  return due;
}

void end(function_id id, CUresult result) {
  if (books().logging) books().log.push_back({std::string(facts_of(id).name), result});
}

}  // namespace calls
}  // namespace cugraft_sim
