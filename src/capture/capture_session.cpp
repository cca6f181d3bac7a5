// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "base/access.hpp"
#include "capture/failures.hpp"
#include "capture/graph_state.hpp"
#include "capture/session.hpp"

// A plain capture: from begin to the graph.

namespace cugraft {
namespace {

using detail::access;

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

graph finish(detail::session_state& session) {
  session.require_may_end();
  auto state = std::make_shared<detail::graph_state>(session.table());
  try {
    session.complete_bodies();
  } catch (...) {
    session.abandon();
    throw;  // for want of memory
  }
  auto ended = session.end();
  state->handle = ended.graph;  // owned from here on, whatever fails
  state->note_handle();
  const contents_guard contents(session);
  if (session.failure() || !ended.result.ok()) {
    const session_failure failure = session.failure().value_or(failed_end(ended.result));
    throw capture_error(
        describe_failure(session, failure, std::nullopt, std::move(ended.unjoined)));
  }
  try {
    read_session_graph(*state, session);
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
