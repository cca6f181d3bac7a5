// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cugraft/detail/export.hpp"
#include "cugraft/graph_exec.hpp"
#include "cugraft/saved_graph.hpp"

// Text is for people and may change. JSON keys are the names of the C++ members, beside
// "schema_version"; `docs/report.md` has the forms. Functions of a graph throw what its queries
// throw.

namespace cugraft {

/// Grows when a reader of the JSON forms would have to change.
inline constexpr int json_schema_version = 1;

// Of a report the pictures show the changed nodes: it knows no others. With the graph that was
// re-captured they show every node, and mark the changed ones by their verdict.

CUGRAFT_API std::string to_text(const change_report& report);
CUGRAFT_API std::string to_json(const change_report& report);
CUGRAFT_API std::string to_dot(const change_report& report);

/// Drawn by Graphviz: runs `dot`, found on PATH, in a child process.
/// @throws usage_error  if there is no `dot`, it fails, or there are more than 2000 nodes
CUGRAFT_API std::string to_svg(const change_report& report);

/// One page that works without a network and without other files.
CUGRAFT_API std::string to_html(const change_report& report);

/// Every node with all of its fields.
CUGRAFT_API std::string to_text(const graph& graph);

/// The form that `saved_graph::load` reads; docs/schema/graph.schema.json.
CUGRAFT_API std::string to_json(const graph& graph);
CUGRAFT_API std::string to_dot(const graph& graph);

/// @throws usage_error  as of a report
CUGRAFT_API std::string to_svg(const graph& graph);
CUGRAFT_API std::string to_html(const graph& graph);

// The same of a saved graph.

CUGRAFT_API std::string to_text(const saved_graph& graph);

/// @throws usage_error  if a driver's dump was loaded: it does not hold all of the graph
CUGRAFT_API std::string to_json(const saved_graph& graph);
CUGRAFT_API std::string to_dot(const saved_graph& graph);
CUGRAFT_API std::string to_dot(const saved_graph& graph, const change_report& report);

/// @throws usage_error  as of a report
CUGRAFT_API std::string to_svg(const saved_graph& graph);
CUGRAFT_API std::string to_svg(const saved_graph& graph, const change_report& report);
CUGRAFT_API std::string to_html(const saved_graph& graph);
CUGRAFT_API std::string to_html(const saved_graph& graph, const change_report& report);

CUGRAFT_API std::string to_text(const recapture_failure& failure);
CUGRAFT_API std::string to_json(const recapture_failure& failure);

CUGRAFT_API std::string to_text(const exec_update& update);
CUGRAFT_API std::string to_json(const exec_update& update);

}  // namespace cugraft
