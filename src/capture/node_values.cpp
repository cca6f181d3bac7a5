// SPDX-License-Identifier: Apache-2.0
#include "capture/node_values.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/failures.hpp"
#include "capture/host_payload.hpp"
#include "capture/launch_attributes.hpp"
#include "capture/launch_checks.hpp"
#include "driver/call.hpp"
#include "handles/kernel_state.hpp"
#include "model/difference.hpp"

namespace cugraft {
namespace {

using detail::graph_state;

template <class Value>
const Value& data_of(const graph_state& graph, std::uint32_t node, const model::node_value& value,
                     const char* wanted) {
  if (const auto* data = std::get_if<Value>(&value.data)) return *data;
  throw usage_error(node_text(graph, node) + " is no " + wanted);
}

std::string text_of(const node_place& place) { return node_text(place.graph, place.node); }

template <class Value>
const Value& data_of(const node_place& place, const char* wanted) {
  return data_of<Value>(place.graph, place.node, place.before, wanted);
}

cugraft::copy_operand public_operand(const model::copy_operand& operand) noexcept {
  return {static_cast<memory_kind>(operand.memory_kind),
          reinterpret_cast<void*>(operand.address),
          operand.x,
          operand.y,
          operand.z,
          operand.level,
          operand.pitch,
          operand.height};
}

// Managed memory may be in either place, so the driver is left to look; of memory that it does not
// know the address is the host's.
int kind_of(const graph_state& graph, const void* address) {
  require_context(graph);
  const driver_table& table = *graph.table;
  unsigned type = 0;
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  const CUresult found = table.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
  if (found == CUDA_ERROR_INVALID_VALUE) return model::memory_kind_host;
  check(found, "cuPointerGetAttribute");
  unsigned is_managed = 0;
  check(table.pointer_get_attribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at),
        "cuPointerGetAttribute");
  return is_managed != 0 ? model::memory_kind_unified : static_cast<int>(type);
}

model::copy_operand own_operand(const graph_state& graph, const cugraft::copy_operand& operand,
                                const model::copy_operand& before) {
  model::copy_operand own{static_cast<int>(operand.kind),
                          reinterpret_cast<std::uintptr_t>(operand.address),
                          operand.x,
                          operand.y,
                          operand.z,
                          operand.level,
                          operand.pitch,
                          operand.height};
  if (own.memory_kind == model::memory_kind_unified && before.memory_kind != own.memory_kind)
    own.memory_kind = kind_of(graph, operand.address);
  return own;
}

// Attributes that no node can be given later: what programmatic serialisation and events ask for
// lies in edges, and whether the device may update a node is for ever (driver rules, 1.4).
bool is_settled(unsigned id) noexcept {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      return true;
    default:
      return false;
  }
}

bool has_programmatic_edge(const graph_state& graph, std::uint32_t node) {
  const auto dependencies = graph.nodes.structure().dependencies(node);
  return std::any_of(dependencies.begin(), dependencies.end(), [](const auto& each) {
    return each.data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  });
}

// An update changes no edge, so what a launch says of edges has to be what they are.
void require_same_edges(const node_place& place, const launch_config& config) {
  for (const launch_attribute& each : config.attributes)
    if (is_settled(each.id))
      throw usage_error(text_of(place) + ": launch attribute " + std::to_string(each.id) +
                        " is settled when a node is made; re-capture to change it");
  if (place.graph.nodes.structure().dependencies(place.node).empty()) return;
  if (config.programmatic_serialization == has_programmatic_edge(place.graph, place.node)) return;
  throw usage_error(text_of(place) +
                    (config.programmatic_serialization
                         ? " waits for the whole of what is ahead"
                         : " may start before the kernel ahead has ended") +
                    ", and an update changes no edge: set "
                    "launch_config::programmatic_serialization to what the node has, or "
                    "re-capture");
}

model::argument_bytes packed(const model::kernel_layout& layout,
                             std::span<const detail::argument> arguments) {
  model::argument_bytes bytes(layout.bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    std::memcpy(bytes.data() + layout.parameters[i].offset, arguments[i].data,
                layout.parameters[i].size);
  return bytes;
}

}  // namespace

std::string node_text(const graph_state& graph, std::uint32_t node) {
  return describe_node(summary_of(graph.nodes, node)) + " of " + identify(graph.handle);
}

kernel_node_params kernel_params_of(const graph_state& graph, std::uint32_t node,
                                    const model::node_value& value) {
  const auto& kernel = data_of<model::kernel_value>(graph, node, value, "kernel");
  kernel_node_params params;
  params.name = kernel.layout->name;
  params.function = kernel.function;
  params.grid = kernel.grid;
  params.block = kernel.block;
  params.shared_memory_bytes = kernel.shared_memory_bytes;
  params.cluster = kernel.attributes.cluster;
  params.cooperative = kernel.attributes.cooperative;
  params.priority = kernel.attributes.priority;
  params.attributes = kernel.attributes.others;
  params.has_all_attributes = kernel.attributes.known_to == model::known::everything;
  params.parameters = kernel.layout->parameters;
  params.arguments.assign(kernel.arguments.begin(), kernel.arguments.end());
  return params;
}

copy_node_params copy_params_of(const graph_state& graph, std::uint32_t node,
                                const model::node_value& value) {
  const auto& copy = data_of<model::copy_value>(graph, node, value, "copy");
  return {public_operand(copy.destination), public_operand(copy.source), copy.width_bytes,
          copy.height, copy.depth};
}

