// SPDX-License-Identifier: Apache-2.0
#include "capture/failures.hpp"

#include <utility>

#include "base/report.hpp"
#include "base/result_names.hpp"
#include "handles/ownership.hpp"

namespace cugraft {
namespace {

const char* mode_text(capture_mode mode) noexcept {
  switch (mode) {
    case capture_mode::global:
      return "global";
    case capture_mode::relaxed:
      return "relaxed";
    default:
      return "thread-local";
  }
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string nodes_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " node" : " nodes");
}

// Where the capture died: behind which node, and what would have come next.
std::string place_text(const detail::session_state& session, const session_failure& failure,
                       const std::optional<node_summary>& next_expected) {
  const std::size_t count =
      session.client() != nullptr ? session.matched() : session.notes().size();
  std::string text = " after " + nodes_text(count);
  if (!failure.place.empty()) text = " in " + failure.place;
  if (next_expected && failure.place.empty()) text += ", before " + describe_node(*next_expected);
  return text;
}

std::string call_text(const session_failure& failure) {
  return std::string(failure.call.function) + " gave " +
         result_text(static_cast<int>(failure.call.code));
}

constexpr const char* suspects =
    "; suspects are calls that synchronise, query or allocate (in the global mode of any thread), "
    "and the synchronisation of the device or of the legacy stream in any mode";

std::string invalidated_text(const detail::session_state& session, const session_failure& failure,
                             const std::string& place) {
  std::string text =
      session.describe() + " was invalidated" + place + ": " +
      (failure.foreign ? "a call that cugraft did not make broke it, or put in other "
                         "work than the graph has"
                       : call_text(failure)) +
      "; capture mode " + mode_text(session.mode());
  if (failure.foreign || failure.call.code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
    text += suspects;
  if (const auto forks = session.open_forks(); !forks.empty())
    text += "; not joined yet: " + list(forks);
  return text;
}

std::string unjoined_text(const detail::session_state& session, const std::string& where,
                          const std::vector<node_summary>& unjoined) {
  std::string text = session.describe() + " ended with work that was not joined";
  if (!where.empty()) text += " in " + where;
  std::vector<std::string> leaves;
  for (const node_summary& leaf : unjoined) leaves.push_back(describe_node(leaf));
  if (!leaves.empty()) text += ": " + list(leaves);
  if (const auto forks = session.open_forks(); !forks.empty()) text += " (" + list(forks) + ")";
  return text +
         "; join every fork, or wait for its last work on the stream where the session began";
}

std::string foreign_work_text(const detail::session_state& session, const std::string& place) {
  std::vector<std::string> found;
  if (!session.foreign_text().empty()) found.push_back(session.foreign_text());
  for (const node_summary& each : session.foreign_work())
    found.push_back("a node of the kind " + to_string(each.kind) +
                    (each.name.empty() ? "" : " \"" + each.name + "\""));
  return session.describe() + " met work that did not go through cugraft" + place + ": " +
         list(found) + "; capture mode " + mode_text(session.mode()) +
         (session.is_held_capture_broken() ? suspects : "") +
         "; engine::direct sees cugraft's own calls only: use engine::compare for this body, or "
         "may_rerun_body";
}

std::string text_of(const detail::session_state& session, const session_failure& failure,
                    const std::optional<node_summary>& next_expected,
                    const std::vector<node_summary>& unjoined) {
  const std::string place = place_text(session, failure, next_expected);
  switch (failure.why) {
    case mismatch::capture_invalidated:
      return invalidated_text(session, failure, place);
    case mismatch::capture_unjoined:
      return unjoined_text(session, failure.place, unjoined);
    case mismatch::foreign_work:
      return foreign_work_text(session, place);
    case mismatch::unknown_node:
      return session.describe() + " met a node that is not the graph's" + place + ": " +
             (failure.foreign
                  ? "a call that cugraft did not make put in other work than the graph has"
                  : call_text(failure) +
                        "; this driver does not keep the node handles of a graph "
                        "that is re-captured");
    case mismatch::rejected:
      return session.describe() + " was rejected by the native hook" + place;
    default:
      return session.describe() + " failed" + place + ": " + call_text(failure);
  }
}

}  // namespace

session_failure failed_end(const call_result& result) noexcept {
  switch (result.code) {
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return {mismatch::capture_unjoined, result};
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return {mismatch::capture_invalidated, result, true};
    default:
      return {mismatch::driver_failure, result};
  }
}

const char* graph_after_failure(bool is_lost) noexcept {
  return is_lost ? "the graph is lost, because the driver worked in place: destroy it"
                 : "the graph is what it was";
}

node_summary summary_of(const model::graph& graph, std::size_t node) {
  return {graph.structure().path_of(node), graph.kind(node), std::string(graph.name(node)),
          std::string(graph.tag(node))};
}

std::string describe_node(const node_summary& node) {
  std::string text = "node " + to_string(node.path) + " (" + to_string(node.kind);
  if (!node.name.empty()) text += " \"" + node.name + "\"";
  if (!node.tag.empty()) text += ", tag \"" + node.tag + "\"";
  return text + ")";
}

void discard_graph(const driver_table& table, CUgraph graph) noexcept {
  release_or_report(table, graph, &driver_table::graph_destroy, graph);
}

void throw_begin_failure(const call_result& result, stream_ref stream, bool is_recapture) {
  recapture_failure failure;
  failure.why = mismatch::driver_failure;
  failure.code = static_cast<int>(result.code);
  failure.function = result.function;
  failure.message = std::string(is_recapture ? "a re-capture" : "a capture") + " on " +
                    identify(stream.get()) + " could not begin: " + result.function + " gave " +
                    result_text(failure.code);
  throw capture_error(std::move(failure));
}

recapture_failure describe_failure(const detail::session_state& session,
                                   const session_failure& failure,
                                   const std::optional<node_summary>& next_expected,
                                   std::vector<node_summary> unjoined) {
  if (!failure.unjoined.empty()) unjoined = failure.unjoined;
  recapture_failure result;
  result.why = failure.why;
  result.code = failure.why <= mismatch::unknown_node ? 918 : static_cast<int>(failure.call.code);
  result.function = failure.call.function;
  result.nodes_matched = session.client() != nullptr ? session.matched() : session.notes().size();
  result.expected = next_expected;
  result.message = text_of(session, failure, next_expected, unjoined);
  result.involved = std::move(unjoined);
  return result;
}

}  // namespace cugraft
