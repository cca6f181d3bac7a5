// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/graph_state.hpp"
#include "engines/registry.hpp"

namespace cugraft {

/// What a re-capture leaves beside its graph.
struct recapture_aside {
  std::shared_ptr<detail::graph_state> structure;  ///< what was captured, where it is another one
  /// No capture would take the body's work, whatever failed first: foreign work ended the one that
  /// the streams were held in, or a fork with work was not joined.
  bool is_broken = false;
};

/// What a re-capture's session carries: its graph, its options, and the engine that does the work.
struct recapture_run final : capture_client {
  std::shared_ptr<detail::graph_state> graph;
  recapture_options options;
  std::unique_ptr<recapture_engine> engine;
  recapture_aside* aside = nullptr;  ///< see `recapture_beside`
  bool is_finishing = false;  ///< the end has come: the graph is open again when all is applied

  call_result begin(CUstream stream, CUstreamCaptureMode mode) override {
    return engine->begin(stream, mode);
  }
  CUgraph target() const noexcept override { return engine->target(); }
  bool matches_at_calls() const noexcept override { return engine->matches_at_calls(); }
  const model::graph& expected() const noexcept override { return graph->nodes; }
  std::optional<std::uint32_t> position(CUgraphNode node) const noexcept override {
    return engine->position(node);
  }
  call_comparer* comparer() noexcept override { return engine->comparer(); }
  bool hands_out_memory() const noexcept override { return engine->hands_out_memory(); }
  void dropped() noexcept override { engine->dropped(); }
  void over(detail::session_state& session) noexcept override {
    graph->fork_streams = std::move(session.fork_streams());
    if (!is_finishing) graph->open_session.reset();
  }
};

/// @throws as `graph::begin_recapture`
recapture_session begin_recapture(const std::shared_ptr<detail::graph_state>& graph,
                                  stream_ref stream, const recapture_options& options);

/// As `recapture_session::try_end`.
recapture_result finish_recapture(detail::session_state& session);

/// The whole of `graph::try_recapture`.
recapture_result run_recapture(const std::shared_ptr<detail::graph_state>& graph, stream_ref stream,
                               const std::function<void(graph_builder&)>& body,
                               const recapture_options& options);

/// The same by one run of the body; with `replace_structure` another structure does not replace the
/// graph, but goes into `aside`, and the report is empty.
recapture_result recapture_beside(const std::shared_ptr<detail::graph_state>& graph,
                                  stream_ref stream,
                                  const std::function<void(graph_builder&)>& body,
                                  const recapture_options& options, recapture_aside& aside);

}  // namespace cugraft
