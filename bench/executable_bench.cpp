// SPDX-License-Identifier: Apache-2.0
// What bringing an executable up to date costs after a re-capture, which is not measured here.
#include <fmt/format.h>

#include <chrono>

#include "chain_program.hpp"
#include "registration.hpp"

namespace cugraft::bench {
namespace {

void update_chain(benchmark::State& state, update_method method, std::size_t size,
                  const share& changed) {
  using clock = std::chrono::steady_clock;
  chain_program program(size, changed.of(size));
  graph graph = program.capture_now();
  graph_exec exec = graph.instantiate();
  for (auto _ : state) {
    program.next_round();
    program.recapture_into(graph, engine::automatic);
    const clock::time_point begin = clock::now();
    const exec_update update = exec.update({.may_instantiate = false, .force = method});
    const std::chrono::duration<double> seconds = clock::now() - begin;
    state.SetIterationTime(seconds.count());
    if (!update) throw error("the update was refused");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void add_update(const char* name, update_method method, std::size_t size, const share& changed) {
  add(fmt::format("executable.{}_{}.{}", name, changed.name, size),
      [=](benchmark::State& state) { update_chain(state, method, size, changed); })
      ->UseManualTime()
      ->Iterations(rounds_of(size));
}

}  // namespace

void add_executable_benchmarks() {
  for (const share& changed : shares())
    for (const std::size_t size : chain_sizes()) {
      add_update("patched", update_method::patched, size, changed);
      add_update("whole", update_method::whole, size, changed);
    }
}

}  // namespace cugraft::bench
