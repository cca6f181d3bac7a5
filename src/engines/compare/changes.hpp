// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/registry.hpp"

namespace cugraft {

/// A capture whose structure is the graph's, to be compared with it.
struct captured_source {
  const detail::graph_state& graph;
  detail::session_state& session;
  attribute_check attributes;
};

/// Reads what was captured, and fills in changes and owners.
/// @throws cuda_error  if something cannot be read back
void collect_changes(const captured_source& source, recapture_outcome& outcome);

}  // namespace cugraft
