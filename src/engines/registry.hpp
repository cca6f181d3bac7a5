// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/apply.hpp"
#include "capture/session.hpp"
#include "cugraft/engine.hpp"
#include "cugraft/graph.hpp"

namespace cugraft {

/// What a re-capture found out. The graph is as it was.
struct recapture_outcome {
  std::optional<recapture_failure> failure;
  std::vector<raw_change> changes;  ///< in node order
  /// Nodes that do the same but are kept alive by somebody else from now on.
  std::vector<std::pair<std::uint32_t, std::shared_ptr<const void>>> owners;
  /// Of nodes whose tag is another, as far as the engine did not leave it to the session's notes.
  std::vector<std::pair<std::uint32_t, std::string>> tags;
  /// What foreign code attached to the graph it captured into; null if none took part.
  std::shared_ptr<const void> foreign_owner;
  /// What was captured, where it has another structure and is to be the graph from now on.
  std::shared_ptr<detail::graph_state> replacement;
  report_timing timing;
};

/// One re-capture of one graph.
class recapture_engine : public capture_client {
 public:
  virtual engine which() const noexcept = 0;

  /// Ends the session and compares. An exception of a hook leaves unchanged, after the capture has
  /// ended.
  virtual recapture_outcome finish(detail::session_state& session) = 0;

  /// The outcome was applied, and `stamp` is the graph's content now.
  virtual void applied(std::uint64_t stamp) noexcept = 0;

  void over(detail::session_state&) noexcept final {}
};

/// Whether an engine can be used on a driver, and takes a graph.
struct engine_info {
  engine which;
  /// What keeps `which` from being used at all with this context; see `engines`.
  engine_status (*status)(const context& context);
  /// Why it does not take the graph; empty if it does.
  std::string (*refusal)(const detail::graph_state& graph);
  std::unique_ptr<recapture_engine> (*make)(std::shared_ptr<detail::graph_state> graph,
                                            const recapture_options& options);
  /// The same as `refusal`, for `recapture_options::in_place`; null if the engine has no such way.
  std::string (*refusal_in_place)(const detail::graph_state& graph) = nullptr;
};

/// The engines that this build has, the preferred one first.
std::vector<engine_info> registered_engines();

/// What `compare` finds out of a graph that was captured elsewhere and has been read: `other`,
/// whose nodes are `handles`. They must exist until the outcome was applied. `contexts` are those
/// of the nodes where one of the graphs spans several, else empty.
recapture_outcome compare_with(const detail::graph_state& graph, const model::graph& other,
                               std::span<const CUgraphNode> handles,
                               std::span<const CUcontext> contexts);

}  // namespace cugraft
