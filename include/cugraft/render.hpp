// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cugraft/detail/export.hpp"
#include "cugraft/graph_exec.hpp"

// Text is for people and may change. JSON keys are the names of the C++ members, beside
// "schema_version"; `docs/report.md` has the forms. SVG needs no other program, and HTML is one
// file that loads nothing. Functions of a graph throw what its queries throw.

namespace cugraft {

/// Grows when a reader of the JSON forms would have to change.
inline constexpr int json_schema_version = 1;

CUGRAFT_API std::string to_text(const change_report& report);
CUGRAFT_API std::string to_json(const change_report& report);
/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_dot(const change_report& report);
/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_svg(const change_report& report);
/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_html(const change_report& report);

/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_text(const graph& graph);
/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_json(const graph& graph);
/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_dot(const graph& graph);
/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_svg(const graph& graph);
/// Not delivered yet: throws `not_implemented_error`.
CUGRAFT_API std::string to_html(const graph& graph);

CUGRAFT_API std::string to_text(const recapture_failure& failure);
CUGRAFT_API std::string to_json(const recapture_failure& failure);

CUGRAFT_API std::string to_text(const exec_update& update);
CUGRAFT_API std::string to_json(const exec_update& update);

}  // namespace cugraft
