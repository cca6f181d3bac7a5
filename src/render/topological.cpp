// SPDX-License-Identifier: Apache-2.0
#include "render/topological.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace cugraft {

std::vector<std::uint32_t> in_order(const model::structure& nodes, const model::level& level) {
  std::vector<std::uint32_t> waits_for(level.count), begins(level.count + 1U), ends;
  for (std::uint32_t i = 0; i < level.count; ++i)
    for (const model::dependency& edge : nodes.dependencies(level.first + i)) {
      ++begins[edge.node - level.first + 1];
      ++waits_for[i];
    }
  for (std::uint32_t i = 0; i < level.count; ++i) begins[i + 1] += begins[i];
  ends.resize(begins.back());
  std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
  for (std::uint32_t i = 0; i < level.count; ++i)
    for (const model::dependency& edge : nodes.dependencies(level.first + i))
      ends[next[edge.node - level.first]++] = i;

  // Creation order wherever it does.
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < level.count; ++i)
    if (waits_for[i] == 0) ready.push(i);
  std::vector<std::uint32_t> result;
  result.reserve(level.count);
  while (!ready.empty()) {
    const std::uint32_t node = ready.top();
    ready.pop();
    result.push_back(level.first + node);
    for (std::uint32_t i = begins[node]; i < begins[node + 1]; ++i)
      if (--waits_for[ends[i]] == 0) ready.push(ends[i]);
  }
  return result;
}

std::optional<std::uint32_t> node_in_cycle(const model::structure& nodes) {
  for (std::size_t i = 0; i < nodes.level_count(); ++i) {
    const model::level level = nodes.level(i);
    std::vector<std::uint32_t> order = in_order(nodes, level);
    if (order.size() == level.count) continue;
    // Walking back from a node that is left, over nodes that are left, ends in a cycle.
    std::vector<bool> placed(level.count), seen(level.count);
    for (const std::uint32_t node : order) placed[node - level.first] = true;
    auto node = static_cast<std::uint32_t>(std::ranges::find(placed, false) - placed.begin());
    while (!seen[node]) {
      seen[node] = true;
      for (const model::dependency& edge : nodes.dependencies(level.first + node))
        if (!placed[edge.node - level.first]) node = edge.node - level.first;
    }
    return level.first + node;
  }
  return std::nullopt;
}

}  // namespace cugraft
