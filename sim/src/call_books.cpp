// SPDX-License-Identifier: Apache-2.0
#include "call_books.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace cugraft_sim {
namespace {

std::size_t index_of(function_id id) noexcept { return static_cast<std::size_t>(id); }

function_id require_id(std::string_view name) {
  if (const auto id = find_function_id(name)) return *id;
  throw std::invalid_argument("the list of driver functions has no " + std::string(name));
}

}  // namespace

void call_books::plan(const fault& planned) {
  if (planned.nth == 0) throw std::invalid_argument("faults are counted from 1");
  faults_.push_back({require_id(planned.function), planned});
}

void call_books::plan(const random_faults& planned) {
  if (planned.codes.empty()) throw std::invalid_argument("random faults need a code to return");
  random_ = planned;
  chance_.seed(planned.seed);
}

void call_books::clear_faults() noexcept {
  faults_.clear();
  random_ = {};
  hit_ = 0;
}

std::uint64_t call_books::count(std::string_view function) const {
  return counts_[index_of(require_id(function))];
}

std::vector<call> call_books::take_log() {
  is_logging_ = false;
  return std::exchange(log_, {});
}

void call_books::hide(std::string_view function) { hidden_[index_of(require_id(function))] = true; }

bool call_books::is_hidden(function_id id) const noexcept { return hidden_[index_of(id)]; }

void call_books::set_delay(std::string_view function, unsigned microseconds) {
  delays_[index_of(require_id(function))] = microseconds;
}

void call_books::wait(function_id id) const {
  const unsigned microseconds = delays_[index_of(id)];
  if (microseconds != 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

// The same calls give the same faults: one number is drawn for each call that may fail.
std::optional<fault> call_books::fault_by_chance(function_id id) {
  if (random_.per_million == 0 || needs_of(id) == needs::nothing) return std::nullopt;
  if (is_release(id) && !random_.releases) return std::nullopt;
  constexpr std::uint64_t million = 1'000'000;
  const std::uint64_t drawn = chance_();
  if (drawn % million >= random_.per_million) return std::nullopt;
  const int code = random_.codes[drawn / million % random_.codes.size()];
  return fault{.function = std::string(facts_of(id).name), .code = code};
}

std::optional<fault> call_books::begin(function_id id) {
  ++counts_[index_of(id)];
  std::optional<fault> due;
  for (planned_fault& each : faults_) {
    if (each.id != id) continue;
    ++each.seen;
    const bool hits =
        each.seen == each.what.nth || (each.what.from_then_on && each.seen > each.what.nth);
    if (hits && !due) due = each.what;
  }
  if (!due) due = fault_by_chance(id);
  if (due) ++hit_;
  return due;
}

void call_books::end(function_id id, CUresult result) {
  if (is_logging_) log_.push_back({std::string(facts_of(id).name), result});
}

}  // namespace cugraft_sim
