// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "condition.hpp"
#include "entry.hpp"
#include "exec.hpp"
#include "graph.hpp"
#include "work_compare.hpp"

namespace cugraft_sim {
namespace {

/// Why an update is refused, with nodes of the update graph.
struct refusal {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
  const graph_node* node = nullptr;
  const graph_node* from = nullptr;
};

constexpr auto topology_changed = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;

/// Finds for each node of the update graph its partner in the executable: from the sinks, in their
/// order, along the dependencies, in theirs (driver-rules 4.1 and 4.2).
class pairing {
 public:
  pairing(const graph& update, const graph_exec& exec) : update_(update), exec_(exec) {}

  std::optional<refusal> find();

  std::size_t partner_of(const graph_node& node) const { return partners_.at(&node); }

 private:
  std::optional<refusal> pair(const graph_node& node, std::size_t partner);
  std::optional<refusal> follow(const graph_node& node, std::size_t partner);
  bool is_paired_otherwise(const graph_node& node, std::size_t partner) const;

  const graph& update_;
  const graph_exec& exec_;
  std::unordered_map<const graph_node*, std::size_t> partners_;
  std::unordered_map<std::size_t, const graph_node*> nodes_;
  std::vector<const graph_node*> open_;  // paired, dependencies not followed yet
};

std::optional<refusal> pairing::find() {
  const std::vector<graph_node*> sinks = sinks_of(update_);
  if (sinks.size() > exec_.sinks.size()) return refusal{topology_changed, sinks.front()};
  if (update_.nodes.size() != exec_.nodes.size()) return refusal{topology_changed};
  for (std::size_t i = 0; i < sinks.size(); ++i)
    if (auto refused = pair(*sinks[i], exec_.sinks[i])) return refused;
  while (!open_.empty()) {
    const graph_node& node = *open_.back();
    open_.pop_back();
    if (auto refused = follow(node, partner_of(node))) return refused;
  }
  return std::nullopt;
}

std::optional<refusal> pairing::pair(const graph_node& node, std::size_t partner) {
  partners_[&node] = partner;
  nodes_[partner] = &node;
  const exec_node& held = exec_.nodes[partner];
  if (node.work.what.index() != held.work->what.index())
    return refusal{CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &node};
  if (node.dependencies.size() != held.dependencies.size()) return refusal{topology_changed, &node};
  open_.push_back(&node);
  return std::nullopt;
}

// Another kind of edge is another topology (facts: plain to programmatic).
std::optional<refusal> pairing::follow(const graph_node& node, std::size_t partner) {
  auto partners = exec_.nodes[partner].dependencies.begin();
  for (const dependency& ours : node.dependencies) {
    const exec_dependency& theirs = *partners++;
    const bool other_edge = std::memcmp(&ours.data, &theirs.data, sizeof ours.data) != 0;
    if (other_edge || is_paired_otherwise(*ours.node, theirs.node))
      return refusal{topology_changed, &node, ours.node};
    if (partners_.contains(ours.node)) continue;
    if (auto refused = pair(*ours.node, theirs.node)) return refused;
  }
  return std::nullopt;
}

bool pairing::is_paired_otherwise(const graph_node& node, std::size_t partner) const {
  const auto found = partners_.find(&node);
  if (found != partners_.end()) return found->second != partner;
  return nodes_.contains(partner);
}

/// A graph and the executable that it updates; children and bodies are levels of their own.
struct level {
  const graph* update;
  graph_exec* exec;
  pairing pairs;
};

std::optional<refusal> pair_levels(const graph& update, graph_exec& exec,
                                   std::vector<level>& levels) {
  pairing pairs(update, exec);
  if (auto refused = pairs.find()) return refused;
  for (const auto& node : update.nodes) {
    const auto contents = inner_graphs(node->work);
    const auto& held = exec.nodes[pairs.partner_of(*node)].inner;
    if (contents.size() != held.size())
      return refusal{CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, node.get()};
    for (std::size_t i = 0; i < held.size(); ++i)
      if (auto refused = pair_levels(*contents[i], *held[i], levels)) return refused;
  }
  levels.push_back({&update, &exec, std::move(pairs)});
  return std::nullopt;
}

std::optional<refusal> check_parameters(const level& at, const update_conditions& conditions) {
  for (const auto& node : at.update->nodes) {
    const operation& held = *at.exec->nodes[at.pairs.partner_of(*node)].work;
    const CUgraphExecUpdateResult result = check_update(held, node->work, conditions);
    if (result == CU_GRAPH_EXEC_UPDATE_ERROR) return refusal{result};  // no node is at fault (4.1)
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return refusal{result, node.get()};
  }
  return std::nullopt;
}

// Pairs and checks all levels, outer before inner where both are at fault.
std::optional<refusal> match(const graph& update, graph_exec& exec, unsigned long long flags,
                             std::vector<level>& levels) {
  if (auto refused = pair_levels(update, exec, levels)) return refused;
  const update_conditions conditions{
      .node_priorities = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0,
      .from_origin = update.handle == exec.origin};
  for (auto each = levels.rbegin(); each != levels.rend(); ++each)
    if (auto refused = check_parameters(*each, conditions)) return refused;
  return std::nullopt;
}

bool divides(const attribute_value& cluster, const ptx::dimensions& grid) {
  CUlaunchAttributeValue value;
  std::memcpy(&value, cluster.data(), sizeof value);
  const auto& size = value.clusterDim;
  return grid.x % size.x == 0 && grid.y % size.y == 0 && grid.z % size.z == 0;
}

// The driver takes everything but the cluster size, which the executable keeps without a word
// (facts). Where the old size does not divide the new grid the launch works, without a cluster.
void keep_cluster(const kernel_operation& held, kernel_operation& now) {
  constexpr int cluster = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  now.attributes.erase(cluster);
  const auto kept = held.attributes.find(cluster);
  if (kept != held.attributes.end() && divides(kept->second, now.grid))
    now.attributes.insert(*kept);
}

void take_values(const level& at) {
  for (const auto& node : at.update->nodes) {
    exec_node& partner = at.exec->nodes[at.pairs.partner_of(*node)];
    if (!partner.inner.empty()) continue;
    operation now = node->work;
    if (auto* const kernel = std::get_if<kernel_operation>(&now.what))
      keep_cluster(std::get<kernel_operation>(partner.work->what), *kernel);
    partner.work = std::make_shared<const operation>(std::move(now));
  }
  at.exec->objects = std::make_shared<user_references>(at.update->objects);
}

// Whether the nodes were made in the order of their partners (driver-rules 5.2, child graph).
bool is_in_order(const level& at) {
  for (std::size_t i = 0; i < at.update->nodes.size(); ++i)
    if (at.exec->nodes[at.pairs.partner_of(*at.update->nodes[i])].position != i) return false;
  return true;
}

CUgraphNode handle_of(const graph_node* node) noexcept { return node ? node->handle : nullptr; }

CUresult report(const refusal& why, CUgraphExecUpdateResultInfo* info) {
  if (info) *info = {why.result, handle_of(why.node), handle_of(why.from)};
  return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

}  // namespace

// All checks come before the first change, so a refused update leaves the executable as it was.
CUresult impl::graph_exec_update(CUgraphExec which, CUgraph from,
                                 CUgraphExecUpdateResultInfo* info) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  std::shared_ptr<graph> update;
  if (const CUresult result = find_graph(from, update)) return result;
  if (update->is_moved) return CUDA_ERROR_NOT_SUPPORTED;  // driver-rules 6.2
  std::vector<level> levels;
  if (const auto refused = match(*update, *exec, exec->flags, levels))
    return report(*refused, info);
  for (const level& each : levels) take_values(each);
  exec->conditions = root_of(*update).conditions;  // flags and default values (driver-rules 4.3)
  if (info) *info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
  return CUDA_SUCCESS;
}

// The same limits as for a whole graph, and the nodes' order too (driver-rules 5.2; code: H200).
CUresult impl::graph_exec_child_graph_node_set_params(CUgraphExec which, CUgraphNode node,
                                                      CUgraph content) {
  std::shared_ptr<graph_exec> exec;
  if (const CUresult result = find_exec(which, exec)) return result;
  exec_node* held = nullptr;
  if (const CUresult result = find_exec_node(*exec, node, held)) return result;
  std::shared_ptr<graph> update;
  if (const CUresult result = find_graph(content, update)) return result;
  if (!std::holds_alternative<child_operation>(held->work->what)) return CUDA_ERROR_INVALID_VALUE;
  graph_exec& inner = *held->inner.front();
  std::vector<level> levels;
  if (match(*update, inner, exec->flags, levels) || !std::ranges::all_of(levels, is_in_order))
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  for (const level& each : levels) take_values(each);
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
