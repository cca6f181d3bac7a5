// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/apply.hpp"
#include "capture/exec_switches.hpp"
#include "capture/node_update.hpp"
#include "capture/node_values.hpp"
#include "capture/owners.hpp"
#include "cugraft/graph_exec.hpp"
#include "recapture/exec_state.hpp"
#include "recapture/node_access.hpp"

// Single nodes of an executable: what it holds for them, and how that alone is changed.

namespace cugraft {
namespace {

using detail::access;
using detail::exec_state;

std::shared_ptr<exec_state> living(const std::weak_ptr<exec_state>& exec) {
  if (std::shared_ptr<exec_state> state = exec.lock()) return state;
  throw usage_error(
      "the executable graph of this node reference is gone: take one from a "
      "graph_exec");
}

exec_state& owned(const std::shared_ptr<exec_state>& state) {
  if (!state)
    throw usage_error(
        "the executable graph is empty: it was moved from, released, reset or "
        "closed");
  return *state;
}

exec_node_ref refer(const std::shared_ptr<exec_state>& exec, node_path path) {
  exec_node_ref result;
  access::exec_of(result) = exec;
  access::path_of(result) = std::move(path);
  return result;
}

template <class Params>
auto params(const std::weak_ptr<exec_state>& exec, const node_path& path, Params of) {
  const std::shared_ptr<exec_state> state = living(exec);
  const std::uint32_t node = index_in(state->graph, path);
  return of(*state->graph, node, value_of(*state, node));
}

// An executable that its nodes can be set in.
class ready {
 public:
  ready(const std::weak_ptr<exec_state>& exec, const node_path& path, const char* what)
      : exec_(living(exec)), graph_(*exec_->graph), current_(graph_) {
    made_executable(*exec_);
    static_cast<void>(index_in(exec_->graph, path));
    refuse_while_open(graph_, what);
    read_afresh(graph_);
    node_ = index_in(exec_->graph, path);
    require_context(graph_);
    repair(graph_);
    make_sound(*exec_);
    release_retired(*exec_);
    drain_released();
  }

  executable& exec() const noexcept { return *exec_; }
  std::uint32_t node() const noexcept { return node_; }

 private:
  std::shared_ptr<exec_state> exec_;
  detail::graph_state& graph_;
  graph_context_scope current_;
  std::uint32_t node_ = 0;
};

template <class Make>
node_update override_with(const std::weak_ptr<exec_state>& exec, const node_path& path,
                          const Make& make) {
  const ready set(exec, path, "setting a node of an executable of it");
  const model::node_value before = value_of(set.exec(), set.node());
  return override_node(set.exec(), set.node(),
                       make(node_place{*set.exec().graph, set.node(), before}));
}

void require_switch(const executable& exec, std::uint32_t node) {
  if (exec.structure_changed)
    throw usage_error(identify(exec.handle) +
                      " is of another structure than its graph has now: update() it first");
  if (!can_be_disabled(exec.graph->nodes.kind(node)))
    throw usage_error(node_text(*exec.graph, node) +
                      " cannot be switched off: kernels, copies and fills can");
}

void switch_node(const std::weak_ptr<exec_state>& exec, const node_path& path, bool on) {
  const ready set(exec, path, "switching a node of an executable of it");
  require_switch(set.exec(), set.node());
  set_enabled(set.exec(), set.node(), on);
}

}  // namespace

exec_node_ref graph_exec::node(std::size_t index) const {
  return node(node_path{{{static_cast<std::uint32_t>(index), 0}}});
}

exec_node_ref graph_exec::node(const node_path& path) const {
  static_cast<void>(index_in(owned(state_).graph, path));
  return refer(state_, path);
}

exec_node_ref graph_exec::node(const node_ref& node) const {
  if (access::graph_of(node) != owned(state_).graph)
    throw usage_error("the node reference is of another graph than " + identify(state_->handle) +
                      ": take one from the graph that it was instantiated from");
  return this->node(node.path());
}

std::optional<exec_node_ref> graph_exec::find(std::string_view tag) const {
  const model::graph& nodes = owned(state_).graph->nodes;
  for (std::uint32_t i = 0; i < nodes.size() && !tag.empty(); ++i)
    if (nodes.tag(i) == tag) return node(i);
  return std::nullopt;
}

std::optional<exec_node_ref> graph_exec::find_kernel(std::string_view name,
                                                     std::size_t occurrence) const {
  const auto found = kernel_index(*owned(state_).graph, name, occurrence);
  if (!found) return std::nullopt;
  return node(*found);
}

node_ref exec_node_ref::in_graph() const {
  node_ref result;
  access::graph_of(result) = living(exec_)->graph;
  access::path_of(result) = path_;
  return result;
}

kernel_node_params exec_node_ref::kernel_params() const {
  return params(exec_, path_, &kernel_params_of);
}
copy_node_params exec_node_ref::copy_params() const {
  return params(exec_, path_, &copy_params_of);
}
fill_node_params exec_node_ref::fill_params() const {
  return params(exec_, path_, &fill_params_of);
}
host_node_params exec_node_ref::host_params() const {
  return params(exec_, path_, &host_params_of);
}
CUevent exec_node_ref::event() const { return params(exec_, path_, &event_of); }

node_update exec_node_ref::update_launch(const launch_config& config, const kernel& kernel,
                                         std::span<const detail::argument> arguments,
                                         bool check_sizes) {
  return override_with(exec_, path_, [&](const node_place& place) {
    return launch_value(place, config, kernel, arguments, check_sizes);
  });
}

node_update exec_node_ref::update_argument_bytes(std::size_t index, detail::argument argument) {
  return override_with(exec_, path_, [&](const node_place& place) {
    return argument_value(place, index, argument);
  });
}

node_update exec_node_ref::update(const copy_node_params& copy) {
  return override_with(exec_, path_,
                       [&](const node_place& place) { return copy_value(place, copy); });
}

node_update exec_node_ref::update(const fill_node_params& fill) {
  return override_with(exec_, path_,
                       [&](const node_place& place) { return fill_value(place, fill); });
}

node_update exec_node_ref::update(host_function function) {
  return override_with(exec_, path_, [&](const node_place& place) {
    return host_value(place, std::move(function));
  });
}

node_update exec_node_ref::update(event_ref event) {
  return override_with(exec_, path_,
                       [&](const node_place& place) { return event_value(place, event); });
}

void exec_node_ref::disable() { switch_node(exec_, path_, false); }
void exec_node_ref::enable() { switch_node(exec_, path_, true); }

bool exec_node_ref::is_enabled() const {
  const std::shared_ptr<exec_state> exec = living(exec_);
  made_executable(*exec);
  const std::uint32_t node = index_in(exec->graph, path_);
  require_switch(*exec, node);
  const graph_context_scope current(*exec->graph);
  make_sound(*exec);
  return cugraft::is_enabled(*exec, node);
}

}  // namespace cugraft
