// SPDX-License-Identifier: Apache-2.0
// What a re-capture costs, by engine and by the share of nodes that change each time.
#include <fmt/format.h>

#include <vector>

#include "chain_program.hpp"
#include "registration.hpp"

namespace cugraft::bench {
namespace {

void recapture_chain(benchmark::State& state, engine with, std::size_t size, const share& changed) {
  chain_program program(size, changed.of(size));
  graph graph = program.capture_now();
  for (auto _ : state) {
    program.next_round();
    benchmark::DoNotOptimize(program.recapture_into(graph, with).nodes_changed());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

}  // namespace

void add_recapture_benchmarks() {
  std::vector<engine> measured{engine::compare, engine::direct};
  if (measured_driver().supports(feature::recapture_to_graph)) measured.push_back(engine::native);
  for (const engine with : measured)
    for (const share& changed : shares())
      for (const std::size_t size : chain_sizes())
        add(fmt::format("recapture.{}_{}.{}", to_string(with), changed.name, size),
            [=](benchmark::State& state) { recapture_chain(state, with, size, changed); });
}

}  // namespace cugraft::bench
