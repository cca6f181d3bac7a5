// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/apply.hpp"
#include "capture/graph_state.hpp"
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

// Values of CUgraphConditionalNodeType; 12.8 brought the last.
constexpr int if_type = 0, while_type = 1, switch_type = 2;

// Bodies are sessions of their own.
std::vector<graph_builder> open_bodies(const graph_builder& in, condition condition, int type,
                                       std::size_t count) {
  std::vector<graph_builder> builders;
  builders.reserve(count);
  for (auto& body : session_of(in).open_bodies(access::builder_index(in), condition, type,
                                               static_cast<std::uint32_t>(count))) {
    graph_builder& made = builders.emplace_back(make_builder(in, 0));
    access::session(made) = std::move(body);
  }
  return builders;
}

bool holds_allocations(const detail::graph_state& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes.kind(i) == node_kind::allocation || graph.nodes.kind(i) == node_kind::free)
      return true;
  return false;
}

// What a child graph may not hold (driver rules, 7).
void refuse_conditions(const detail::graph_state& child) {
  for (std::size_t i = 0; i < child.nodes.size(); ++i)
    if (child.nodes.kind(i) == node_kind::conditional)
      throw usage_error("embed: " + identify(child.handle) + " holds a conditional node (node " +
                        to_string(child.nodes.structure().path_of(i)) +
                        "), which a child graph may not: enqueue its work in the session");
}

// The state of a graph that may be embedded, as its driver's graph is now.
detail::graph_state& embeddable(const std::shared_ptr<detail::graph_state>& child,
                                const graph_builder& into) {
  if (!child) throw usage_error("embed: the graph is empty: give one that was captured");
  refuse_while_open(*child, "embedding it");
  if (child->table != &table_of(into.stream()))
    throw usage_error("embed: " + identify(child->handle) + " and " +
                      identify(into.stream().get()) +
                      " are of two drivers: embed a graph of the session's driver");
  {
    const graph_context_scope current(*child);
    repair(*child);
  }
  read_afresh(*child);
  refuse_conditions(*child);
  return *child;
}

}  // namespace

stream_ref graph_builder::stream() const { return session_of(*this).stream_of(stream_); }

bool graph_builder::is_building() const noexcept {
  return session_ != nullptr && session_->is_building(stream_);
}

bool graph_builder::has_failed() const noexcept {
  return session_ != nullptr && session_->has_failed();
}

bool graph_builder::is_eager() const noexcept {
  return session_ != nullptr && session_->is_eager();
}

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

void graph_builder::close() { session_of(*this).close_body(stream_); }

void* graph_builder::allocate(std::size_t bytes) {
  return session_of(*this).allocate(stream_, bytes);
}

void graph_builder::free(void* pointer) { session_of(*this).free(stream_, pointer); }

void graph_builder::embed(const graph& child) {
  static_cast<void>(stream());  // a builder that is over says so first
  session_of(*this).refuse_embedding();
  const detail::graph_state& state = embeddable(access::state(child), *this);
  if (holds_allocations(state))
    throw usage_error("embed: " + identify(state.handle) +
                      " holds allocations, which a driver does not clone: move it in, by "
                      "embed(std::move(child))");
  session_of(*this).embed(stream_, state, false);
}

void graph_builder::embed(graph&& child) {
  static_cast<void>(stream());
  session_of(*this).refuse_embedding();
  detail::graph_state& state = embeddable(access::state(child), *this);
  const bool moves = holds_allocations(state);
  if (moves)
    driver_of(*state.table).require(feature::child_graph_move, "leave its allocations outside");
  const bool is_there = session_of(*this).embed(stream_, state, moves);
  if (!moves || !is_there) return;
  state.owns_handle = false;  // it is the parent's from now on
  child.reset();
}

condition graph_builder::create_condition(std::optional<unsigned> default_value) {
  return session_of(*this).create_condition(stream_, default_value);
}

graph_builder graph_builder::if_then(condition condition) {
  return open_bodies(*this, condition, if_type, 1).front();
}

graph_builder graph_builder::while_loop(condition condition) {
  return open_bodies(*this, condition, while_type, 1).front();
}

std::array<graph_builder, 2> graph_builder::if_else(condition condition) {
  std::vector<graph_builder> bodies = open_bodies(*this, condition, if_type, 2);
  return {bodies[0], bodies[1]};
}

std::vector<graph_builder> graph_builder::switch_case(condition condition, std::size_t count) {
  return open_bodies(*this, condition, switch_type, count);
}

}  // namespace cugraft
