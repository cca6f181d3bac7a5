// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/session.hpp"
#include "cugraft/change_report.hpp"

// How a session's failure is told.

namespace cugraft {

/// Destroys a graph that nobody wants; a failure goes to the report function.
void discard_graph(const driver_table& table, CUgraph graph) noexcept;

/// The driver refused to begin.
/// @throws capture_error
[[noreturn]] void throw_begin_failure(const call_result& result, stream_ref stream,
                                      bool is_recapture);

/// What the driver's end of a capture that no call before it broke says.
session_failure failed_end(const call_result& result) noexcept;

/// What is told of a capture that was invalidated or was not joined, or of a call that failed.
/// `next_expected` is the node that a re-capture wanted next.
recapture_failure describe_failure(const detail::session_state& session,
                                   const session_failure& failure,
                                   const std::optional<node_summary>& next_expected,
                                   std::vector<node_summary> unjoined);

/// What a failure says of the graph: "the graph is what it was", or that it is lost.
const char* graph_after_failure(bool is_lost) noexcept;

/// What a node of a graph is, for reports.
node_summary summary_of(const model::graph& graph, std::size_t node);

/// One line about a node: "node 3 (kernel \"saxpy\", tag \"norm\")".
std::string describe_node(const node_summary& node);

}  // namespace cugraft
