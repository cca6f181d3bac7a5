// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
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

/// What a conditional node was made with. Nothing in the driver changes any of it (driver rules,
/// 7).
struct conditional_value {
  int type = 0;            ///< CUgraphConditionalNodeType
  std::uint32_t size = 1;  ///< bodies
  std::uint64_t handle = 0;
  std::optional<unsigned> default_value{};  ///< at the start of each launch; empty: undefined
  friend bool operator==(const conditional_value&, const conditional_value&) = default;
};

/// One graph of a tree: its nodes are a range of positions.
struct level {
  static constexpr std::uint32_t no_parent = UINT32_MAX;

  std::uint32_t parent = no_parent;  ///< position of the node that holds it
  std::uint32_t body = 0;            ///< which body of that node
  std::uint32_t first = 0, count = 0;

  bool has(std::size_t node) const noexcept { return node >= first && node < first + count; }
};

/// Kinds and dependencies of the nodes of a tree of graphs, without their parameters.
///
/// Nodes are numbered through the whole tree: those of the root in creation order, then the graphs
/// inside of them level by level, by ascending position of the node that holds them and then by
/// body. So equal trees have equal numbers, and a graph without inner graphs has those of its
/// nodes.
class structure {
 public:
  std::size_t size() const noexcept { return kinds_.size(); }
  node_kind kind(std::size_t node) const noexcept { return kinds_[node]; }

  /// Ascending: dependencies are a set.
  std::span<const dependency> dependencies(std::size_t node) const noexcept {
    const std::size_t begin = node == 0 ? 0 : ends_[node - 1];
    return {dependencies_.data() + begin, ends_[node] - begin};
  }

  /// Adds a node after those that are there, to the last level. `dependencies` may come in any
  /// order; a node named twice with the same data counts once.
  void append(node_kind kind, std::span<const dependency> dependencies);

  /// The node is of another kind than was seen.
  void set_kind(std::size_t node, node_kind kind) noexcept { kinds_[node] = kind; }
  /// The nodes that come are in body `body` of `parent`.
  /// @pre behind the latest level, in the order of the levels
  void begin_level(std::uint32_t parent, std::uint32_t body);

  /// Levels, the root included; there is always that.
  std::size_t level_count() const noexcept { return inner_.size() + 1; }
  model::level level(std::size_t index) const noexcept;

  /// The level that has the node. @pre there is such a node
  std::size_t level_of(std::size_t node) const noexcept;

  /// The levels inside of `node`, the first of them and how many.
  std::pair<std::size_t, std::size_t> levels_in(std::size_t node) const noexcept;

  /// Where a node is. @pre there is such a node
  node_path path_of(std::size_t node) const;

  /// The node there; empty if the path leads nowhere.
  std::optional<std::uint32_t> position_of(const node_path& path) const noexcept;

  /// The node is a conditional one, made with this. @pre behind every node that has been told so
  void set_condition(std::size_t node, const conditional_value& condition);

  /// The same; null where it is none, or nobody knows.
  const conditional_value* condition(std::size_t node) const noexcept;

  void clear() noexcept;

 private:
  struct inner_level {
    std::uint32_t parent = 0, body = 0, first = 0;
  };

  std::vector<node_kind> kinds_;
  std::vector<std::uint32_t> ends_;  // of each node's range in dependencies_
  std::vector<dependency> dependencies_;
  std::vector<inner_level> inner_;  // ascending by parent and body
  std::vector<std::pair<std::uint32_t, conditional_value>> conditions_;  // ascending by node
};

/// The first position at which two structures differ.
struct structure_mismatch {
  mismatch why = mismatch::node_count;  ///< node_count to conditional, or foreign_condition
  std::size_t position = 0;             ///< that many nodes matched
  std::size_t level = 0;                ///< the same level of both; the position may be its end
  /// The node at the other end of the first edge that differs, where edges or their data do.
  std::optional<std::uint32_t> from{};
};

/// Compares level by level, and in each position by position; the first that differs decides.
/// `node_order` where kind or dependencies differ there and the nodes of `found`, in another order,
/// are those of `expected`; `depth` where those that hold no others are, in another nesting.
std::optional<structure_mismatch> first_mismatch(const structure& expected, const structure& found);

/// The same of the roots alone, whatever is inside of their nodes.
std::optional<structure_mismatch> first_mismatch_of_roots(const structure& expected,
                                                          const structure& found);

}  // namespace cugraft::model
