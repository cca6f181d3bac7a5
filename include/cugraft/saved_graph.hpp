// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "cugraft/graph.hpp"

// Graphs and reports as plain data: saved as JSON by `to_json`, read back without any driver, so
// that a graph of a server can be looked at, and compared, elsewhere. `docs/report.md` has the
// forms.

namespace cugraft {

namespace detail {
struct saved_state;
}  // namespace detail

/// A text that is no saved graph, report or dump, or a damaged one. `what()` is one sentence with
/// the line and what was expected there. Nothing was made of it.
class CUGRAFT_API format_error : public error {
 public:
  format_error(std::size_t line, const std::string& sentence);

  /// Counted from 1.
  std::size_t line() const noexcept { return line_; }

 private:
  std::size_t line_ = 0;
};

/// What a graph holds, at one moment. Immutable, owns its data, cheap to copy; thread-safe.
///
/// Handles and addresses in it are numbers of the process that made it. It keeps nothing alive that
/// the graph needs.
class CUGRAFT_API saved_graph {
 public:
  /// No nodes; so is a moved-from one.
  saved_graph() noexcept = default;

  /// What `graph` holds now. No driver call.
  /// @throws usage_error, graph_lost_error  as the queries of `graph`
  explicit saved_graph(const graph& graph);

  /// Reads what `to_json` wrote of a graph.
  /// @throws format_error  if it is anything else, another version, damaged, or contradicts itself
  static saved_graph load(std::string_view json);

  /// Reads what `cuGraphDebugDotPrint` wrote, best with all its flags. NVIDIA does not document
  /// what stands in it: what a node's label shows becomes its fields, word for word. Arguments of
  /// kernels are not in it.
  /// @throws format_error  if it is no DOT, or no dump of a graph
  static saved_graph load_dot(std::string_view dot);

  /// Nodes, at every depth.
  std::size_t size() const noexcept;

  /// Whether `load_dot` made it.
  bool is_dump() const noexcept;

 private:
  friend struct detail::access;

  std::shared_ptr<const detail::saved_state> state_;
};

/// How two saved graphs are compared.
struct comparison_options {
  /// Kernels of one name and one parameter layout count as one function, whatever their handles:
  /// for graphs that two processes saved, whose handles mean nothing to each other.
  bool kernels_by_name = false;
};

/// What a re-capture of `before` that came to `after` would say: the changed nodes with the verdict
/// of each, or the first difference in structure. `nodes_total` and paths are those of `before`.
///
/// Of two dumps the labels are compared, but for what differs from run to run (handles of nodes); a
/// field that no rule is known for counts as `opaque`.
/// @throws usage_error  if one is a dump and the other is not
CUGRAFT_API recapture_result compare(const saved_graph& before, const saved_graph& after,
                                     const comparison_options& options = {});

/// Reads what `to_json` wrote of a report.
/// @throws format_error  as `saved_graph::load`
CUGRAFT_API change_report load_report(std::string_view json);

static_assert(std::is_nothrow_move_assignable_v<saved_graph>);

}  // namespace cugraft
