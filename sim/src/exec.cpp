// SPDX-License-Identifier: Apache-2.0
#include "exec.hpp"

#include <utility>

#include "capture.hpp"
#include "condition.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "exec_run.hpp"
#include "handle_table.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned long long known_instantiate_flags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

handle_table<CUgraphExec, graph_exec>& table() noexcept {
  static auto* const instance = new handle_table<CUgraphExec, graph_exec>;
  return *instance;
}

std::shared_ptr<graph_exec> make_exec(const graph& from, const graph_node*& at_fault);

// What an executable keeps of an operation: the graphs inside it become executables.
operation without_graphs(operation work) {
  if (std::holds_alternative<child_operation>(work.what)) work.what = child_operation{};
  if (auto* const conditional = std::get_if<conditional_operation>(&work.what)) {
    conditional->bodies.clear();
    conditional->shown.reset();
  }
  return work;
}

// @return whether there is an order to run the nodes in
bool copy_nodes(const graph& from, graph_exec& to, const graph_node*& at_fault) {
  std::unordered_map<const graph_node*, std::size_t> index_of;
  for (const graph_node* const node : execution_order(from)) {
    index_of[node] = to.nodes.size();
    to.index_of[node->handle] = to.nodes.size();
    exec_node& made = to.nodes.emplace_back();
    made.work = std::make_shared<const operation>(without_graphs(node->work));
    for (const auto& inner : inner_graphs(node->work)) {
      at_fault = node;
      if (inner->undefined) return false;
      made.inner.push_back(make_exec(*inner, at_fault));
      if (!made.inner.back()) return false;
    }
    for (const dependency& each : node->dependencies)
      made.dependencies.push_back({index_of.at(each.node), each.data});
  }
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const auto index = index_of.find(from.nodes[i].get());
    if (index == index_of.end()) {
      at_fault = from.nodes[i].get();
      return false;
    }
    to.nodes[index->second].position = i;
  }
  for (const graph_node* const sink : sinks_of(from)) to.sinks.push_back(index_of.at(sink));
  return true;
}

// Null for a graph with a cycle; `at_fault` is then a node that has to wait for itself.
std::shared_ptr<graph_exec> make_exec(const graph& from, const graph_node*& at_fault) {
  auto made = std::make_shared<graph_exec>();
  made->origin = from.handle;
  made->id = take_graph_id();
  made->objects = std::make_shared<user_references>(from.objects);
  return copy_nodes(from, *made, at_fault) ? made : nullptr;
}

// What the two launch calls ask of the stream. A launch into a capturing stream is not captured but
// ends the capture (facts).
CUresult begin_on(CUstream handle, std::shared_ptr<stream>& on) {
  if (const CUresult result = find_stream(handle, on)) return result;
  if (const CUresult result = capture_guard_stream(*on)) return result;
  return on->is_legacy() ? capture_guard_legacy() : CUDA_SUCCESS;
}

CUresult enqueue_after_launches(graph_exec& which, stream& on, std::function<CUresult()> task) {
  if (const CUresult result = enqueue(on, std::move(task), which.launched)) return result;
  which.launched = {on.queue->last()};
  return CUDA_SUCCESS;
}

exec_node* find_held(graph_exec& in, CUgraphNode handle) {
  const auto index = in.index_of.find(handle);
  if (index != in.index_of.end()) return &in.nodes[index->second];
  for (exec_node& each : in.nodes)
    for (const auto& inner : each.inner)
      if (exec_node* const found = find_held(*inner, handle)) return found;
  return nullptr;
}

// With memory or conditional nodes there is one executable at a time (facts), and a graph that was
// moved into another has none of its own (driver-rules 6.2).
bool may_be_instantiated(const graph& from) {
  if (from.is_moved) return false;
  const bool is_exclusive = has_memory_nodes(from) || has_conditional_nodes(from);
  return !is_exclusive || !is_instantiated(from.handle);
}

CUresult bind_memory_of(const graph_exec& which) {
  for (const exec_node& node : which.nodes) {
    if (const auto* const alloc = std::get_if<alloc_operation>(&node.work->what))
      if (const CUresult result = bind_memory(alloc->allocation)) return result;
    for (const auto& inner : node.inner)
      if (const CUresult result = bind_memory_of(*inner)) return result;
  }
  return CUDA_SUCCESS;
}

