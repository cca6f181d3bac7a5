// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>

#include "exec.hpp"
#include "handle_table.hpp"
#include "node_params.hpp"
#include "overloaded.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

struct graph_tables {
  handle_table<CUgraph, graph> graphs;
  handle_table<CUgraphNode, graph_node> nodes;
};

graph_tables& tables() noexcept {
  static auto* const instance = new graph_tables;
  return *instance;
}

// Ports and types that edges of captured and added nodes may have (driver-rules 9.3).
bool is_edge_data(const CUgraphEdgeData& data) noexcept {
  const auto is_zero = [](unsigned char byte) { return byte == 0; };
  return data.to_port == 0 && data.from_port <= 2 && data.type <= 1 &&
         std::ranges::all_of(data.reserved, is_zero);
}

}  // namespace

bool operator==(const dependency& left, const dependency& right) noexcept {
  return left.node == right.node &&
         std::memcmp(&left.data, &right.data, sizeof(CUgraphEdgeData)) == 0;
}

CUresult find_graph(CUgraph handle, std::shared_ptr<graph>& found) {
  found = tables().graphs.find(handle);
  return found && !found->undefined ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult find_node(CUgraphNode handle, std::shared_ptr<graph_node>& found) {
  found = tables().nodes.find(handle);
  return found && !found->owner->undefined ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

std::shared_ptr<graph> find_any_graph(CUgraph handle) { return tables().graphs.find(handle); }

std::shared_ptr<graph> make_graph() {
  auto made = std::make_shared<graph>();
  made->handle = tables().graphs.add(made);
  return made;
}

void drop_graph(graph& gone) {
  const auto kept = tables().graphs.remove(gone.handle);
  for (const auto& node : gone.nodes) tables().nodes.remove(node->handle);
  gone.nodes.clear();
  gone.objects.clear();
  gone.undefined = true;  // for a capture that still refers to it
}

graph_node& add_node(graph& to, operation work, std::vector<dependency> dependencies) {
  const auto& node = to.nodes.emplace_back(std::make_shared<graph_node>());
  node->handle = tables().nodes.add(node);
  node->owner = &to;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  node->local_id = to.next_local_id++;
  return *node;
}

void set_work(graph_node& of, operation work) {
  of.work = std::move(work);
  of.view.reset();
}

void renew_handles(graph& of) {
  std::unordered_map<CUgraphNode, CUgraphNode> renewed;
  for (const auto& node : of.nodes) {
    tables().nodes.remove(node->handle);
    const CUgraphNode before = node->handle;
    renewed[before] = node->handle = tables().nodes.add(node);
  }
  for (auto& [original, copy] : of.copies) copy = renewed.at(copy);
}

void leave_open(graph_node& node) noexcept { node.left_open = node.owner->next_left_open++; }

std::vector<graph_node*> sinks_of(const graph& of) {
  std::set<const graph_node*> needed;
  for (const auto& node : of.nodes)
    for (const dependency& each : node->dependencies) needed.insert(each.node);
  std::vector<graph_node*> sinks;
  for (const auto& node : of.nodes)
    if (!needed.contains(node.get())) sinks.push_back(node.get());
  std::ranges::stable_sort(sinks, {}, &graph_node::left_open);
  return sinks;
}

CUresult read_dependencies(const graph& of, const CUgraphNode* nodes, const CUgraphEdgeData* data,
                           std::size_t count, std::vector<dependency>& read) {
  if (count > 0 && !nodes) return CUDA_ERROR_INVALID_VALUE;
  read.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = tables().nodes.find(nodes[i]);
    if (!node || node->owner != &of) return CUDA_ERROR_INVALID_VALUE;
    if (data && !is_edge_data(data[i])) return CUDA_ERROR_INVALID_VALUE;
    read.push_back({node.get(), data ? data[i] : CUgraphEdgeData{}});
  }
  return CUDA_SUCCESS;
}

CUgraphNodeType type_of(const operation& work) noexcept {
  return std::visit(
      overloaded{
          [](const empty_operation&) { return CU_GRAPH_NODE_TYPE_EMPTY; },
          [](const kernel_operation&) { return CU_GRAPH_NODE_TYPE_KERNEL; },
          [](const copy_operation&) { return CU_GRAPH_NODE_TYPE_MEMCPY; },
          [](const fill_operation&) { return CU_GRAPH_NODE_TYPE_MEMSET; },
          [](const host_operation&) { return CU_GRAPH_NODE_TYPE_HOST; },
          [](const event_record_operation&) { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; },
          [](const event_wait_operation&) { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; },
      },
      work.what);
}

std::size_t count_graphs() { return tables().graphs.size(); }

void count_graph_handles(live_handles& live) {
  live.graphs = count_graphs();
  live.graph_execs = count_execs();
  live.user_objects = count_user_objects();
}

}  // namespace cugraft_sim
