// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "cugraft_sim/control.hpp"
#include "function_facts.hpp"

namespace cugraft_sim {

/// What a driver that tests control knows of its calls: how many there were, which fail by plan,
/// which take longer. Its owner guards it with a lock, but for `wait` and `set_delay`.
class call_books {
 public:
  /// @throws std::invalid_argument  for a function that is not in the list, or a count of 0
  void plan(const fault& planned);
  /// @throws std::invalid_argument  without a code to return
  void plan(const random_faults& planned);
  std::size_t faults_hit() const noexcept { return hit_; }
  void clear_faults() noexcept;

  /// @throws std::invalid_argument  for a function that is not in the list
  std::uint64_t count(std::string_view function) const;
  void start_log() { is_logging_ = true; }
  std::vector<call> take_log();

  /// @throws std::invalid_argument  for a function that is not in the list
  void hide(std::string_view function);
  bool is_hidden(function_id id) const noexcept;

  /// @throws std::invalid_argument  for a function that is not in the list
  void set_delay(std::string_view function, unsigned microseconds);
  /// Sleeps as long as the function is to take longer.
  void wait(function_id id) const;

  /// What the plan says about the call that begins now, which it counts.
  std::optional<fault> begin(function_id id);
  void end(function_id id, CUresult result);

 private:
  struct planned_fault {
    function_id id;
    fault what;
    std::uint64_t seen = 0;
  };

  std::optional<fault> fault_by_chance(function_id id);

  std::array<std::uint64_t, function_count> counts_{};
  std::array<bool, function_count> hidden_{};
  std::array<std::atomic<unsigned>, function_count> delays_{};  // microseconds
  std::vector<planned_fault> faults_;
  random_faults random_;
  std::mt19937_64 chance_;
  std::size_t hit_ = 0;
  bool is_logging_ = false;
  std::vector<call> log_;
};

}  // namespace cugraft_sim
