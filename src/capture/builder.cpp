// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/session.hpp"

// The builder: a name for one stream of a session.

namespace cugraft {
namespace {

using detail::access;

detail::session_state& session_of(const graph_builder& builder) {
  if (const auto& session = access::session(builder)) return *session;
  throw usage_error("the builder has no session: it was moved from");
}

graph_builder make_builder(const graph_builder& like, std::uint32_t index) {
  graph_builder made = like;
  access::builder_index(made) = index;
  return made;
}

[[noreturn]] void refuse_undelivered(const graph_builder& builder, const char* what) {
  static_cast<void>(builder.stream());  // a builder that is over says so first
  throw not_implemented_error(std::string("graph_builder::") + what +
                              " is not delivered yet: it comes with the other node kinds");
}

}  // namespace

stream_ref graph_builder::stream() const { return session_of(*this).stream_of(stream_); }

bool graph_builder::is_building() const noexcept {
  return session_ != nullptr && session_->is_building(stream_);
}

bool graph_builder::has_failed() const noexcept {
  return session_ != nullptr && session_->has_failed();
}

bool graph_builder::is_eager() const noexcept { return false; }

std::vector<graph_builder> graph_builder::fork(std::size_t count) {
  std::vector<graph_builder> forks;
  forks.reserve(count);
  for (const std::uint32_t index : session_of(*this).fork(stream_, count))
    forks.push_back(make_builder(*this, index));
  return forks;
}

graph_builder graph_builder::fork(stream_ref onto) {
  return make_builder(*this, session_of(*this).fork(stream_, onto));
}

void graph_builder::join(std::span<const graph_builder> forks) {
  detail::session_state& session = session_of(*this);
  for (const graph_builder& fork : forks)
    if (fork.session_ != session_)
      throw usage_error("join: a builder of another session cannot be joined into " +
                        session.describe());
  std::vector<std::uint32_t> indices;
  for (const graph_builder& fork : forks) indices.push_back(fork.stream_);
  session.join(stream_, indices);
}

void graph_builder::host_call(host_function function) {
  cugraft::host_call(stream(), std::move(function));
}

void graph_builder::keep(std::shared_ptr<const void> owner) {
  session_of(*this).keep(stream_, std::move(owner));
}

void graph_builder::tag(std::string_view name) { session_of(*this).tag(stream_, name); }

void graph_builder::close() {
  throw usage_error("close: the builder of " + identify(stream().get()) +
                    " is no conditional body: a session is ended by end(), a fork by join()");
}

void* graph_builder::allocate(std::size_t bytes) {
  return session_of(*this).allocate(stream_, bytes);
}

void graph_builder::free(void* pointer) { session_of(*this).free(stream_, pointer); }

void graph_builder::embed(const graph&) { refuse_undelivered(*this, "embed"); }
void graph_builder::embed(graph&&) { refuse_undelivered(*this, "embed"); }

condition graph_builder::create_condition(std::optional<unsigned>) {
  refuse_undelivered(*this, "create_condition");
}
graph_builder graph_builder::if_then(condition) { refuse_undelivered(*this, "if_then"); }
graph_builder graph_builder::while_loop(condition) { refuse_undelivered(*this, "while_loop"); }
std::array<graph_builder, 2> graph_builder::if_else(condition) {
  refuse_undelivered(*this, "if_else");
}
std::vector<graph_builder> graph_builder::switch_case(condition, std::size_t) {
  refuse_undelivered(*this, "switch_case");
}

}  // namespace cugraft
