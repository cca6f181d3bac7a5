// SPDX-License-Identifier: Apache-2.0
// What a capture costs with cugraft, its destruction included.
#include <fmt/format.h>

#include "chain_program.hpp"
#include "registration.hpp"

namespace cugraft::bench {
namespace {

void capture_chain(benchmark::State& state, std::size_t size) {
  const chain_program program(size, 0);
  for (auto _ : state) benchmark::DoNotOptimize(program.capture_now().node_count());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

}  // namespace

void add_capture_benchmarks() {
  for (const std::size_t size : chain_sizes())
    add(fmt::format("capture.chain.{}", size),
        [size](benchmark::State& state) { capture_chain(state, size); });
}

}  // namespace cugraft::bench
