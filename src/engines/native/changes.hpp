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

/// Thrown where the driver called a node changed and did not write into the working copy what has
/// to be read or copied from there. Whether it writes is documented nowhere (driver rules, 3.3).
struct not_written {
  std::uint32_t node;
};

/// Thrown where the driver gave the nodes of the working copy other handles. Whether they stay is
/// documented nowhere either, and a handle that is gone may not even be asked about.
struct handles_changed {};

/// What the working copy holds after a re-capture.
struct copy_content {
  std::vector<std::uint32_t>
      set_back;            ///< nodes that the driver wrote and that do the same as before
  bool is_written = true;  ///< the driver left its new parameters in the copy
};

/// The notes of a session by the node's position; null where foreign code made the node.
std::vector<const node_note*> notes_by_node(const change_source& source);

/// Fills in changes and owners.
/// @throws cuda_error  if something cannot be read back
/// @throws not_written
/// @throws handles_changed
copy_content collect_changes(const change_source& source, std::vector<native_row>& rows,
                             recapture_outcome& outcome);

}  // namespace cugraft
