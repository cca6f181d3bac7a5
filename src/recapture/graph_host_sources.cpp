// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "capture/graph_state.hpp"
#include "capture/host_memory.hpp"
#include "cugraft/graph.hpp"

namespace cugraft {
namespace {

// Where a copy begins to read; empty where that is no host memory.
std::optional<host_source> source_of(const driver_table& table, const model::copy_value& copy) {
  const model::copy_operand& from = copy.source;
  if (from.memory_kind != model::memory_kind_host && from.memory_kind != model::memory_kind_unified)
    return std::nullopt;
  const std::uintptr_t first = from.address + from.x + from.pitch * (from.y + from.height * from.z);
  const memory_place place = place_of(table, first);
  if (place == memory_place::device) return std::nullopt;
  return host_source{
      .path = {},
      .pointer = reinterpret_cast<const void*>(first),
      .width_bytes = copy.width_bytes,
      .rows = std::max<std::size_t>(copy.height, 1) * std::max<std::size_t>(copy.depth, 1),
      .is_pinned = place == memory_place::pinned};
}

}  // namespace

std::vector<host_source> graph::host_sources() const {
  static_cast<void>(node_count());  // an empty graph says so
  const graph_context_scope current(*state_);
  std::vector<host_source> result;
  for (std::uint32_t i = 0; i < state_->nodes.size(); ++i) {
    if (state_->nodes.kind(i) != node_kind::copy) continue;
    const model::node_value value = state_->nodes.value(i);
    auto source = source_of(*state_->table, std::get<model::copy_value>(value.data));
    if (!source) continue;
    source->path.steps = {{i, 0}};
    result.push_back(std::move(*source));
  }
  return result;
}

}  // namespace cugraft
