// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/structure.hpp"

namespace cugraft {

/// The nodes of one level, each behind those that it depends on, as far as there is such an order:
/// nodes in or behind a cycle are missing. In time of nodes and edges.
std::vector<std::uint32_t> in_order(const model::structure& nodes, const model::level& level);

/// A node that depends on itself, over others or not.
std::optional<std::uint32_t> node_in_cycle(const model::structure& nodes);

}  // namespace cugraft
