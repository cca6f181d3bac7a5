// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <string>

#include "cugraft/error.hpp"

namespace cugraft::bench {

/// Adds a benchmark whose refusal by the driver, as for want of a newer one, is a skip with the
/// driver's or the library's sentence.
template <class Function>
benchmark::internal::Benchmark* add(const std::string& id, Function function) {
  return benchmark::RegisterBenchmark(id.c_str(), [function](benchmark::State& state) {
    try {
      function(state);
    } catch (const error& failure) {
      state.SkipWithError(failure.what());
    }
  });
}

/// What the files of benchmarks add; called once.
void add_capture_benchmarks();
void add_recapture_benchmarks();
void add_executable_benchmarks();
void add_step_benchmarks();

}  // namespace cugraft::bench
