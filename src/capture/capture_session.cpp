// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/access.hpp"
#include "capture/failures.hpp"
#include "capture/graph_state.hpp"
#include "capture/session.hpp"

// A plain capture: from begin to the graph.

namespace cugraft {
namespace {

using detail::access;

// Owner, tag and attributes of the nodes that cugraft launched, which no driver can tell; launch
// attributes of the others as far as they can be read.
void complete_nodes(detail::graph_state& graph, detail::session_state& session) {
  std::unordered_map<CUgraphNode, const node_note*> notes;
  for (const node_note& note : session.notes()) notes.emplace(note.node, &note);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto found = notes.find(graph.node_handles[i]);
    const node_note* const note = found == notes.end() ? nullptr : found->second;
    if (note != nullptr) graph.nodes.set_tag(i, std::string(session.tag_text(note->tag)));
    const bool is_kernel = graph.nodes.kind(i) == node_kind::kernel;
    if (note == nullptr && !is_kernel) continue;
    model::node_value value = graph.nodes.value(i);
    if (is_kernel)
      std::get<model::kernel_value>(value.data).attributes =
          note != nullptr && note->attributes
              ? *note->attributes
              : read_attributes(*graph.table, graph.node_handles[i], attribute_check::semantic);
    if (note != nullptr) value.owner = note->owner;
    graph.nodes.assign(i, std::move(value));
  }
}

// Builders may outlive the session, and hold it: what it was given goes with its end.
class contents_guard {
 public:
  explicit contents_guard(detail::session_state& session) noexcept : session_(session) {}
  contents_guard(const contents_guard&) = delete;
  contents_guard& operator=(const contents_guard&) = delete;
  ~contents_guard() { session_.drop_contents(); }

 private:
  detail::session_state& session_;
};

void read_into(detail::graph_state& graph, detail::session_state& session) {
  captured_graph captured = read_captured(*graph.table, graph.handle, session.known_nodes());
  graph.origin = captured.in_order ? node_origin::stream_calls : node_origin::unknown;
  graph_content content =
      read_content(*graph.table, std::move(captured), session.layouts(), attribute_check::none);
  graph.has_foreign_nodes = session.notes().size() < content.handles.size();
  graph.node_handles = std::move(content.handles);
  graph.nodes = std::move(content.nodes);
  graph.stamp = new_stamp();
  complete_nodes(graph, session);
  graph.record = make_record(owners_of(graph.nodes), std::move(session.kept()));
  graph.fork_streams = std::move(session.fork_streams());
}

graph finish(detail::session_state& session) {
  session.require_may_end();
  auto state = std::make_shared<detail::graph_state>(session.table());
  auto ended = session.end();
  state->handle = ended.graph;  // owned from here on, whatever fails
  const contents_guard contents(session);
  if (session.failure() || !ended.result.ok()) {
    const session_failure failure = session.failure().value_or(failed_end(ended.result));
    throw capture_error(
        describe_failure(session, failure, std::nullopt, std::move(ended.unjoined)));
  }
  state->context = session.context();
  try {
    read_into(*state, session);
  } catch (const cuda_error& thrown) {
    recapture_failure failure;
    failure.why = mismatch::driver_failure;
    failure.code = thrown.code();
    failure.function = thrown.function();
    failure.nodes_matched = session.notes().size();
    failure.message =
        "the capture ended well, but its graph could not be read: " + std::string(thrown.what());
    throw capture_error(std::move(failure));
  }
  return access::make<graph>(std::move(state));
}

}  // namespace

capture_session begin_capture(stream_ref stream, capture_mode mode) {
  auto session = std::make_shared<detail::session_state>(stream, mode, nullptr);
  session->begin();
  auto result = access::make<capture_session>();
  access::session(result) = session;
  access::own_session(result) = std::move(session);
  return result;
}

capture_session::capture_session(capture_session&& other) noexcept
    : graph_builder(other), own_(std::move(other.own_)) {
  other.session_.reset();
}

capture_session& capture_session::operator=(capture_session&& other) noexcept {
  if (this != &other) {
    abandon();
    graph_builder::operator=(other);
    own_ = std::move(other.own_);
    other.session_.reset();
  }
  return *this;
}

capture_session::~capture_session() { abandon(); }

graph capture_session::end() {
  if (!own_) throw usage_error("the capture session was moved from: end the one that has it");
  return finish(*own_);
}

void capture_session::abandon() noexcept {
  if (own_) own_->abandon();
}

}  // namespace cugraft
