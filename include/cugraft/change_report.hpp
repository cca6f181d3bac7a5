// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cugraft/detail/export.hpp"
#include "cugraft/error.hpp"
#include "cugraft/native.hpp"

namespace cugraft {

namespace detail {
struct access;
struct report_state;
}  // namespace detail

/// How a re-capture is done; for one program all engines give the same graph, report and failure.
enum class engine {
  automatic,  ///< `native` where driver, self-test and graph allow it, else `compare`
  native,     ///< the driver's own call on a working copy (13.3)
  compare,    ///< a capture into a scratch graph, compared with the graph
  direct,     ///< each call compared as it is made; sees only work that goes through cugraft
};

/// What a change needs to reach an executable graph, least first; a report's verdict is the
/// greatest.
enum class verdict {
  unchanged,
  patchable,          ///< the node's setter on the executable can apply it
  whole_update,       ///< only `cuGraphExecUpdate` can
  needs_instantiate,  ///< nothing can, or what claims to does not (driver facts)
};

/// The driver's numbers. A number without a name here, of a newer driver, is opaque: it is named by
/// the number ("kind 18"), compared in structure only, and never patched.
enum class node_kind : int {
  kernel = 0,
  copy = 1,
  fill = 2,
  host = 3,
  child_graph = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  semaphore_signal = 8,
  semaphore_wait = 9,
  allocation = 10,
  free = 11,
  batch_memory_op = 12,
  conditional = 13,
};

/// `CUgraphRecaptureStatus`: what the driver's own re-capture says of a change (driver rules, 3.1
/// R7).
enum class recapture_status {
  eligible = 0,    ///< an instantiated graph can take it
  ineligible = 1,  ///< an instantiated graph cannot take it
  error = 2,       ///< the re-capture ends here, whatever a hook answers
};

/// One step of a path: a node by creation order in its graph, and which body of it comes next.
struct node_step {
  std::uint32_t node = 0;
  std::uint32_t body = 0;

  friend bool operator==(node_step, node_step) = default;
};

/// Where a node is: through child graphs and conditional bodies down to the node itself.
struct node_path {
  std::vector<node_step> steps;

  friend bool operator==(const node_path&, const node_path&) = default;
};

/// "5", "5/2" (node 2 of the child graph or first body of 5), "5[1]/2" (of its second body).
CUGRAFT_API std::string to_string(const node_path& path);

/// The enumerator's name; "kind 18" for an opaque one.
CUGRAFT_API std::string to_string(node_kind kind);

/// The enumerator's name.
CUGRAFT_API std::string_view to_string(verdict verdict) noexcept;

/// The enumerator's name.
CUGRAFT_API std::string_view to_string(engine engine) noexcept;

/// One field of a node that differs. `docs/report.md` lists every name and text form.
struct field_change {
  std::string field;   ///< "argument[1]", "grid", "value", "source", ...
  std::string before;  ///< as text
  std::string after;
  std::size_t offset = 0;  ///< of a kernel argument: its place in the kernel's layout, in bytes
  std::size_t size = 0;
  std::vector<std::byte> before_bytes;  ///< of a kernel argument: as the kernel gets it
  std::vector<std::byte> after_bytes;
};

/// One node that differs, with every field that does.
struct node_change {
  node_path path;
  node_kind kind = node_kind::empty;
  std::string name;                     ///< of a kernel: its name in the image
  std::string tag;                      ///< as `graph_builder::tag` set it
  verdict effect = verdict::unchanged;  ///< for an executable with default `instantiate_options`
  std::string rule;                     ///< id of the row of `update_rules` that decided
  std::vector<field_change> fields;
  std::optional<recapture_status> native_status{};  ///< the driver's own word, by `native` only
  CUgraphNode node = nullptr;
};

/// One row of what the driver can change in an executable, measured facts over documentation.
struct update_rule {
  std::string_view id;
  std::string_view text;    ///< what the rule is, and what to do
  std::string_view source;  ///< where it is documented or was measured
  verdict effect = verdict::unchanged;
};

/// All rules. Thread-safe; valid for ever.
CUGRAFT_API std::span<const update_rule> update_rules() noexcept;

/// The rule of that id; null if there is none.
CUGRAFT_API const update_rule* find_update_rule(std::string_view id) noexcept;

/// Host time of the parts of a re-capture.
struct report_timing {
  std::chrono::nanoseconds capture{};  ///< the body, and the driver's begin and end
  std::chrono::nanoseconds compare{};  ///< outside the body; with `direct` that is most of it
  std::chrono::nanoseconds apply{};    ///< setting the graph's changed nodes
};

/// What a re-capture found. Immutable, owns its data, cheap to copy; thread-safe.
///
/// Text is made at the first `changes`, so that a report that nobody reads costs its counters only.
class CUGRAFT_API change_report {
 public:
  /// No nodes and no changes; so is a moved-from report.
  change_report() noexcept = default;

  /// The engine that ran; never `automatic`, but in an empty report.
  engine engine_used() const noexcept;

  /// Nodes of the graph, at every depth.
  std::size_t nodes_total() const noexcept;

  /// Nodes that changed, at every depth.
  std::size_t nodes_changed() const noexcept;

  /// Every changed node in creation order, whatever its effect. Valid as long as a copy of the
  /// report.
  std::span<const node_change> changes() const&;

