// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/names.hpp"
#include "render/graph_forms.hpp"
#include "render/picture.hpp"

namespace cugraft {
namespace {

std::string nodes_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "node" : "nodes");
}

std::string text_of(const picture& of, const picture_box& box) {
  const node_summary node{{}, box.kind, box.name, box.tag};
  std::string result = fmt::format("  {} {}", box.path, text_of(node));
  const char* word = " after ";
  for (const std::uint32_t from : box.from)
    result += std::exchange(word, ", ") + of.boxes[from].path;
  result += '\n';
  for (const shown_field& field : box.fields)
    result += fmt::format("    {}: {}\n", field.name, field.text);
  return result;
}

}  // namespace

std::string to_text(const saved_graph& graph) {
  const detail::saved_state& state = state_of(graph);
  const picture drawn = picture_of(state, nullptr);
  std::string result = nodes_text(graph.size());
  result +=
      state.is_dump ? ", a driver's dump\n" : fmt::format(", generation {}\n", state.generation);
  for (const picture_level& level : drawn.levels) {
    if (level.first != 0) result += fmt::format("{}, {}\n", level.title, nodes_text(level.count));
    for (std::uint32_t box = level.first; box < level.first + level.count; ++box)
      result += text_of(drawn, drawn.boxes[box]);
  }
  return result;
}

}  // namespace cugraft
