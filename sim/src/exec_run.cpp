// SPDX-License-Identifier: Apache-2.0
#include "exec_run.hpp"

#include <utility>

#include "context.hpp"
#include "library.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

// Whether the operation is connected with something of the moment of the launch.
bool is_of_moment(const operation& work) {
  return is_memory_node(work) || std::holds_alternative<event_record_operation>(work.what) ||
         std::holds_alternative<event_wait_operation>(work.what);
}

bool is_gone(CUcontext handle) {
  const auto found = the_state().contexts.find(handle);
  return handle && (!found || found->destroyed);
}

// Whether the operation needs the device for a context that is gone. Which that is, is part of a
// kernel's function; a primary context that is new has its old handle.
bool is_of_gone_context(const operation& work) {
  if (const auto* const kernel = std::get_if<kernel_operation>(&work.what))
    return kernel->code->owner->destroyed;
  return (std::holds_alternative<copy_operation>(work.what) ||
          std::holds_alternative<fill_operation>(work.what) ||
          std::holds_alternative<batch_operation>(work.what)) &&
         is_gone(work.context);
}

}  // namespace

CUresult launch_plan::take(const graph_exec& of) {
  conditions_ = condition_values(of.conditions);
  if (const CUresult result = take_steps(of, steps_)) return result;
  memory_.settle();
  return CUDA_SUCCESS;
}

// A child graph's nodes run in its place.
CUresult launch_plan::take_steps(const graph_exec& of, sequence& steps) {
  objects_.push_back(of.objects);
  for (const exec_node& node : of.nodes) {
    if (!node.is_enabled) continue;
    if (std::holds_alternative<child_operation>(node.work->what)) {
      if (const CUresult result = take_steps(*node.inner.front(), steps)) return result;
      continue;
    }
    if (is_of_gone_context(*node.work)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    step taken{node.work, {}};
    for (const auto& body : node.inner)
      if (const CUresult result = take_steps(*body, taken.bodies.emplace_back())) return result;
    if (is_of_moment(*node.work)) {
      auto prepared = std::make_shared<operation>(*node.work);
      if (const CUresult result = prepare(*prepared)) return result;
      if (const CUresult result = memory_.prepare(*prepared)) return result;
      taken.work = std::move(prepared);
    }
    steps.push_back(std::move(taken));
  }
  return CUDA_SUCCESS;
}

CUresult launch_plan::run() {
  memory_.free_left();
  return run(steps_);
}

CUresult launch_plan::run(const sequence& steps) {
  for (const step& each : steps)
    if (const CUresult result =
            each.bodies.empty() ? execute(*each.work, &conditions_) : run_conditional(each))
      return result;
  return CUDA_SUCCESS;
}

CUresult launch_plan::run_conditional(const step& node) {
  const auto& conditional = std::get<conditional_operation>(node.work->what);
  const auto value = [&] { return conditions_.get(conditional.condition); };
  if (conditional.kind == CU_GRAPH_COND_TYPE_WHILE) {
    while (value() != 0)
      if (const CUresult result = run(node.bodies.front())) return result;
    return CUDA_SUCCESS;
  }
  // The first body of an if is for true, the second for false.
  const bool is_if = conditional.kind == CU_GRAPH_COND_TYPE_IF;
  const unsigned chosen_body = is_if ? (value() != 0 ? 0 : 1) : value();
  return chosen_body < node.bodies.size() ? run(node.bodies[chosen_body]) : CUDA_SUCCESS;
}

}  // namespace cugraft_sim
