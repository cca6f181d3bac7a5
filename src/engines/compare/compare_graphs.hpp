// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/registry.hpp"

namespace cugraft {

/// Compares a graph with another that was read already. `other` must outlive what is made of the
/// outcome: launch attributes are copied from its nodes. `contexts` as in `compare_with`.
recapture_outcome compare_graphs(const detail::graph_state& graph, const model::graph& other,
                                 std::span<const CUgraphNode> handles,
                                 std::span<const CUcontext> contexts);

}  // namespace cugraft
