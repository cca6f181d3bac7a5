// SPDX-License-Identifier: Apache-2.0
#include "engines/memory_mismatch.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "capture/failures.hpp"

namespace cugraft {
namespace {

constexpr const char* memory_advice =
    "capture a new graph, or re-capture with recapture_options::replace_structure";

std::string allocation_text(const model::graph& graph, std::uint32_t node,
                            const memory_call& found) {
  const std::string named = describe_node(summary_of(graph, node));
  if (const model::allocation_value* allocation = graph.allocation(node))
    return fmt::format(
        "{}: {} bytes to {} bytes, and nothing in the driver gives an allocation another size; {}",
        named, allocation->bytes, found.bytes, memory_advice);
  return fmt::format(
      "{}: memory {:#x} to memory {:#x}, and nothing in the driver lets a free take other memory; "
      "{}",
      named, graph.free(node)->address, found.address, memory_advice);
}

std::string foreign_text(const node_summary& node) {
  return fmt::format(
      "{} was made by foreign code in the re-capture, at another address than the graph's; "
      "allocate "
      "and free it through graph_builder, or capture a new graph",
      describe_node(node));
}

}  // namespace

std::optional<model::structure_mismatch> first_mismatch(const detail::graph_state& graph,
                                                        const detail::session_state& session) {
  const auto structural = model::first_mismatch(graph.nodes.structure(), session.found());
  const auto memory = session.first_memory_mismatch();
  if (!structural || (memory && memory->position < structural->position)) return memory;
  return structural;
}

recapture_failure session_mismatch(const detail::graph_state& graph,
                                   const detail::session_state& session,
                                   const model::structure_mismatch& differs, engine used,
                                   const char* function) {
  recapture_failure failure =
      structural_failure(graph, differs, found_in(session, differs), used, function);
  const auto node = static_cast<std::uint32_t>(differs.position);
  if (differs.why == mismatch::allocation)
    failure.message = allocation_text(graph.nodes, node, *session.found_note(node)->memory);
  if (differs.why == mismatch::foreign_allocation)
    failure.message = foreign_text(summary_of(graph.nodes, node));
  return failure;
}

recapture_failure other_memory(const detail::graph_state& graph, std::uint32_t node,
                               node_summary found) {
  recapture_failure failure =
      structural_failure(graph, {mismatch::foreign_allocation, node},
                         {graph.nodes.size(), std::move(found)}, engine::compare, "");
  failure.message = fmt::format(
      "{} is at another address in another capture, so that a graph which allocates takes nothing "
      "from one; re-capture it, or take the other graph and instantiate that",
      describe_node(*failure.expected));
  return failure;
}

}  // namespace cugraft
