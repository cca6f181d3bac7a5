// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace cugraft::bench {

/// The host time of a step and of its parts.
class step_clock {
 public:
  using clock = std::chrono::steady_clock;

  /// A step begins.
  void start() noexcept { begin_ = last_ = clock::now(); }

  /// What ran since `start` or the last `lap` was `part`.
  void lap(const char* part) {
    const clock::time_point now = clock::now();
    add(part, now - last_);
    last_ = now;
  }

  /// What ran since `start` or the last `lap` is given by `add`.
  void skip() noexcept { last_ = clock::now(); }

  /// The time of a part that somebody else took.
  void add(const char* part, clock::duration time) {
    for (auto& [name, sum] : parts_)
      if (name == part) {
        sum += time;
        return;
      }
    parts_.emplace_back(part, time);
  }

  /// Time of the present step up to the last `lap`.
  std::chrono::duration<double> step() const noexcept { return last_ - begin_; }

  /// Forgets the parts of the steps so far.
  void forget() noexcept { parts_.clear(); }

  /// The parts as counters, in microseconds a step.
  void report(benchmark::State& state) const {
    for (const auto& [name, sum] : parts_)
      state.counters[name] =
          benchmark::Counter(std::chrono::duration<double, std::micro>(sum).count(),
                             benchmark::Counter::kAvgIterations);
  }

 private:
  clock::time_point begin_, last_;
  std::vector<std::pair<std::string, clock::duration>> parts_;
};

}  // namespace cugraft::bench
