// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cugraft/change_report.hpp"

namespace cugraft::model {

/// CUgraphEdgeData without its reserved bytes; zero is full serialisation.
struct edge_data {
  std::uint8_t from_port = 0, to_port = 0, type = 0;
  friend auto operator<=>(const edge_data&, const edge_data&) = default;
};

struct dependency {
  std::uint32_t node = 0;  ///< position of the node that comes first
  edge_data data{};
  friend auto operator<=>(const dependency&, const dependency&) = default;
};

/// Kinds and dependencies of nodes in creation order, without their parameters.
class structure {
 public:
  std::size_t size() const noexcept { return kinds_.size(); }
  node_kind kind(std::size_t node) const noexcept { return kinds_[node]; }

  /// Ascending: dependencies are a set.
  std::span<const dependency> dependencies(std::size_t node) const noexcept {
    const std::size_t begin = node == 0 ? 0 : ends_[node - 1];
    return {dependencies_.data() + begin, ends_[node] - begin};
  }

  /// Adds a node after those that are there. `dependencies` may come in any order; a node named
  /// twice with the same data counts once.
  void append(node_kind kind, std::span<const dependency> dependencies);

  /// The node is of another kind than was seen.
  void set_kind(std::size_t node, node_kind kind) noexcept { kinds_[node] = kind; }

  void clear() noexcept;

 private:
  std::vector<node_kind> kinds_;
  std::vector<std::uint32_t> ends_;  // of each node's range in dependencies_
  std::vector<dependency> dependencies_;
};

/// The first position at which two structures differ.
struct structure_mismatch {
  mismatch why =
      mismatch::node_count;  ///< node_count, node_kind, node_order, dependencies, edge_data
  std::size_t position = 0;  ///< that many nodes matched
  /// The node at the other end of the first edge that differs, where edges or their data do.
  std::optional<std::uint32_t> from{};
};

/// Compares position by position; the first that differs decides. `node_order` where kind or
/// dependencies differ there and the nodes of `found`, in another order, are those of `expected`.
std::optional<structure_mismatch> first_mismatch(const structure& expected, const structure& found);

}  // namespace cugraft::model
