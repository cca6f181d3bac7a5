// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
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

// A capture that failed took its body with it. What is left of the conditional node crashes a real
// driver (facts), so nothing that goes on here could be trusted.
[[noreturn]] void stop_at_lost_body(const graph& lost) {
  say("a graph is destroyed of which a conditional node has lost body " +
      std::to_string(id_of(lost.handle)) +
      " to a capture that failed; the driver of an H200 crashes here (signal 11): leave such a "
      "graph alone, or capture the body by itself and add it as a child graph");
  std::abort();
}

void make_root(graph_node& node) noexcept { node.made_root = node.owner->next_made_root++; }

void forget(graph_node& node) {
  tables().nodes.remove(node.handle);
  for (const auto& inner : inner_graphs(node.work)) {
    if (!find_any_graph(inner->handle)) stop_at_lost_body(*inner);
    drop_graph(*inner);
  }
}

// What a copied node does: a graph inside it is the copy's own.
operation copy_of(const operation& work) {
  const auto* const child = std::get_if<child_operation>(&work.what);
  if (!child) return work;
  child_operation copy{copy_graph(*child->content)};
  copy.content->is_child = true;
  return {work.context, std::move(copy)};
}

}  // namespace

bool operator==(const dependency& left, const dependency& right) noexcept {
  return left.node == right.node &&
         std::memcmp(&left.data, &right.data, sizeof(CUgraphEdgeData)) == 0;
}

bool made_before::operator()(const graph_node* left, const graph_node* right) const noexcept {
  return left->local_id < right->local_id;
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
  made->id = take_graph_id();
  return made;
}

unsigned take_graph_id() noexcept {
  static unsigned next = 1;
  return next++;
}

void drop_graph(graph& gone) {
  const auto kept = tables().graphs.remove(gone.handle);
  for (const auto& node : gone.nodes) forget(*node);
  gone.nodes.clear();
  gone.objects.clear();
  gone.undefined = true;  // for a capture that still refers to it
}

graph_node& add_node(graph& to, operation work, const std::vector<dependency>& dependencies) {
  const auto& node = to.nodes.emplace_back(std::make_shared<graph_node>());
  node->handle = tables().nodes.add(node);
  node->owner = &to;
  node->work = std::move(work);
  node->local_id = to.next_local_id++;
  make_root(*node);
  for (const dependency& each : dependencies) add_edge(*node, each);
  return *node;
}

void add_edge(graph_node& to, const dependency& from) {
  const auto made = to.dependencies.insert(to.dependencies.end(), from);
  auto& dependents = from.node->dependents;
  dependents.emplace_hint(dependents.end(), &to, made);
  to.made_root = 0;
}

void remove_edge(graph_node& from, graph_node& to) {
  const auto edge = from.dependents.find(&to);
  to.dependencies.erase(edge->second);
  from.dependents.erase(edge);
  if (from.dependents.empty()) leave_open(from);
  if (to.dependencies.empty()) make_root(to);
}

std::shared_ptr<graph> copy_graph(const graph& original) {
  auto made = make_graph();
  made->cloned_from = original.handle;
  made->objects = original.objects;
  made->next_left_open = original.next_left_open;
  made->next_made_root = original.next_made_root;
  std::unordered_map<const graph_node*, graph_node*> copies;
  for (const auto& node : original.nodes) {
    graph_node& copy = add_node(*made, copy_of(node->work), {});
    copy.local_id = node->local_id;
    copy.left_open = node->left_open;
    copy.made_root = node->made_root;
    copies[node.get()] = &copy;
    made->copies[node->handle] = copy.handle;
  }
  for (const auto& node : original.nodes)
    for (const dependency& each : node->dependencies)
      add_edge(*copies.at(node.get()), {copies.at(each.node), each.data});
  made->next_local_id = original.next_local_id;
  return made;
}

void drop_node(graph_node& gone) {
  graph& of = *gone.owner;
  for (const auto& [dependent, edge] : gone.dependents) {
    dependent->dependencies.erase(edge);
    if (dependent->dependencies.empty()) make_root(*dependent);
  }
  while (!gone.dependencies.empty()) remove_edge(*gone.dependencies.front().node, gone);
  forget(gone);
  const auto id_of = [](const auto& node) { return node->local_id; };
  of.nodes.erase(std::ranges::lower_bound(of.nodes, gone.local_id, {}, id_of));
}

std::span<const std::shared_ptr<graph>> inner_graphs(const operation& work) noexcept {
  if (const auto* const child = std::get_if<child_operation>(&work.what))
    return {&child->content, 1};
  if (const auto* const conditional = std::get_if<conditional_operation>(&work.what))
    return conditional->bodies;
  return {};
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

bool has_dependents(const graph_node& node) noexcept { return !node.dependents.empty(); }

std::vector<graph_node*> sinks_of(const graph& of) {
  std::vector<graph_node*> sinks;
  for (const auto& node : of.nodes)
    if (!has_dependents(*node)) sinks.push_back(node.get());
  std::ranges::stable_sort(sinks, {}, &graph_node::left_open);
  return sinks;
}

std::vector<graph_node*> roots_of(const graph& of) {
  std::vector<graph_node*> roots;
  for (const auto& node : of.nodes)
    if (node->dependencies.empty()) roots.push_back(node.get());
  std::ranges::sort(roots, std::ranges::greater{}, &graph_node::made_root);
  return roots;
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

bool is_kernel(const graph_node& node) noexcept {
  return std::holds_alternative<kernel_operation>(node.work.what);
}

bool is_edge(const graph_node& from, const graph_node& to, const CUgraphEdgeData& data) noexcept {
  const bool from_kernel = is_kernel(from);
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
    return from_kernel && is_kernel(to) && data.from_port != 0;
  return data.from_port == 0 || from_kernel;
}

std::vector<const graph_node*> execution_order(const graph& of) {
  enum class state : char { unseen, open, done };
  struct step {
    const graph_node* node;
    std::list<dependency>::const_iterator next;  // dependency to be looked at
  };
  std::unordered_map<const graph_node*, state> states;
  std::vector<const graph_node*> order;
  std::vector<step> path;
  const auto enter = [&](const graph_node* node) {
    states[node] = state::open;
    path.push_back({node, node->dependencies.begin()});
  };
  for (const auto& start : of.nodes) {
    if (states[start.get()] == state::unseen) enter(start.get());
    while (!path.empty()) {
      step& last = path.back();
      if (last.next == last.node->dependencies.end()) {
        states[last.node] = state::done;
        order.push_back(last.node);
        path.pop_back();
        continue;
      }
      const graph_node* const needed = (last.next++)->node;
      if (states[needed] == state::open) return order;  // a cycle
      if (states[needed] == state::unseen) enter(needed);
    }
  }
  return order;
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
          [](const batch_operation&) { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; },
          [](const child_operation&) { return CU_GRAPH_NODE_TYPE_GRAPH; },
          [](const conditional_operation&) { return CU_GRAPH_NODE_TYPE_CONDITIONAL; },
          [](const alloc_operation&) { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; },
          [](const free_operation&) { return CU_GRAPH_NODE_TYPE_MEM_FREE; },
      },
      work.what);
}

std::size_t count_graphs() {
  std::size_t count = 0;
  tables().graphs.for_each([&](const graph& each) { count += each.is_child ? 0 : 1; });
  return count;
}

void count_graph_handles(live_handles& live) {
  live.graphs = count_graphs();
  live.graph_execs = count_execs();
  live.user_objects = count_user_objects();
}

}  // namespace cugraft_sim
