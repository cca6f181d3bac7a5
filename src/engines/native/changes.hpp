// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/native/working_copy.hpp"
#include "engines/registry.hpp"

namespace cugraft {

/// One call of the driver's callback, copied: its parameters live for the call only (R8).
struct native_row {
  std::uint32_t node = 0;
  recapture_status status = recapture_status::eligible;
  bool is_complete = true;  ///< else the value is read from the working copy after the end
  model::node_value value;
};

/// Makes no driver call: the callback runs inside one.
native_row make_row(const model::graph& graph, std::uint32_t node, recapture_status status,
                    const CUgraphNodeParams& params);

/// What is known of a re-capture that the driver accepted.
struct change_source {
  detail::graph_state& graph;
  detail::session_state& session;
  attribute_check attributes;
  const working_copy& copy;
};

/// Fills in changes and owners. @return nodes that the driver wrote and that do the same as before
/// @throws cuda_error  if something cannot be read back
std::vector<std::uint32_t> collect_changes(const change_source& source,
                                           std::vector<native_row>& rows,
                                           recapture_outcome& outcome);

}  // namespace cugraft
