// SPDX-License-Identifier: Apache-2.0
#include "engines/registry.hpp"

#include "engines/compare/compare_engine.hpp"
#include "engines/compare/compare_graphs.hpp"
#include "engines/direct/direct_engine.hpp"
#include "engines/native/native_engine.hpp"

namespace cugraft {

std::vector<engine_info> registered_engines() {
  return {native_engine_info(), compare_engine_info(), direct_engine_info()};
}

recapture_outcome compare_with(const detail::graph_state& graph, const model::graph& other,
                               std::span<const CUgraphNode> handles,
                               std::span<const CUcontext> contexts) {
  return compare_graphs(graph, other, handles, contexts);
}

}  // namespace cugraft
