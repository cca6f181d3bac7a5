// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "driver/call.hpp"
#include "engines/registry.hpp"

// What engines say of a re-capture in the same words.

namespace cugraft {

/// The graph's node at a position; empty behind the last one.
std::optional<node_summary> summary_at(const detail::graph_state& graph, std::size_t position);

/// The node at which a structure differs; empty where its level has ended.
std::optional<node_summary> summary_at(const model::graph& nodes,
                                       const model::structure_mismatch& differs);

/// What came instead of the graph's nodes.
struct found_nodes {
  std::size_t count = 0;                           ///< of the level that differs
  std::optional<node_summary> first_difference{};  ///< empty behind the last one
};
found_nodes found_in(const detail::session_state& session,
                     const model::structure_mismatch& differs);

/// Whether a session that failed only came to fewer nodes: its failure says why, not this.
bool ended_early(const detail::session_state& session, const model::structure_mismatch& differs);

/// The structures differ. `function` is the driver's that told, empty where none did.
recapture_failure structural_failure(const detail::graph_state& graph,
                                     const model::structure_mismatch& differs, found_nodes found,
                                     engine used, const char* function);

/// Whether it has to be asked in which contexts nodes are.
bool spans_contexts(const detail::graph_state& graph,
                    const detail::session_state& session) noexcept;

/// The contexts of nodes by what cugraft knows of them; null where others made them.
std::vector<CUcontext> contexts_of(std::span<const node_note* const> notes);

/// A node that was in `context_of(graph, node)` and is in `now`. Nothing in the driver can move it.
recapture_failure moved_failure(const detail::graph_state& graph, std::uint32_t node, CUcontext now,
                                engine used);

/// A node that is in another context than it was, or of which nobody knows, where graph or session
/// spans several: no setter moves a copy or a fill, and to change it in an executable its context
/// has to be given. `contexts` are those of the nodes now.
std::optional<recapture_failure> context_failure(const detail::graph_state& graph,
                                                 std::span<const CUcontext> contexts, engine used);

/// The structures match, but what changed cannot be read.
recapture_failure unreadable_failure(const detail::graph_state& graph, const cuda_error& thrown,
                                     engine used);

/// What a node's attributes are now: as cugraft launched it, else as `node` of the driver has them.
model::attributes attributes_now(const detail::graph_state& graph, const node_note* note,
                                 CUgraphNode node, attribute_check attributes);

/// Whether both are host functions of cugraft's that may stand for each other.
bool same_payload(const model::node_value& before, const model::node_value& after);

/// Adds a change of `node`, judged; `before` is the graph's value. If it throws, nothing was added.
raw_change& add_change(recapture_outcome& outcome, const detail::graph_state& graph,
                       std::uint32_t node, std::string_view tag, model::node_value&& before,
                       model::node_value&& now);
raw_change& add_change(recapture_outcome& outcome, const detail::graph_state& graph,
                       std::uint32_t node, std::string_view tag, model::node_value now);

/// The tag that a node has now; `note` is null where foreign code made it.
std::string_view tag_now(const detail::graph_state& graph, const detail::session_state& session,
                         std::uint32_t node, const node_note* note);

/// Notes who keeps an unchanged node alive from now on, if that is somebody else.
void note_owner(const detail::graph_state& graph, std::uint32_t node, const node_note* note,
                recapture_outcome& outcome);

}  // namespace cugraft
