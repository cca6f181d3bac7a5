// SPDX-License-Identifier: Apache-2.0
// A whole step with its launch, as the loop of a program pays for it: by launching everything
// again, by a capture that is instantiated, by a capture that is given to cuGraphExecUpdate, and by
// re-capture and update. That the device is done is waited for outside.
#include <fmt/format.h>

#include <chrono>

#include "chain_program.hpp"
#include "registration.hpp"

namespace cugraft::bench {
namespace {

using clock = std::chrono::steady_clock;

template <class Step>
void measure(benchmark::State& state, chain_program& program, Step step) {
  for (auto _ : state) {
    program.next_round();
    const clock::time_point begin = clock::now();
    step();
    const std::chrono::duration<double> seconds = clock::now() - begin;
    state.SetIterationTime(seconds.count());
    program.stream().synchronize();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(program.size()));
}

void recaptured_step(benchmark::State& state, std::size_t size, int per_cent) {
  chain_program program(size, changed_nodes(size, per_cent));
  graph graph = program.capture_now();
  graph_exec exec = graph.instantiate();
  measure(state, program, [&] {
    program.recapture_into(graph, engine::automatic);
    exec.update();
    exec.launch(program.stream());
  });
}

void eager_step(benchmark::State& state, std::size_t size) {
  chain_program program(size, 0);
  measure(state, program, [&] { program.enqueue(program.stream()); });
}

void instantiated_step(benchmark::State& state, std::size_t size) {
  chain_program program(size, 0);
  measure(state, program, [&] {
    graph graph = program.capture_now();
    graph.instantiate().launch(program.stream());
  });
}

/// `cuGraphExecUpdate` as programs without cugraft call it.
class whole_update {
 public:
  explicit whole_update(const context& context)
      : update_(find<update_function>(context.get_driver(), "cuGraphExecUpdate", 12000)) {
    const auto set_current = find<int(CUcontext)>(context.get_driver(), "cuCtxSetCurrent", 4000);
    if (set_current(context.get()) != 0) throw error("the context cannot be made current");
  }

  void operator()(const graph_exec& exec, const graph& graph) const {
    update_result_info info;
    if (update_(exec.get(), graph.get(), &info) != 0) throw error("the update was refused");
  }

 private:
  struct update_result_info {  // CUgraphExecUpdateResultInfo
    int result = 0;
    CUgraphNode error_node = nullptr;
    CUgraphNode error_from_node = nullptr;
  };
  using update_function = int(CUgraphExec, CUgraph, update_result_info*);

  template <class Function>
  static Function* find(const driver& driver, const char* name, int version) {
    return reinterpret_cast<Function*>(driver.entry_point(name, version));
  }

  update_function* update_;
};

void whole_update_step(benchmark::State& state, std::size_t size, int per_cent) {
  chain_program program(size, changed_nodes(size, per_cent));
  const whole_update update(program.get_context());
  graph_exec exec = program.capture_now().instantiate();
  measure(state, program, [&] {
    update(exec, program.capture_now());
    exec.launch(program.stream());
  });
}

}  // namespace

void add_step_benchmarks() {
  for (const std::size_t size : chain_sizes()) {
    add(fmt::format("step.eager.{}", size), [=](benchmark::State& state) {
      eager_step(state, size);
    })->UseManualTime();
    add(fmt::format("step.instantiated.{}", size), [=](benchmark::State& state) {
      instantiated_step(state, size);
    })->UseManualTime();
    for (const int per_cent : changed_shares()) {
      add(fmt::format("step.whole_update_{}_per_cent.{}", per_cent, size),
          [=](benchmark::State& state) { whole_update_step(state, size, per_cent); })
          ->UseManualTime();
      add(fmt::format("step.recaptured_{}_per_cent.{}", per_cent, size),
          [=](benchmark::State& state) { recaptured_step(state, size, per_cent); })
          ->UseManualTime();
    }
  }
}

}  // namespace cugraft::bench
