// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/registry.hpp"

namespace cugraft {

/// The engine that `options` name or, for `automatic`, the best that this driver has, that passed
/// its self-test, and that takes the graph.
/// @throws usage_error            if the options contradict, or the engine does not take the graph
/// @throws unsupported_error      if the driver is too old
/// @throws not_implemented_error  if no engine can read all of the graph
std::unique_ptr<recapture_engine> choose_engine(const std::shared_ptr<detail::graph_state>& graph,
                                                stream_ref stream,
                                                const recapture_options& options);

/// The engine that `choose_engine` takes, without asking whether it does take the graph.
engine engine_of(const detail::graph_state& graph, stream_ref stream,
                 const recapture_options& options);

/// @throws not_implemented_error  if the engine compare cannot read all of the graph
void refuse_unreadable(const detail::graph_state& graph);

/// Refuses what cannot be done with the graph, whatever the engine.
/// @throws usage_error  if the graph is borrowed and its owner's part is asked for
void refuse_options(const detail::graph_state& graph, const recapture_options& options);

}  // namespace cugraft
