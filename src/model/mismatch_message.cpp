// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/names.hpp"
#include "model/report_state.hpp"

namespace cugraft {
namespace {

std::string_view clause(mismatch why) {
  switch (why) {
    case mismatch::node_order:
      return ", the same nodes in another order";
    case mismatch::dependencies:
      return ", with other dependencies";
    case mismatch::edge_data:
      return ", with the same dependencies by another kind of edge";
    case mismatch::depth:
      return ", in another nesting of child graphs or bodies";
    case mismatch::allocation:
      return ", with other parameters, which no driver call can apply";
    case mismatch::context:
      return ", in another context";
    case mismatch::conditional:
      return ", with another kind, default value or handle of a condition";
    case mismatch::foreign_condition:
      return ", which cugraft did not make, so that it cannot be compared";
    case mismatch::unknown_node:
      return ", of a kind that this build cannot compare";
    default:
      return "";
  }
}

std::string_view advice(mismatch why) {
  if (why == mismatch::node_order)
    return "; enqueue the work in the order of the first capture, or capture a new graph";
  return "; enqueue the same work as in the first capture, or capture a new graph";
}

std::string place(const mismatch_facts& facts) {
  const auto& node = facts.expected ? facts.expected : facts.found;
  if (node && node->path.steps.size() > 1) return to_string(node->path);
  return std::to_string(facts.position);
}

// A side without a node has either ended, or was enqueued by foreign code under the driver's own
// re-capture, which does not show it.
std::string side(const mismatch_facts& facts, const std::optional<node_summary>& node,
                 std::string_view ended) {
  if (node) return text_of(*node);
  return std::string(facts.why == mismatch::node_count ? ended : "a node that the driver hides");
}

}  // namespace

std::string mismatch_message(const mismatch_facts& facts) {
  if (facts.why == mismatch::rejected)
    return fmt::format("a hook rejected the change of node {}: {}", place(facts),
                       side(facts, facts.expected, {}));
  std::string result;
  if (facts.expected_count != facts.found_count)
    result = fmt::format("node count {} to {}, ", facts.expected_count, facts.found_count);
  result += fmt::format("first difference at {}: {} vs {}{}", place(facts),
                        side(facts, facts.expected, "end of the graph"),
                        side(facts, facts.found, "end of the re-capture"), clause(facts.why));
  if (facts.from && facts.why == mismatch::edge_data)
    result += fmt::format(" from node {}, {}", to_string(facts.from->path), text_of(*facts.from));
  result += advice(facts.why);
  return result;
}

}  // namespace cugraft