CUresult check_flags(unsigned long long flags, unsigned long long known) noexcept {
  constexpr unsigned long long exclusive =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  const bool fits = (flags & ~known) == 0 && (flags & exclusive) != exclusive;
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// How an instantiation went.
struct instantiation {
  CUresult code = CUDA_SUCCESS;
  CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  CUgraphNode at_fault = nullptr;
};

constexpr auto conditional_handle_unused = static_cast<CUgraphInstantiateResult>(5);  // 12.8

instantiation instantiate(const graph& from, unsigned long long flags, CUgraphExec& made) {
  if (current_context_handle() == nullptr)
    return {CUDA_ERROR_INVALID_CONTEXT, CUDA_GRAPH_INSTANTIATE_ERROR};
  if (!may_be_instantiated(from)) return {CUDA_ERROR_NOT_SUPPORTED, CUDA_GRAPH_INSTANTIATE_ERROR};
  if (has_unused_condition(from)) return {CUDA_ERROR_INVALID_VALUE, conditional_handle_unused};
  if (const unfit_node unfit = find_unfit_for_body(from); unfit.node)
    return {CUDA_ERROR_INVALID_VALUE, unfit.why, unfit.node->handle};
  const graph_node* at_fault = nullptr;
  const auto exec = make_exec(from, at_fault);
  if (!exec)
    return {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, at_fault->handle};
  exec->conditions = root_of(from).conditions;
  exec->flags = flags;
  made = exec->handle = table().add(exec);
  return {};
}

}  // namespace

CUresult find_exec(CUgraphExec handle, std::shared_ptr<graph_exec>& found) {
  found = table().find(handle);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult find_exec_node(graph_exec& of, CUgraphNode handle, exec_node*& found) {
  std::shared_ptr<graph_node> node;
  if (const CUresult result = find_node(handle, node)) return result;
  found = find_held(of, handle);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void for_each_exec_of(CUgraph origin, const std::function<void(graph_exec&)>& visit) {
  table().for_each([&](graph_exec& each) {
    if (each.origin == origin) visit(each);
  });
}

bool is_instantiated(CUgraph which) {
  bool found = false;
  for_each_exec_of(which, [&](const graph_exec&) { found = true; });
  return found;
}

std::size_t count_execs() { return table().size(); }

CUresult impl::graph_instantiate_with_params(CUgraphExec* made, CUgraph from,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  parameters->hErrNode_out = nullptr;
  parameters->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  if (const CUresult result = capture_guard_unsafe()) return result;
  std::shared_ptr<graph> source;
  if (const CUresult result = find_graph(from, source)) return result;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_flags(parameters->flags, known_instantiate_flags))
    return result;
  std::shared_ptr<stream> upload;
  if (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
    if (const CUresult result = begin_on(parameters->hUploadStream, upload)) return result;

  const instantiation done = instantiate(*source, parameters->flags, *made);
  parameters->result_out = done.result;
  parameters->hErrNode_out = done.at_fault;
  if (done.code != CUDA_SUCCESS || !upload) return done.code;
  const CUresult uploaded = graph_upload(*made, upload->handle);
  if (uploaded != CUDA_SUCCESS) table().remove(*made);
  return uploaded;
}

// UPLOAD takes a stream, so it comes with parameters only (driver-rules 6.3).
CUresult impl::graph_instantiate_with_flags(CUgraphExec* made, CUgraph from,
                                            unsigned long long flags) {
  if (const CUresult result = capture_guard_unsafe()) return result;
  std::shared_ptr<graph> source;
  if (const CUresult result = find_graph(from, source)) return result;
  constexpr unsigned long long taken =
      known_instantiate_flags & ~CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_flags(flags, taken)) return result;
  return instantiate(*source, flags, *made).code;
}

// Without UPLOAD, which is no property of the executable (driver-rules 6.3), and without
// USE_NODE_PRIORITY (H200).
CUresult impl::graph_exec_get_flags(CUgraphExec of, cuuint64_t* flags) {
  std::shared_ptr<graph_exec> found;
  if (const CUresult result = find_exec(of, found)) return result;
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  constexpr cuuint64_t untold =
      CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  *flags = found->flags & ~untold;
  return CUDA_SUCCESS;
}

// Binds memory (driver-rules 6.1, 6.3); nothing else has to be brought anywhere. The order of the
// stream is kept.
CUresult impl::graph_upload(CUgraphExec which, CUstream on) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  std::shared_ptr<stream> where;
  if (const CUresult result = begin_on(on, where)) return result;
  if (const CUresult result = bind_memory_of(*exec)) return result;
  return enqueue_after_launches(*exec, *where, [] { return CUDA_SUCCESS; });
}

CUresult impl::graph_launch(CUgraphExec which, CUstream on) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  std::shared_ptr<stream> where;
  if (const CUresult result = begin_on(on, where)) return result;
  auto plan = std::make_shared<launch_plan>(
      (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0);
  if (const CUresult result = plan->take(*exec)) return result;
  return enqueue_after_launches(*exec, *where, [plan = std::move(plan)] { return plan->run(); });
}

// Launches under way go on, and keep what they need.
CUresult impl::graph_exec_destroy(CUgraphExec which) {
  if (const CUresult result = capture_guard_unsafe()) return result;
  return table().remove(which) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cugraft_sim
