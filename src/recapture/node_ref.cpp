// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "capture/node_update.hpp"
#include "capture/node_values.hpp"
#include "cugraft/graph.hpp"
#include "recapture/node_access.hpp"

// Single nodes of a graph: what they do, and how that is changed beside re-capture.

namespace cugraft {
namespace {

using detail::graph_state;

// `make` says what the node does from then on.
template <class Make>
node_update update(const std::shared_ptr<graph_state>& graph, const node_path& path,
                   const Make& make) {
  std::uint32_t node = index_in(graph, path);
  refuse_while_open(*graph, "setting a node of it");
  if (graph->is_borrowed) {
    read_afresh(*graph);
    node = index_in(graph, path);
  }
  const graph_context_scope current(*graph);
  const model::node_value before = graph->nodes.value(node);
  return update_node(*graph, node, make(node_place{*graph, node, before}));
}

template <class Params>
auto params(const std::shared_ptr<graph_state>& graph, const node_path& path, Params of) {
  const std::uint32_t node = index_in(graph, path);
  return of(*graph, node, graph->nodes.value(node));
}

}  // namespace

std::span<const std::byte> kernel_node_params::argument(std::size_t index) const {
  if (index >= parameters.size())
    throw usage_error("kernel \"" + name + "\" takes " + std::to_string(parameters.size()) +
                      " argument" + (parameters.size() == 1 ? "" : "s") +
                      ": there is no argument " + std::to_string(index));
  return std::span(arguments).subspan(parameters[index].offset, parameters[index].size);
}

kernel_node_params node_ref::kernel_params() const {
  return params(graph_, path_, &kernel_params_of);
}
copy_node_params node_ref::copy_params() const { return params(graph_, path_, &copy_params_of); }
fill_node_params node_ref::fill_params() const { return params(graph_, path_, &fill_params_of); }
host_node_params node_ref::host_params() const { return params(graph_, path_, &host_params_of); }
CUevent node_ref::event() const { return params(graph_, path_, &event_of); }

node_update node_ref::update_launch(const launch_config& config, const kernel& kernel,
                                    std::span<const detail::argument> arguments, bool check_sizes) {
  return cugraft::update(graph_, path_, [&](const node_place& place) {
    return launch_value(place, config, kernel, arguments, check_sizes);
  });
}

node_update node_ref::update_argument_bytes(std::size_t index, detail::argument argument) {
  return cugraft::update(graph_, path_, [&](const node_place& place) {
    return argument_value(place, index, argument);
  });
}

node_update node_ref::update(const copy_node_params& copy) {
  return cugraft::update(graph_, path_,
                         [&](const node_place& place) { return copy_value(place, copy); });
}

node_update node_ref::update(const fill_node_params& fill) {
  return cugraft::update(graph_, path_,
                         [&](const node_place& place) { return fill_value(place, fill); });
}

node_update node_ref::update(host_function function) {
  return cugraft::update(graph_, path_, [&](const node_place& place) {
    return host_value(place, std::move(function));
  });
}

node_update node_ref::update(event_ref event) {
  return cugraft::update(graph_, path_,
                         [&](const node_place& place) { return event_value(place, event); });
}

}  // namespace cugraft
