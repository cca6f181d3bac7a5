// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "render/dot_text.hpp"
#include "render/graph_forms.hpp"
#include "render/graphviz.hpp"

namespace cugraft {
namespace {

// Graphviz takes more than linear time: beyond this, minutes.
constexpr std::size_t greatest_size = 2000;

std::string svg_of(const picture& of) {
  if (of.boxes.size() > greatest_size)
    throw usage_error(
        fmt::format("SVG of {} nodes: Graphviz takes too long for more than {}; use to_html, or "
                    "to_dot and another program",
                    of.boxes.size(), greatest_size));
  return run_graphviz(dot_text(of));
}

}  // namespace

std::string to_svg(const change_report& report) { return svg_of(picture_of(report)); }
std::string to_svg(const saved_graph& graph) {
  return svg_of(picture_of(state_of(graph), nullptr));
}
std::string to_svg(const saved_graph& graph, const change_report& report) {
  return svg_of(picture_of(state_of(graph), &report));
}

}  // namespace cugraft
