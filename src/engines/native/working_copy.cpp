// SPDX-License-Identifier: Apache-2.0
#include "engines/native/working_copy.hpp"

#include <utility>

#include "capture/failures.hpp"
#include "engines/outcome.hpp"

namespace cugraft {

working_copy& working_copy::of(detail::graph_state& graph) {
  if (!graph.native_memory) graph.native_memory = std::make_unique<working_copy>(*graph.table);
  return static_cast<working_copy&>(*graph.native_memory);
}

std::optional<std::uint32_t> working_copy::position(CUgraphNode node) const noexcept {
  const auto found = positions_.find(node);
  if (found == positions_.end()) return std::nullopt;
  return found->second;
}

call_result working_copy::bring_in_step(const detail::graph_state& graph) {
  if (handle_ != nullptr && stamp_ == graph.stamp) return {};
  discard();
  const call_result cloned = clone(graph);
  if (!cloned.ok()) {
    discard();
    return cloned;
  }
  stamp_ = graph.stamp;
  return {};
}

void working_copy::stand_for(const detail::graph_state& graph) {
  discard();
  for (std::uint32_t i = 0; i < graph.node_handles.size(); ++i)
    positions_.emplace(graph.node_handles[i], i);
  nodes_ = graph.node_handles;
  is_graph_ = true;
  handle_ = graph.handle;
}

call_result working_copy::clone(const detail::graph_state& graph) {
  if (const CUresult code = table_->graph_clone(&handle_, graph.handle); code != CUDA_SUCCESS)
    return {code, "cuGraphClone"};
  nodes_.resize(graph.node_handles.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const CUresult code =
        table_->graph_node_find_in_clone(&nodes_[i], graph.node_handles[i], handle_);
    if (code != CUDA_SUCCESS) return {code, "cuGraphNodeFindInClone"};
    positions_.emplace(nodes_[i], static_cast<std::uint32_t>(i));
  }
  return {};
}

std::shared_ptr<const void> working_copy::release_as_owner() {
  std::shared_ptr<const void> owner = graph_as_owner(*table_, std::exchange(handle_, nullptr));
  // Which nodes it had is still asked until it is cloned afresh
  stamp_ = 0;
  return owner;
}

void working_copy::discard() noexcept {
  const CUgraph former = std::exchange(handle_, nullptr);
  if (former != nullptr && !is_graph_) discard_graph(*table_, former);
  is_graph_ = false;
  stamp_ = 0;
  nodes_.clear();
  positions_.clear();
}

}  // namespace cugraft
