// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cugraft/cugraft.hpp"
#include "demo_shape.hpp"
#include "demo_ways.hpp"

namespace cugraft::cli {

/// Elements in which a run differs from the eager one.
struct difference {
  std::string way;
  std::size_t count = 0;
  std::size_t first = 0;  ///< element of the state
  float expected = 0;
  float found = 0;
};

/// What one step did.
struct step_result {
  decode_step step;
  change_report report;
  exec_update update;
  std::vector<difference> differences;  ///< none: all ways agree in every element
  double reference_error = 0;           ///< greatest distance to the reference's probabilities
  step_cost eager, whole_update, recapture;
};

/// Greatest distance to the reference that float arithmetic explains: probabilities are at most 1,
/// and a sum has at most a few hundred terms.
inline constexpr double reference_tolerance = 1e-4;

/// What all steps did.
struct demo_result {
  std::size_t nodes = 0;
  std::size_t elements = 0;  ///< compared after each step, in each way
  std::uint64_t digest = 0;  ///< of the eager run's state after the last step
  std::vector<step_result> steps{};

  bool agree() const noexcept;
  double reference_error() const noexcept;
  std::size_t nodes_changed() const noexcept;
  std::size_t nodes_patched() const noexcept;
  engine engine_used() const noexcept;
};

/// Median over the steps.
step_cost median_cost(const demo_result& result, step_cost step_result::*way);

/// FNV-1a of the elements' bytes: equal where two drivers computed the same bits.
std::uint64_t digest_of(std::span<const float> elements) noexcept;

/// Compares bit by bit, so that a NaN equals itself and -0 is not 0.
std::optional<difference> compare(std::string way, std::span<const float> expected,
                                  std::span<const float> found);

}  // namespace cugraft::cli
