// SPDX-License-Identifier: Apache-2.0
#include "engines/compare/compare_graphs.hpp"

#include <utility>

#include "capture/failures.hpp"
#include "engines/memory_mismatch.hpp"
#include "engines/outcome.hpp"
#include "model/memory_nodes.hpp"

namespace cugraft {
namespace {

bool is_same(const model::graph& graph, const model::graph& other, std::uint32_t node) {
  if (graph.kind(node) == node_kind::kernel) return graph.same(node, other.kernel(node));
  return graph.same(node, other.value(node));
}

// What keeps the old work alive goes on where nothing is known to keep the new.
void compare_node(const detail::graph_state& graph, const model::graph& other, std::uint32_t node,
                  CUgraphNode handle, recapture_outcome& outcome) {
  const std::shared_ptr<const void>& owner = other.owner(node);
  if (is_same(graph.nodes, other, node)) {
    if (owner && owner != graph.nodes.owner(node)) outcome.owners.emplace_back(node, owner);
    return;
  }
  model::node_value now = other.value(node);
  if (!now.owner) now.owner = graph.nodes.owner(node);
  if (same_payload(graph.nodes.value(node), now)) return;  // the graph's own stays
  const std::string_view tag = other.tag(node);
  add_change(outcome, graph, node, tag.empty() ? graph.nodes.tag(node) : tag, std::move(now))
      .attributes_from = handle;
}

}  // namespace

recapture_outcome compare_graphs(const detail::graph_state& graph, const model::graph& other,
                                 std::span<const CUgraphNode> handles,
                                 std::span<const CUcontext> contexts) {
  recapture_outcome outcome;
  if (const auto differs = model::first_mismatch(graph.nodes.structure(), other.structure())) {
    found_nodes found{other.structure().level(differs->level).count, summary_at(other, *differs)};
    outcome.failure = structural_failure(graph, *differs, std::move(found), engine::compare, "");
    return outcome;
  }
  if (const auto memory = model::first_memory_node(graph.nodes)) {
    outcome.failure = other_memory(graph, *memory, summary_of(other, *memory));
    return outcome;
  }
  if (!contexts.empty()) outcome.failure = context_failure(graph, contexts, engine::compare);
  if (outcome.failure) return outcome;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    compare_node(graph, other, i, handles[i], outcome);
  return outcome;
}

}  // namespace cugraft
