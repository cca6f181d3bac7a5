// SPDX-License-Identifier: Apache-2.0
#include "cugraft/graph.hpp"

#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/apply.hpp"
#include "capture/executable.hpp"
#include "capture/graph_state.hpp"
#include "recapture/node_access.hpp"
#include "recapture/sessions.hpp"

namespace cugraft {
namespace {

using detail::access;

detail::graph_state& any_state_of(const std::shared_ptr<detail::graph_state>& state) {
  if (!state) throw usage_error("the graph is empty: it was moved from, released, reset or closed");
  return *state;
}

detail::graph_state& state_of(const std::shared_ptr<detail::graph_state>& state) {
  refuse_lost(any_state_of(state));
  return *state;
}

std::shared_ptr<detail::graph_state> own(const driver& driver, CUgraph handle) {
  auto state = std::make_shared<detail::graph_state>(table_of(driver));
  state->handle = handle;
  return state;
}

// Nodes that a failed re-capture could not put back are set again before others see the graph.
void make_sound(detail::graph_state& graph) {
  if (graph.damaged.empty()) return;
  const graph_context_scope current(graph);
  repair(graph);
}

// A graph from elsewhere, which stays the caller's.
std::shared_ptr<detail::graph_state> read_foreign(const char* asked, const driver& driver,
                                                  CUgraph handle) {
  if (handle == nullptr)
    throw usage_error(std::string(asked) + ": the handle is null: give a graph");
  auto state = own(driver, handle);
  state->owns_handle = false;
  read_again(*state);
  state->generation = 0;
  return state;
}

}  // namespace

graph::graph(std::shared_ptr<detail::graph_state> state) noexcept : state_(std::move(state)) {}

graph::graph(const driver& driver) : state_(own(driver, nullptr)) {
  state_->handle = make_graph(*state_->table);
  state_->note_handle();
  state_->origin = node_origin::stream_calls;  // it has none
  state_->has_foreign_nodes = false;
  state_->stamp = new_stamp();
}

graph graph::from_native_handle(const driver& driver, CUgraph handle) {
  auto state = read_foreign("graph::from_native_handle", driver, handle);
  state->owns_handle = true;
  state->note_handle();
  return access::make<graph>(std::move(state));
}

graph graph::borrow(const driver& driver, CUgraph handle) {
  auto state = read_foreign("graph::borrow", driver, handle);
  state->is_borrowed = true;
  return access::make<graph>(std::move(state));
}

graph::graph(graph&& other) noexcept = default;
graph& graph::operator=(graph&& other) noexcept = default;
graph::~graph() = default;

recapture_session graph::begin_recapture(stream_ref stream, const recapture_options& options) {
  state_of(state_);
  return cugraft::begin_recapture(state_, stream, options);
}

recapture_session graph::recapture(stream_ref stream, const recapture_options& options) {
  return begin_recapture(stream, options);
}

recapture_result graph::run_body(stream_ref stream, std::function<void(graph_builder&)> body,
                                 const recapture_options& options) {
  state_of(state_);
  return run_recapture(state_, stream, body, options);
}

std::size_t graph::node_count() const { return state_of(state_).nodes.top_size(); }

node_ref graph::node(std::size_t index) const {
  if (index >= node_count())
    throw usage_error(identify(get()) + " has " + std::to_string(node_count()) +
                      " nodes: there is no node " + std::to_string(index));
  node_ref result;
  access::graph_of(result) = state_;
  access::path_of(result).steps = {{static_cast<std::uint32_t>(index), 0}};
  return result;
}

node_ref graph::node(const node_path& path) const {
  if (!state_of(state_).nodes.structure().position_of(path))
    throw usage_error(identify(get()) + " has no node " + to_string(path) +
                      (path.steps.empty() ? ": the path is empty"
                                          : ": a step of it is behind the last node or body"));
  node_ref result;
  access::graph_of(result) = state_;
  access::path_of(result) = path;
  return result;
}

std::optional<node_ref> graph::find(std::string_view tag) const {
  const model::graph& nodes = state_of(state_).nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!tag.empty() && nodes.tag(i) == tag) return node(nodes.structure().path_of(i));
  return std::nullopt;
}

std::optional<node_ref> graph::find_kernel(std::string_view name, std::size_t occurrence) const {
  const auto found = kernel_index(state_of(state_), name, occurrence);
  if (!found) return std::nullopt;
  return node(*found);
}

structure_fingerprint graph::fingerprint() const { return state_of(state_).nodes.fingerprint(); }

std::uint64_t graph::generation() const { return state_of(state_).generation; }

bool graph::is_lost() const noexcept { return state_ != nullptr && state_->is_lost; }
bool graph::is_borrowed() const noexcept { return state_ != nullptr && state_->is_borrowed; }

std::optional<recapture_failure> graph::last_failure() const {
  return any_state_of(state_).last_failure;
}

CUgraph graph::get() const { return state_of(state_).handle; }

CUgraph graph::release() {
  detail::graph_state& state = state_of(state_);
  refuse_while_open(state, "releasing it");
  make_sound(state);
  give_owners_to_graph(state);
  state.owns_handle = false;
  state.note_handle();
  const CUgraph handle = state.handle;
  state_.reset();
  return handle;
}

void graph::reset() noexcept { state_.reset(); }

void graph::close() {
  const std::shared_ptr<detail::graph_state> state = std::move(state_);
  if (state && state.use_count() == 1) close_graph(*state);
}

graph::operator bool() const noexcept { return state_ != nullptr; }

void graph::resync() {
  detail::graph_state& state = state_of(state_);
  refuse_while_open(state, "reading it again");
  make_sound(state);
  read_again(state);
}

std::uint32_t index_in(const std::shared_ptr<detail::graph_state>& graph, const node_path& path) {
  if (!graph) throw usage_error("the node reference is empty: take one from a graph");
  refuse_lost(*graph);
  if (const auto position = graph->nodes.structure().position_of(path)) return *position;
  throw usage_error(identify(graph->handle) + " has no node " + to_string(path));
}

std::optional<std::uint32_t> kernel_index(const detail::graph_state& graph, std::string_view name,
                                          std::size_t occurrence) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes.kind(i) == node_kind::kernel && graph.nodes.name(i) == name &&
        occurrence-- == 0)
      return i;
  return std::nullopt;
}

node_kind node_ref::kind() const { return graph_->nodes.kind(index_in(graph_, path_)); }
std::string_view node_ref::name() const { return graph_->nodes.name(index_in(graph_, path_)); }
std::string_view node_ref::tag() const { return graph_->nodes.tag(index_in(graph_, path_)); }
const node_path& node_ref::path() const noexcept { return path_; }
CUgraphNode node_ref::get() const { return graph_->node_handles[index_in(graph_, path_)]; }

std::vector<node_ref> node_ref::dependencies() const {
  std::vector<node_ref> result;
  for (const model::dependency& each :
       graph_->nodes.structure().dependencies(index_in(graph_, path_))) {
    node_ref before = *this;
    before.path_ = graph_->nodes.structure().path_of(each.node);
    if (result.empty() || result.back().path_ != before.path_) result.push_back(std::move(before));
  }
  return result;
}

}  // namespace cugraft
