// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capture/graph_state.hpp"
#include "engines/registry.hpp"

namespace cugraft {

/// What is compared, how, and by which engine.
struct concluded {
  detail::graph_state& graph;
  const recapture_options& options;
  engine used;
};

/// What the new work brings beside its nodes.
struct recapture_content {
  owner_list kept;
  std::vector<std::pair<std::uint32_t, std::string>> tags;  ///< of nodes whose tag is another
};

/// From what was found out to the report: asks the hook, applies the changes, all or nothing, and
/// tells. A failure is also the graph's last one.
/// @throws what the hook throws
recapture_result conclude(const concluded& run, recapture_outcome& outcome,
                          recapture_content content);

}  // namespace cugraft
