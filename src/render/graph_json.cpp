// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <variant>

#include "base/access.hpp"
#include "cugraft/render.hpp"
#include "model/saved_state.hpp"
#include "render/graph_forms.hpp"
#include "render/json_values.hpp"

// A graph as JSON: docs/schema/graph.schema.json. `load_graph.cpp` reads it.

namespace cugraft {
namespace {

void write_extents(json_writer& out, const dim3& extents) {
  out.list([&] {
    out.element(extents.x);
    out.element(extents.y);
    out.element(extents.z);
  });
}

std::vector<std::byte> bytes_of(const launch_attribute& attribute) {
  return {attribute.value.begin(), attribute.value.end()};
}

void write_attributes(json_writer& out, const model::attributes& all) {
  out.member("known", known_names[static_cast<std::size_t>(all.known_to)]);
  out.member_by("cluster", [&] { all.cluster ? write_extents(out, *all.cluster) : out.null(); });
  out.member("cooperative", all.cooperative);
  out.member("priority", all.priority);
  out.member_by("attributes", [&] {
    out.list([&] {
      for (const launch_attribute& each : all.others) out.element(each);
    });
  });
}

void write_operand(json_writer& out, const model::copy_operand& operand) {
  out.object([&] {
    out.member("memory_kind", operand.memory_kind);
    out.member("address", operand.address);
    out.member("x", operand.x);
    out.member("y", operand.y);
    out.member("z", operand.z);
    out.member("level", operand.level);
    out.member("pitch", operand.pitch);
    out.member("height", operand.height);
  });
}

void write_data(json_writer& out, const model::kernel_value& kernel) {
  out.member("function", reinterpret_cast<std::uintptr_t>(kernel.function));
  out.member_by("grid", [&] { write_extents(out, kernel.grid); });
  out.member_by("block", [&] { write_extents(out, kernel.block); });
  out.member("shared_memory_bytes", kernel.shared_memory_bytes);
  write_attributes(out, kernel.attributes);
  out.member_by("parameters", [&] {
    if (kernel.layout == nullptr) return out.null();
    out.list([&] {
      for (const kernel_parameter& each : kernel.layout->parameters) out.element(each);
    });
  });
  out.member("arguments", std::vector<std::byte>(kernel.arguments.begin(), kernel.arguments.end()));
}

void write_data(json_writer& out, const model::copy_value& copy) {
  out.member_by("source", [&] { write_operand(out, copy.source); });
  out.member_by("destination", [&] { write_operand(out, copy.destination); });
  out.member("width_bytes", copy.width_bytes);
  out.member("height", copy.height);
  out.member("depth", copy.depth);
}

void write_data(json_writer& out, const model::fill_value& fill) {
  out.member("destination", fill.destination);
  out.member("value", fill.value);
  out.member("element_size", fill.element_size);
  out.member("width", fill.width);
  out.member("height", fill.height);
  out.member("pitch", fill.pitch);
}

void write_data(json_writer& out, const model::host_value& host) {
  out.member("function", host.function);
  out.member("user_data", host.user_data);
}

void write_data(json_writer& out, const model::event_value& event) {
  out.member("event", reinterpret_cast<std::uintptr_t>(event.event));
}

void write_data(json_writer& out, const model::allocation_value& allocation) {
  out.member("address", allocation.address);
  out.member("bytes", allocation.bytes);
  out.member("device", allocation.device);
}

void write_data(json_writer& out, const model::free_value& freed) {
  out.member("address", freed.address);
}

void write_data(json_writer& out, const model::conditional_value& conditional) {
  out.member("type", conditional.type);
  out.member("size", conditional.size);
  out.member("handle", conditional.handle);
  out.member("default_value", conditional.default_value);
}

void write_data(json_writer&, const model::child_value&) {}
void write_data(json_writer&, const model::opaque_value&) {}

void write_node(json_writer& out, const model::graph& nodes, std::size_t node) {
  const model::node_value value = nodes.value(node);
  out.object([&] {
    out.member("path", nodes.structure().path_of(node));
    out.member("kind", nodes.kind(node));
    out.member("name", nodes.name(node));
    out.member("tag", nodes.tag(node));
    out.member_by("dependencies", [&] {
      out.list([&] {
        for (const model::dependency& each : nodes.structure().dependencies(node))
          out.element(each);
      });
    });
    out.member("form", form_names[value.data.index()]);
    out.member_by("parameters", [&] {
      out.object([&] { std::visit([&](const auto& data) { write_data(out, data); }, value.data); });
    });
  });
}

}  // namespace

void write(json_writer& out, const kernel_parameter& parameter) {
  out.object([&] {
    out.member("offset", parameter.offset);
    out.member("size", parameter.size);
  });
}

void write(json_writer& out, const launch_attribute& attribute) {
  out.object([&] {
    out.member("id", attribute.id);
    out.member("value", bytes_of(attribute));
  });
}

namespace model {

void write(json_writer& out, const dependency& edge) {
  out.object([&] {
    out.member("node", edge.node);
    out.member("from_port", edge.data.from_port);
    out.member("to_port", edge.data.to_port);
    out.member("type", edge.data.type);
  });
}

void write(json_writer& out, const level& of) {
  out.object([&] {
    out.member("parent",
               of.parent == level::no_parent ? std::optional<std::uint32_t>() : of.parent);
    out.member("body", of.body);
    out.member("count", of.count);
  });
}

}  // namespace model

std::string to_json(const saved_graph& graph) {
  const detail::saved_state& state = state_of(graph);
  if (state.is_dump)
    throw usage_error(
        "to_json of a driver's dump: it does not hold what a saved graph has, as arguments; save "
        "the graph itself");
  json_writer out;
  out.object([&] {
    out.member("schema_version", json_schema_version);
    out.member("generation", state.generation);
    out.member_by("levels", [&] {
      out.list([&] {
        for (std::size_t i = 0; i < state.nodes.structure().level_count(); ++i)
          out.element(state.nodes.structure().level(i));
      });
    });
    out.member_by("nodes", [&] {
      out.list([&] {
        for (std::size_t node = 0; node < state.nodes.size(); ++node)
          out.element(node_to_write{state.nodes, node});
      });
    });
  });
  return out.take();
}

void write(json_writer& out, const node_to_write& node) { write_node(out, node.nodes, node.node); }

}  // namespace cugraft
