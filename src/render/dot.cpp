// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "render/dot_text.hpp"
#include "render/graph_forms.hpp"

namespace cugraft {
namespace {

// Escapes of DOT lose their meaning, and a name stays on its line.
std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (const char symbol : text) {
    if (symbol == '"' || symbol == '\\') result += '\\';
    result += static_cast<unsigned char>(symbol) < 0x20 ? ' ' : symbol;
  }
  return result + '"';
}

std::string_view colour_of(verdict effect) {
  switch (effect) {
    case verdict::unchanged:
      return "#ffffff";
    case verdict::patchable:
      return "#cfe8cf";
    case verdict::whole_update:
      return "#fbe7b2";
    case verdict::needs_instantiate:
      return "#f6c7c7";
  }
  return "#ffffff";
}

// `\n` between the lines is DOT's own.
std::string label_of(const picture_box& box, const node_change* change) {
  std::string result = dot_string(box.path + ' ' + to_string(box.kind));
  const auto add = [&](std::string_view line) {
    result.pop_back();
    result += "\\n" + dot_string(line).substr(1);
  };
  if (!box.name.empty()) add(box.name);
  if (!box.tag.empty()) add("tag " + box.tag);
  for (const shown_field& field : box.fields)
    if (field.name == "grid" || field.name == "block") add(field.name + ' ' + field.text);
  if (change == nullptr) return result;
  add(fmt::format("{} by {}", to_string(change->effect), change->rule));
  for (const field_change& field : change->fields)
    add(fmt::format("{}: {} -> {}", field.field, field.before, field.after));
  return result;
}

std::string text_of(const picture& of, const picture_box& box, std::uint32_t index) {
  const node_change* const change = change_of(of, box);
  std::string result = fmt::format("    n{} [label={}", index, label_of(box, change));
  if (change != nullptr) result += fmt::format(", fillcolor=\"{}\"", colour_of(change->effect));
  return result + "];\n";
}

}  // namespace

std::string dot_text(const picture& of) {
  std::string result =
      "digraph cugraft {\n  node [shape=box, style=filled, fillcolor=\"#ffffff\"];\n";
  for (std::size_t i = 0; i < of.levels.size(); ++i) {
    const picture_level& level = of.levels[i];
    result += fmt::format("  subgraph cluster_{} {{\n    label={};\n", i, dot_string(level.title));
    for (std::uint32_t box = level.first; box < level.first + level.count; ++box)
      result += text_of(of, of.boxes[box], box);
    result += "  }\n";
  }
  for (std::uint32_t box = 0; box < of.boxes.size(); ++box)
    for (std::size_t i = 0; i < of.boxes[box].from.size(); ++i)
      result += fmt::format("  n{} -> n{}{};\n", of.boxes[box].from[i], box,
                            of.boxes[box].is_plain[i] ? "" : " [style=dashed]");
  return result + "}\n";
}

std::string to_dot(const change_report& report) { return dot_text(picture_of(report)); }
std::string to_dot(const saved_graph& graph) {
  return dot_text(picture_of(state_of(graph), nullptr));
}
std::string to_dot(const saved_graph& graph, const change_report& report) {
  return dot_text(picture_of(state_of(graph), &report));
}

}  // namespace cugraft
