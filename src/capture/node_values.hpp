// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/graph_state.hpp"
#include "cugraft/launch.hpp"
#include "cugraft/node_params.hpp"

// Between what single nodes do and what users are told or say of it.

namespace cugraft {

/// A node of a graph as those name it who ask for it or set it: "node 3 (copy) of graph 0x1".
std::string node_text(const detail::graph_state& graph, std::uint32_t node);

// What `value`, which `node` of `graph` has or had, is in the terms of users.
// @throws usage_error  if the node is of another kind, or its parameters were not read
kernel_node_params kernel_params_of(const detail::graph_state& graph, std::uint32_t node,
                                    const model::node_value& value);
copy_node_params copy_params_of(const detail::graph_state& graph, std::uint32_t node,
                                const model::node_value& value);
fill_node_params fill_params_of(const detail::graph_state& graph, std::uint32_t node,
                                const model::node_value& value);
host_node_params host_params_of(const detail::graph_state& graph, std::uint32_t node,
                                const model::node_value& value);
CUevent event_of(const detail::graph_state& graph, std::uint32_t node,
                 const model::node_value& value);

/// A node of a graph that is to do something else, and what it does now.
struct node_place {
  const detail::graph_state& graph;
  std::uint32_t node;
  const model::node_value& before;
};

// What the node does after an update in the terms of users; its owner included.
// @throws usage_error  if the node is of another kind, or what is asked fits no launch, copy or
//                      fill of this graph
model::node_value launch_value(const node_place& place, const launch_config& config,
                               const kernel& kernel, std::span<const detail::argument> arguments,
                               bool check_sizes);
model::node_value argument_value(const node_place& place, std::size_t index,
                                 detail::argument argument);
model::node_value copy_value(const node_place& place, const copy_node_params& copy);
model::node_value fill_value(const node_place& place, const fill_node_params& fill);
model::node_value host_value(const node_place& place, host_function function);
model::node_value event_value(const node_place& place, event_ref event);

}  // namespace cugraft