fill_node_params fill_params_of(const graph_state& graph, std::uint32_t node,
                                const model::node_value& value) {
  const auto& fill = data_of<model::fill_value>(graph, node, value, "fill");
  return {reinterpret_cast<void*>(fill.destination),
          fill.value,
          fill.width,
          fill.element_size,
          fill.height,
          fill.pitch};
}

host_node_params host_params_of(const graph_state& graph, std::uint32_t node,
                                const model::node_value& value) {
  const auto& host = data_of<model::host_value>(graph, node, value, "host function");
  if (const host_payload* const payload = payload_of(value))
    return plain_function_of(payload->function);
  return {reinterpret_cast<void (*)(void*)>(host.function),
          reinterpret_cast<void*>(host.user_data)};
}

CUevent event_of(const graph_state& graph, std::uint32_t node, const model::node_value& value) {
  return data_of<model::event_value>(graph, node, value, "record of or wait for an event").event;
}

model::node_value launch_value(const node_place& place, const launch_config& config,
                               const kernel& kernel, std::span<const detail::argument> arguments,
                               bool check_sizes) {
  const auto& before = data_of<model::kernel_value>(place, "kernel");
  require_launchable(*place.graph.table, place.graph.handle, config, kernel);
  require_count(kernel, arguments.size());
  if (check_sizes) require_sizes(kernel, arguments);
  require_same_edges(place, config);
  model::kernel_value now;
  now.function = kernel.get();
  layout_cache layouts(*place.graph.table);
  const bool is_same = place.before.owner == detail::access::state(kernel);
  now.layout = is_same ? before.layout : layouts.of(kernel);
  now.grid = config.grid;
  now.block = config.block;
  now.shared_memory_bytes = config.shared_memory_bytes;
  now.arguments = packed(*now.layout, arguments);
  now.attributes = node_attributes(config, before.attributes.priority);
  model::node_value value{node_kind::kernel, std::move(now), detail::access::state(kernel)};
  // What was not read of a launch by others stays with the node, and stays unknown.
  if (!model::attributes_differ(place.before, value))
    std::get<model::kernel_value>(value.data).attributes = before.attributes;
  return value;
}

model::node_value argument_value(const node_place& place, std::size_t index,
                                 detail::argument argument) {
  const model::kernel_layout& layout = *data_of<model::kernel_value>(place, "kernel").layout;
  if (index >= layout.parameters.size())
    throw usage_error(text_of(place) + " takes " + std::to_string(layout.parameters.size()) +
                      " argument" + (layout.parameters.size() == 1 ? "" : "s") +
                      ": there is no argument " + std::to_string(index));
  const kernel_parameter& parameter = layout.parameters[index];
  if (argument.size != parameter.size)
    throw usage_error(text_of(place) + ", argument " + std::to_string(index) + ": " +
                      std::to_string(parameter.size) + " bytes wanted, " +
                      std::to_string(argument.size) + " given; cast to the parameter's type");
  model::node_value value = place.before;
  std::memcpy(std::get<model::kernel_value>(value.data).arguments.data() + parameter.offset,
              argument.data, argument.size);
  return value;
}

model::node_value copy_value(const node_place& place, const copy_node_params& copy) {
  const auto& before = data_of<model::copy_value>(place, "copy");
  require_bytes("copy_node_params", copy.width_bytes * copy.height * copy.depth);
  model::copy_value now{own_operand(place.graph, copy.source, before.source),
                        own_operand(place.graph, copy.destination, before.destination),
                        copy.width_bytes, copy.height, copy.depth};
  return {node_kind::copy, now, place.before.owner};
}

model::node_value fill_value(const node_place& place, const fill_node_params& fill) {
  static_cast<void>(data_of<model::fill_value>(place, "fill"));
  require_bytes("fill_node_params", fill.width * fill.height);
  require_element("fill_node_params", fill.value, fill.element_size);
  model::fill_value now;
  now.destination = reinterpret_cast<std::uintptr_t>(fill.destination);
  now.value = fill.value;
  now.element_size = fill.element_size;
  now.width = fill.width;
  now.height = fill.height;
  now.pitch = fill.pitch;
  return {node_kind::fill, now, place.before.owner};
}

model::node_value host_value(const node_place& place, host_function function) {
  static_cast<void>(data_of<model::host_value>(place, "host function"));
  if (detail::access::function_object(function) == nullptr)
    throw usage_error(text_of(place) +
                      ": the function was moved from; give one that can be called");
  const host_payload* const former = payload_of(place.before);
  if (former != nullptr && same_host_function(former->function, function)) return place.before;
  const std::shared_ptr<const void> owner = released_relaxed(
      *place.graph.table, std::make_shared<host_payload>(host_payload{std::move(function)}));
  return {node_kind::host,
          model::host_value{reinterpret_cast<std::uintptr_t>(&run_host_payload),
                            reinterpret_cast<std::uintptr_t>(owner.get())},
          owner};
}

model::node_value event_value(const node_place& place, event_ref event) {
  static_cast<void>(data_of<model::event_value>(place, "record of or wait for an event"));
  if (&table_of(event) != place.graph.table)
    throw usage_error(identify(event.get()) + " and " + identify(place.graph.handle) +
                      " are of two drivers: give an event of the graph's driver");
  return {place.before.kind, model::event_value{event.get()}, place.before.owner};
}

}  // namespace cugraft