  /// The same of a temporary report: `for (auto& c : graph.recapture(s, f).changes())`.
  std::vector<node_change> changes() &&;

  /// The greatest effect of all changes.
  verdict overall() const noexcept;

  /// Whether another structure replaced the graph, see `recapture_options::replace_structure`.
  bool structure_replaced() const noexcept;

  /// The graph's generation after this re-capture.
  std::uint64_t generation() const noexcept;

  report_timing timing() const noexcept;

 private:
  friend struct detail::access;

  std::shared_ptr<const detail::report_state> state_;
};

/// Why a re-capture failed. `recapture_failure::code` is 918 up to `unknown_node`, the driver's
/// after.
enum class mismatch {
  node_count,           ///< a node more or fewer
  node_kind,            ///< another kind at this position
  node_order,           ///< the nodes that were expected, in another order
  dependencies,         ///< the node depends on others
  edge_data,            ///< on the same ones, by another kind of edge
  depth,                ///< equal content in another nesting of child graphs or bodies
  allocation,           ///< another size or pool, which nothing in the driver can apply
  conditional,          ///< another kind, default value or handle of a condition
  context,              ///< the node moved to another context or device, which nothing can apply
  rejected,             ///< a hook's answer
  foreign_work,         ///< `direct`: something that did not go through cugraft
  foreign_allocation,   ///< `compare`: an allocation node that others made cannot keep its address
  foreign_condition,    ///< a conditional node that others made cannot be read back before 13.2
  unknown_node,         ///< an opaque node differs, or cannot be compared as it has to be
  capture_invalidated,  ///< the capture was ended by a call that it forbids
  capture_unjoined,     ///< a stream of the capture was not joined; `involved` has the leaves
  driver_failure,       ///< any other driver call
};

/// So that `reason::foreign_work` reads well beside `recapture_error::reason`.
using reason = mismatch;

/// A node as a failure or a refusal names it.
struct node_summary {
  node_path path;
  cugraft::node_kind kind = cugraft::node_kind::empty;
  std::string name;
  std::string tag;
};

/// A re-capture that failed. The graph is what it was, unless `graph_lost`; streams are idle again.
struct recapture_failure {
  mismatch why{};
  int code = 918;                 ///< a `CUresult`
  std::string function;           ///< the driver function that failed, if one did
  std::string message;            ///< one sentence, with position, nodes and capture mode
  std::size_t nodes_matched = 0;  ///< nodes ahead of the first that differs
  engine used{};
  bool graph_lost = false;                 ///< with `recapture_options::in_place` only
  std::optional<node_summary> expected{};  ///< what the graph has at that position
  std::optional<node_summary>
      found{};  ///< what came; empty with `native` where foreign code made it

  /// Unjoined leaves, foreign work; of `dependencies` and `edge_data` the node at the other end of
  /// the first edge that differs.
  std::vector<node_summary> involved;
};

/// A capture could not be begun or ended. Its streams are idle again.
class CUGRAFT_API capture_error : public cuda_error {
 public:
  explicit capture_error(recapture_failure failure);

  /// Valid as long as a copy of the exception.
  const recapture_failure& failure() const noexcept;

 private:
  std::shared_ptr<const recapture_failure> failure_;
};

/// A re-capture failed, by a mismatch or by its capture.
class CUGRAFT_API recapture_error : public capture_error {
 public:
  using capture_error::capture_error;

  /// `failure().why`.
  mismatch reason() const noexcept;

  /// Whether the graph can only be destroyed now; false but for `recapture_options::in_place`.
  bool graph_lost() const noexcept;
};

/// A report, or the failure that there is instead.
class [[nodiscard]] recapture_result {
 public:
  CUGRAFT_API recapture_result(change_report report) noexcept;
  CUGRAFT_API recapture_result(recapture_failure failure);

  /// Whether there is a report.
  CUGRAFT_API explicit operator bool() const noexcept;

  /// @throws recapture_error  if it failed
  CUGRAFT_API const change_report& report() const&;
  CUGRAFT_API change_report report() &&;

  /// @throws usage_error  if it did not fail
  CUGRAFT_API const recapture_failure& failure() const;

 private:
  friend struct detail::access;

  std::optional<change_report> report_;
  std::shared_ptr<const recapture_failure> failure_;
};

/// Whether a change may be made; `reject` fails the re-capture with `mismatch::rejected`.
enum class hook_answer { accept, reject };

/// Asked about each changed node, on every engine: at the session's end, in creation order, after
/// the structure matched and before anything is applied.
///
/// It must not call CUDA or cugraft. An exception leaves `end` unchanged, and nothing is applied.
using mismatch_hook = std::function<hook_answer(const node_change&)>;

/// The driver's own callback, engine `native` only: called inside the driver as it meets a
/// mismatch, on the thread that enqueues. Parameters are valid during the call only (driver
/// rules, 3.1 R8).
///
/// The node is one of the working copy unless `in_place`. It must not call CUDA or cugraft. An
/// exception fails the re-capture and leaves `end` unchanged.
using native_hook =
    std::function<hook_answer(CUgraphNode node, const CUgraphNodeParams_st* original,
                              const CUgraphNodeParams_st* now, recapture_status status)>;

static_assert(std::is_nothrow_move_assignable_v<change_report>);

}  // namespace cugraft
