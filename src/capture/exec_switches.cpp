// SPDX-License-Identifier: Apache-2.0
#include "capture/exec_switches.hpp"

#include <algorithm>

#include "driver/call.hpp"

namespace cugraft {
namespace {

bool ask_enabled(const executable& exec, CUgraphNode node) {
  unsigned on = 1;
  check(exec.graph->table->graph_node_get_enabled(exec.handle, node, &on), "cuGraphNodeGetEnabled",
        node, exec.handle);
  return on != 0;
}

CUresult set_switch(const executable& exec, CUgraphNode node, bool on) noexcept {
  return exec.graph->table->graph_node_set_enabled(exec.handle, node, on ? 1 : 0);
}

bool is_listed(const std::vector<CUgraphNode>& nodes, CUgraphNode node) noexcept {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// What another made it may have switched off too; of one of another graph the driver tells nothing.
bool was_disabled(const executable& exec, CUgraphNode node) {
  if (!exec.was_made_elsewhere || exec.handle == nullptr || exec.structure_changed)
    return is_listed(exec.disabled, node);
  unsigned on = 1;
  const CUresult asked = exec.graph->table->graph_node_get_enabled(exec.handle, node, &on);
  if (asked == CUDA_ERROR_INVALID_VALUE) return false;
  check(asked, "cuGraphNodeGetEnabled", node, exec.handle);
  return on == 0;
}

}  // namespace

bool can_be_disabled(node_kind kind) noexcept {
  return kind == node_kind::kernel || kind == node_kind::copy || kind == node_kind::fill;
}

bool is_enabled(const executable& exec, std::uint32_t node) {
  return ask_enabled(exec, exec.graph->node_handles[node]);
}

void set_enabled(executable& exec, std::uint32_t node, bool on) {
  const CUgraphNode handle = exec.graph->node_handles[node];
  exec.disabled.reserve(exec.disabled.size() + 1);
  exec.unsettled.reserve(exec.unsettled.size() + 1);
  if (ask_enabled(exec, handle) == on) return;
  const CUresult set = set_switch(exec, handle, on);
  if (set != CUDA_SUCCESS) {  // it may have done its work
    if (set_switch(exec, handle, !on) != CUDA_SUCCESS) exec.unsettled.push_back(handle);
    check(set, "cuGraphNodeSetEnabled", handle, exec.handle);
  }
  std::erase(exec.disabled, handle);
  if (!on) exec.disabled.push_back(handle);
}

std::vector<CUgraphNode> disabled_nodes(const executable& exec) {
  const detail::graph_state& graph = *exec.graph;
  std::vector<CUgraphNode> result;
  if (!exec.was_made_elsewhere && exec.disabled.empty()) return result;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    if (can_be_disabled(graph.nodes.kind(i)) && was_disabled(exec, graph.node_handles[i]))
      result.push_back(graph.node_handles[i]);
  return result;
}

void unsettle_switches(executable& exec) {
  exec.unsettled.insert(exec.unsettled.end(), exec.disabled.begin(), exec.disabled.end());
}

void settle_switches(executable& exec) {
  while (!exec.unsettled.empty()) {
    const CUgraphNode node = exec.unsettled.back();
    check(set_switch(exec, node, !is_listed(exec.disabled, node)), "cuGraphNodeSetEnabled", node,
          exec.handle);
    exec.unsettled.pop_back();
  }
}

}  // namespace cugraft
