// SPDX-License-Identifier: Apache-2.0
#include "driver/features.hpp"

#include <array>

namespace cugraft {
namespace {

struct row {
  feature which;
  int version;
  std::string_view text;
};

// The versions are those of the functions (driver rules, 1.2), or of the enumerators where the
// feature has none of its own (0.1).
constexpr std::array<row, feature_count> rows{{
    {feature::parameter_layouts, 12040, "reading the parameter layout of a kernel"},
    {feature::edge_data, 12030, "edge data"},
    {feature::capture_to_graph, 12030, "capture into an existing graph"},
    {feature::conditional_nodes, 12030, "a conditional node"},
    {feature::conditional_switch, 12080, "a switch, or an if with an else"},
    {feature::child_graph_move, 12090, "moving a child graph in"},
    {feature::node_ids, 13010, "asking for a node's id"},
    {feature::node_params_query, 13020, "reading the parameters of any node"},
    {feature::recapture_to_graph, 13030, "native re-capture"},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (static_cast<std::size_t>(rows[i].which) != i) return false;
  return true;
}

static_assert(rows_are_in_order());

const row& row_of(feature feature) noexcept { return rows[static_cast<std::size_t>(feature)]; }

}  // namespace

int required_version(feature feature) noexcept { return row_of(feature).version; }

std::string_view feature_text(feature feature) noexcept { return row_of(feature).text; }

}  // namespace cugraft
