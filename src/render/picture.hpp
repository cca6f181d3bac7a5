// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cugraft/render.hpp"
#include "model/saved_state.hpp"

namespace cugraft {

/// A node as it is drawn.
struct picture_box {
  std::string path, name, tag;
  node_kind kind = node_kind::empty;
  std::uint32_t lane = 0, row = 0;
  std::vector<std::uint32_t> from;  ///< the boxes that come first
  std::vector<bool> is_plain;       ///< by `from`: the edge is of full serialisation
  std::vector<shown_field> fields;
  std::optional<std::size_t> change{};  ///< place in the report's `changes`
};

/// A graph of the tree, boxes `first` up to `first + count`.
struct picture_level {
  std::string title;
  std::uint32_t first = 0, count = 0;
  std::uint32_t lanes = 0, rows = 0;
};

/// What is drawn. Nodes of a level stand in lanes, which take the place of streams: a graph does
/// not keep the streams that it was captured on. A node stands in the lane of one that it depends
/// on where that one is still the last there, and below all that it depends on.
struct picture {
  std::vector<picture_level> levels;
  std::vector<picture_box> boxes;
  const change_report* report = nullptr;  ///< null: nothing is compared
  std::uint64_t generation = 0;
  bool is_whole = false;  ///< all nodes, not only changed ones
};

/// All nodes of the graph. Those that `report` names are marked; null: none. Both have to outlive
/// the result.
picture picture_of(const detail::saved_state& graph, const change_report* report);

/// The changed nodes alone: a report knows no others, and no dependencies.
picture picture_of(const change_report& report);

/// The change of a box; null if it has none.
const node_change* change_of(const picture& of, const picture_box& box) noexcept;

}  // namespace cugraft
