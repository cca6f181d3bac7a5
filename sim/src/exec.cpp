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

// Nodes are made after those that they depend on, so creation order is an order to run them in.
void copy_nodes(const graph& from, graph_exec& to) {
  std::unordered_map<const graph_node*, std::size_t> index_of;
  for (const auto& node : from.nodes) {
    index_of[node.get()] = to.nodes.size();
    to.index_of[node->handle] = to.nodes.size();
    exec_node& made =
        to.nodes.emplace_back(exec_node{std::make_shared<const operation>(node->work), {}});
    for (const dependency& each : node->dependencies)
      made.dependencies.push_back({index_of.at(each.node), each.data});
  }
  for (const graph_node* const sink : sinks_of(from)) to.sinks.push_back(index_of.at(sink));
}

// What the two launch calls ask of the stream. A launch into a capturing stream is not captured but
// ends the capture (facts).
CUresult begin_on(CUstream handle, std::shared_ptr<stream>& on) {
  if (const CUresult result = find_stream(handle, on)) return result;
  if (const CUresult result = capture_guard_stream(*on)) return result;
  return on->is_legacy() ? capture_guard_legacy() : CUDA_SUCCESS;
}

using operations = std::vector<std::shared_ptr<const operation>>;

bool is_of_event(const operation& work) {
  return std::holds_alternative<event_record_operation>(work.what) ||
         std::holds_alternative<event_wait_operation>(work.what);
}

// The values of this moment: later updates do not reach what is enqueued. Events are connected with
// the records of this moment too.
CUresult take_values(const graph_exec& of, operations& values) {
  values.reserve(of.nodes.size());
  for (const exec_node& node : of.nodes) {
    values.push_back(node.work);
    if (!is_of_event(*node.work)) continue;
    auto prepared = std::make_shared<operation>(*node.work);
    if (const CUresult result = prepare(*prepared)) return result;
    values.back() = std::move(prepared);
  }
  return CUDA_SUCCESS;
}

CUresult run(const operations& values) {
  for (const auto& each : values)
    if (const CUresult result = execute(*each)) return result;
  return CUDA_SUCCESS;
}

CUresult enqueue_after_launches(graph_exec& which, stream& on, std::function<CUresult()> task) {
  if (const CUresult result = enqueue(on, std::move(task), which.launched)) return result;
  which.launched = {on.queue->last()};
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
  const auto index = of.index_of.find(handle);
  if (index == of.index_of.end()) return CUDA_ERROR_INVALID_VALUE;
  found = &of.nodes[index->second];
  return CUDA_SUCCESS;
}

void for_each_exec_of(CUgraph origin, const std::function<void(graph_exec&)>& visit) {
  table().for_each([&](graph_exec& each) {
    if (each.origin == origin) visit(each);
  });
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
  if (!made || (parameters->flags & ~known_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<stream> upload;
  if (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
    if (const CUresult result = begin_on(parameters->hUploadStream, upload)) return result;

  auto exec = std::make_shared<graph_exec>();
  exec->origin = from;
  exec->flags = parameters->flags;
  exec->objects = std::make_shared<user_references>(source->objects);
  copy_nodes(*source, *exec);
  *made = exec->handle = table().add(exec);
  parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
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
  auto values = std::make_shared<operations>();
  if (const CUresult result = take_values(*exec, *values)) return result;
  return enqueue_after_launches(
      *exec, *where, [values = std::move(values), kept = exec->objects] { return run(*values); });
}

// Launches under way go on, and keep what they need.
CUresult impl::graph_exec_destroy(CUgraphExec which) {
  if (const CUresult result = capture_guard_unsafe()) return result;
  return table().remove(which) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cugraft_sim
