// SPDX-License-Identifier: Apache-2.0
// A whole step with its launch, as the loop of a program pays for it. That the device is done is
// waited for outside.
#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "manual_step.hpp"
#include "registration.hpp"
#include "step_clock.hpp"
#include "step_program.hpp"

namespace cugraft::bench {
namespace {

struct step_case {
  step_shape shape;
  std::size_t size;
  share changed;
};

step_program make_program(const step_case& of) {
  step_program program(of.shape, of.size, of.changed.of(of.size));
  program.make_current();
  return program;
}

// The first rounds, in which the driver and the caches settle, are not counted.
template <class Step>
void measure(benchmark::State& state, step_program& program, step_clock& watch, Step step) {
  const auto round = [&] {
    program.next_round();
    watch.start();
    step();
    program.stream().synchronize();
  };
  for (int i = 0; i < 3; ++i) round();
  watch.forget();
  for (auto _ : state) {
    round();
    state.SetIterationTime(watch.step().count());
  }
  watch.report(state);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(program.size()));
}

void eager_step(benchmark::State& state, const step_case& of) {
  step_program program = make_program(of);
  step_clock watch;
  measure(state, program, watch, [&] {
    program.enqueue_raw();
    watch.lap("launch");
  });
}

void manual_step(benchmark::State& state, const step_case& of, manual_way way) {
  step_program program = make_program(of);
  step_clock watch;
  manual_loop loop(program);
  measure(state, program, watch, [&] { loop.run(way, watch); });
}

using step_clock_time = step_clock::clock::duration;

// Parts of the re-capture: what it says itself, the body in it, and the rest of the call.
void add_parts(step_clock& watch, step_clock_time whole, step_clock_time body,
               const report_timing& timing) {
  watch.add("body", body);
  watch.add("begin_end", timing.capture - body);
  watch.add("compare", timing.compare);
  watch.add("apply", timing.apply);
  watch.add("rest", whole - timing.capture - timing.compare - timing.apply);
}

void require_changes(std::size_t expected, const change_report& report) {
  if (report.nodes_changed() == expected) return;
  throw error(
      fmt::format("{} nodes changed, and the report says {}", expected, report.nodes_changed()));
}

void recapture_step(benchmark::State& state, const step_case& of, const recapture_options& options,
                    bool raw_calls) {
  using clock = step_clock::clock;
  step_program program = make_program(of);
  const std::size_t changed = program.changed();
  step_clock watch;
  step_clock_time body_time{};
  const auto body = [&](graph_builder& builder) {
    const clock::time_point begin = clock::now();
    if (raw_calls)
      program.enqueue_raw();
    else
      program.enqueue(builder);
    body_time = clock::now() - begin;
  };
  graph graph = capture(program.stream(), body);
  graph_exec exec = graph.instantiate();
  measure(state, program, watch, [&] {
    const clock::time_point begin = clock::now();
    const change_report report = graph.recapture(program.stream(), body, options);
    const step_clock_time whole = clock::now() - begin;
    watch.skip();
    exec.update();
    watch.lap("update");
    exec.launch(program.stream());
    watch.lap("launch");
    add_parts(watch, whole, body_time, report.timing());
    require_changes(changed, report);
  });
}

template <class Step>
benchmark::internal::Benchmark* add_step(const char* way, const step_case& of, Step step) {
  const std::string id =
      fmt::format("update.{}_{}_{}.{}", to_string(of.shape), way, of.changed.name, of.size);
  return add(id, [=](benchmark::State& state) { step(state, of); })
      ->UseManualTime()
      ->Iterations(rounds_of(of.size));
}

void add_manual(const char* name, const step_case& of, manual_way way) {
  add_step(name, of, [way](benchmark::State& state, const step_case& each) {
    manual_step(state, each, way);
  });
}

benchmark::internal::Benchmark* add_compare(const char* name, const step_case& of,
                                            attribute_check attributes, bool raw_calls) {
  return add_step(name, of, [=](benchmark::State& state, const step_case& each) {
    recapture_step(state, each, {.with = engine::compare, .attributes = attributes}, raw_calls);
  });
}

void add_direct(const step_case& of) {
  add_step("direct", of, [](benchmark::State& state, const step_case& each) {
    recapture_step(state, each, {.with = engine::direct}, false);
  });
}

// Side by side, so that what disturbs the machine meets all ways.
void add_updated(const step_case& of) {
  add_manual("manual", of, manual_way::update);
  add_compare("semantic", of, attribute_check::semantic, true);
  add_compare("none", of, attribute_check::none, true);
  add_compare("calls", of, attribute_check::semantic, false);
  add_direct(of);
}

// The ways that are compared with the manual one by what people call.
void add_large(const step_case& of) {
  add_manual("manual", of, manual_way::update);
  add_compare("calls", of, attribute_check::semantic, false);
  add_direct(of);
}

void add_instantiated(const step_case& of) {
  add_manual("instantiated", of, manual_way::instantiate);
  auto* const semantic = add_compare("semantic", of, attribute_check::semantic, true);
  if (of.shape == step_shape::allocation)
    semantic->Repetitions(1);  // it is refused, and says why once
  else
    add_compare("none", of, attribute_check::none, true);
}

}  // namespace

void add_step_benchmarks() {
  for (const share& changed : shares()) {
    for (const step_shape shape : {step_shape::chain, step_shape::mix, step_shape::decode})
      for (const std::size_t size : chain_sizes()) add_updated({shape, size, changed});
    add_large({step_shape::chain, 16384, changed});
    add_instantiated({step_shape::copy_2d, 1024, changed});
  }
  const share some = shares()[3];
  for (const std::size_t size : chain_sizes()) {
    for (const step_shape shape : {step_shape::chain, step_shape::mix, step_shape::decode})
      add_step("eager", {shape, size, some}, &eager_step);
    add_manual("instantiated", {step_shape::chain, size, some}, manual_way::instantiate);
  }
  add_instantiated({step_shape::allocation, 1024, some});
}

}  // namespace cugraft::bench
