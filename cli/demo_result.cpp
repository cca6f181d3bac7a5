// SPDX-License-Identifier: Apache-2.0
#include "demo_result.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace cugraft::cli {
namespace {

using nanoseconds = std::chrono::nanoseconds;

nanoseconds median(std::vector<nanoseconds> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

// Written so that a distance that is no number does not pass.
bool demo_result::agree() const noexcept {
  return std::all_of(steps.begin(), steps.end(), [](const step_result& step) {
    return step.differences.empty() && step.reference_error <= reference_tolerance;
  });
}

double demo_result::reference_error() const noexcept {
  double greatest = 0;
  for (const step_result& step : steps)
    if (!(step.reference_error <= greatest)) greatest = step.reference_error;
  return greatest;
}

std::size_t demo_result::nodes_changed() const noexcept {
  std::size_t sum = 0;
  for (const step_result& step : steps) sum += step.report.nodes_changed();
  return sum;
}

std::size_t demo_result::nodes_patched() const noexcept {
  std::size_t sum = 0;
  for (const step_result& step : steps) sum += step.update.nodes_patched;
  return sum;
}

engine demo_result::engine_used() const noexcept {
  return steps.empty() ? engine::automatic : steps.back().report.engine_used();
}

step_cost median_cost(const demo_result& result, step_cost step_result::*way) {
  std::vector<nanoseconds> prepare;
  std::vector<nanoseconds> total;
  for (const step_result& step : result.steps) {
    prepare.push_back((step.*way).prepare);
    total.push_back((step.*way).total);
  }
  return {median(std::move(prepare)), median(std::move(total))};
}

std::uint64_t digest_of(std::span<const float> elements) noexcept {
  std::uint64_t digest = 14695981039346656037U;
  for (const std::byte byte : std::as_bytes(elements))
    digest = (digest ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
  return digest;
}

std::optional<difference> compare(std::string way, std::span<const float> expected,
                                  std::span<const float> found) {
  std::optional<difference> result;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(expected[i]) == std::bit_cast<std::uint32_t>(found[i]))
      continue;
    if (!result) result = {std::move(way), 0, i, expected[i], found[i]};
    ++result->count;
  }
  return result;
}

}  // namespace cugraft::cli
