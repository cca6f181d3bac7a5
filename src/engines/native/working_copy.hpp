// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/graph_state.hpp"

namespace cugraft {

/// The clone that the driver re-captures into, so that a failure costs the clone and nothing else
/// (driver rules, R9 and R10). Kept with the graph, in step with its content.
class working_copy final : public engine_memory {
 public:
  explicit working_copy(const driver_table& table) noexcept : table_(&table) {}
  ~working_copy() override { discard(); }

  /// The one of `graph`, made if there is none.
  static working_copy& of(detail::graph_state& graph);

  /// Clones `graph`, unless the copy holds the graph's content already.
  call_result bring_in_step(const detail::graph_state& graph);

  /// Stands for `graph` itself instead of a clone: what is done in it is done in the graph, which
  /// is not destroyed here.
  void stand_for(const detail::graph_state& graph);

  CUgraph handle() const noexcept { return handle_; }
  CUgraphNode node(std::size_t position) const noexcept { return nodes_[position]; }

  /// Which node of the graph `node` is the copy of.
  std::optional<std::uint32_t> position(CUgraphNode node) const noexcept;

  /// It holds the content `stamp`.
  void set_stamp(std::uint64_t stamp) noexcept { stamp_ = stamp; }

  /// Gives the graph up to whoever keeps what foreign code attached to it.
  std::shared_ptr<const void> release_as_owner();

  void discard() noexcept;

 private:
  call_result clone(const detail::graph_state& graph);

  const driver_table* table_;
  CUgraph handle_ = nullptr;
  bool is_graph_ = false;  // itself, not a clone
  std::uint64_t stamp_ = 0;
  std::vector<CUgraphNode> nodes_;
  std::unordered_map<CUgraphNode, std::uint32_t> positions_;
};

}  // namespace cugraft
