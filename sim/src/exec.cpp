// SPDX-License-Identifier: Apache-2.0
#include "exec.hpp"

#include <utility>

#include "capture.hpp"
#include "entry.hpp"
#include "handle_table.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned long long known_flags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

handle_table<CUgraphExec, graph_exec>& table() noexcept {
  static auto* const instance = new handle_table<CUgraphExec, graph_exec>;
  return *instance;
}

std::shared_ptr<graph_exec> make_exec(const graph& from, const graph_node*& at_fault);

// @return whether there is an order to run the nodes in
bool copy_nodes(const graph& from, graph_exec& to, const graph_node*& at_fault) {
  std::unordered_map<const graph_node*, std::size_t> index_of;
  for (const graph_node* const node : execution_order(from)) {
    index_of[node] = to.nodes.size();
    to.index_of[node->handle] = to.nodes.size();
    exec_node& made = to.nodes.emplace_back();
    if (const auto* const child = std::get_if<child_operation>(&node->work.what)) {
      made.work =
          std::make_shared<const operation>(operation{node->work.context, child_operation{}});
      made.child = make_exec(*child->content, at_fault);
      if (!made.child) return false;
    } else {
      made.work = std::make_shared<const operation>(node->work);
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

/// What one launch runs, and keeps meanwhile.
struct launch_values {
  launch_memory memory;
  std::vector<std::shared_ptr<const operation>> operations;
  std::vector<std::shared_ptr<const user_references>> objects;
};

// Whether the operation is connected with something of the moment of the launch.
bool is_of_moment(const operation& work) {
  return is_memory_node(work) || std::holds_alternative<event_record_operation>(work.what) ||
         std::holds_alternative<event_wait_operation>(work.what);
}

// The values of this moment: later updates do not reach what is enqueued. Events are connected with
// the records of this moment too. A child graph's nodes run in its place.
CUresult take_values(const graph_exec& of, launch_values& values) {
  values.objects.push_back(of.objects);
  for (const exec_node& node : of.nodes) {
    if (!node.is_enabled) continue;
    if (node.child) {
      if (const CUresult result = take_values(*node.child, values)) return result;
      continue;
    }
    values.operations.push_back(node.work);
    if (!is_of_moment(*node.work)) continue;
    auto prepared = std::make_shared<operation>(*node.work);
    if (const CUresult result = prepare(*prepared)) return result;
    if (const CUresult result = values.memory.prepare(*prepared)) return result;
    values.operations.back() = std::move(prepared);
  }
  return CUDA_SUCCESS;
}

CUresult run(const launch_values& values) {
  values.memory.free_left();
  for (const auto& each : values.operations)
    if (const CUresult result = execute(*each)) return result;
  return CUDA_SUCCESS;
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
    if (each.child)
      if (exec_node* const inner = find_held(*each.child, handle)) return inner;
  return nullptr;
}

// With memory nodes there is one executable at a time (facts), and a graph that was moved into
// another has none of its own (driver-rules 6.2).
CUresult check_instances(const graph& from) {
  const bool is_refused = from.is_moved || (has_memory_nodes(from) && is_instantiated(from.handle));
  return is_refused ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult check_flags(unsigned long long flags, unsigned long long known) noexcept {
  constexpr unsigned long long exclusive =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  const bool fits = (flags & ~known) == 0 && (flags & exclusive) != exclusive;
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult instantiate(const graph& from, unsigned long long flags, CUgraphExec& made,
                     const graph_node*& at_fault) {
  if (const CUresult result = check_instances(from)) return result;
  const auto exec = make_exec(from, at_fault);
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  exec->flags = flags;
  made = exec->handle = table().add(exec);
  return CUDA_SUCCESS;
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
  if (const CUresult result = check_flags(parameters->flags, known_flags)) return result;
  std::shared_ptr<stream> upload;
  if (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
    if (const CUresult result = begin_on(parameters->hUploadStream, upload)) return result;

  const graph_node* at_fault = nullptr;
  const CUresult result = instantiate(*source, parameters->flags, *made, at_fault);
  if (result == CUDA_SUCCESS) parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  if (at_fault) {
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    parameters->hErrNode_out = at_fault->handle;
  }
  return result;
}

// UPLOAD takes a stream, so it comes with parameters only (driver-rules 6.3).
CUresult impl::graph_instantiate_with_flags(CUgraphExec* made, CUgraph from,
                                            unsigned long long flags) {
  if (const CUresult result = capture_guard_unsafe()) return result;
  std::shared_ptr<graph> source;
  if (const CUresult result = find_graph(from, source)) return result;
  constexpr unsigned long long taken = known_flags & ~CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_flags(flags, taken)) return result;
  const graph_node* at_fault = nullptr;
  return instantiate(*source, flags, *made, at_fault);
}

// Without UPLOAD, which is no property of the executable (driver-rules 6.3).
CUresult impl::graph_exec_get_flags(CUgraphExec of, cuuint64_t* flags) {
  std::shared_ptr<graph_exec> found;
  if (const CUresult result = find_exec(of, found)) return result;
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = found->flags & ~static_cast<cuuint64_t>(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
  return CUDA_SUCCESS;
}

// There is nothing to upload; the order of the stream is kept.
CUresult impl::graph_upload(CUgraphExec which, CUstream on) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  std::shared_ptr<stream> where;
  if (const CUresult result = begin_on(on, where)) return result;
  return enqueue_after_launches(*exec, *where, [] { return CUDA_SUCCESS; });
}

CUresult impl::graph_launch(CUgraphExec which, CUstream on) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  std::shared_ptr<stream> where;
  if (const CUresult result = begin_on(on, where)) return result;
  const bool frees_first = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  auto values = std::make_shared<launch_values>(launch_values{launch_memory(frees_first), {}, {}});
  if (const CUresult result = take_values(*exec, *values)) return result;
  values->memory.settle();
  return enqueue_after_launches(*exec, *where,
                                [values = std::move(values)] { return run(*values); });
}

// Launches under way go on, and keep what they need.
CUresult impl::graph_exec_destroy(CUgraphExec which) {
  if (const CUresult result = capture_guard_unsafe()) return result;
  return table().remove(which) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cugraft_sim
