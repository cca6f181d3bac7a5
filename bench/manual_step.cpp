// SPDX-License-Identifier: Apache-2.0
#include "manual_step.hpp"

#include <utility>

namespace cugraft::bench {

manual_loop::manual_loop(const step_program& program)
    : program_(program), raw_(measured_raw_driver()) {
  step_clock unused;
  CUgraph graph = capture(unused);
  const CUresult made = raw_.graph_instantiate(&exec_, graph, 0);
  destroy(graph);
  check(made, "cuGraphInstantiateWithFlags");
}

manual_loop::~manual_loop() {
  if (exec_ != nullptr) static_cast<void>(raw_.graph_exec_destroy(exec_));
}

CUgraph manual_loop::capture(step_clock& watch) const {
  const CUstream stream = program_.stream().get();
  check(raw_.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "cuStreamBeginCapture");
  program_.enqueue_raw();
  watch.lap("body");
  CUgraph graph = nullptr;
  check(raw_.stream_end_capture(stream, &graph), "cuStreamEndCapture");
  watch.lap("begin_end");
  return graph;
}

void manual_loop::destroy(CUgraph graph) const {
  check(raw_.graph_destroy(graph), "cuGraphDestroy");
}

void manual_loop::destroy_executable() {
  check(raw_.graph_exec_destroy(std::exchange(exec_, nullptr)), "cuGraphExecDestroy");
}

void manual_loop::run(manual_way way, step_clock& watch) {
  CUgraph graph = capture(watch);  // left over where a check fails: the benchmark is over then
  if (way == manual_way::update) {
    CUgraphExecUpdateResultInfo info = {};
    check(raw_.graph_exec_update(exec_, graph, &info), "cuGraphExecUpdate");
    watch.lap("update");
  } else {
    destroy_executable();
    check(raw_.graph_instantiate(&exec_, graph, 0), "cuGraphInstantiateWithFlags");
    watch.lap("instantiate");
  }
  check(raw_.graph_launch(exec_, program_.stream().get()), "cuGraphLaunch");
  watch.lap("launch");
  destroy(graph);
  watch.lap("destroy");
}

}  // namespace cugraft::bench
