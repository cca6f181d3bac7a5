// SPDX-License-Identifier: Apache-2.0
#include "cugraft/saved_graph.hpp"

#include "cugraft/render.hpp"
#include "render/graph_forms.hpp"

namespace cugraft {

const detail::saved_state& state_of(const saved_graph& graph) noexcept {
  static const detail::saved_state empty;
  const auto& state = detail::access::state(graph);
  return state ? *state : empty;
}

saved_graph saved_graph_of(std::shared_ptr<const detail::saved_state> state) noexcept {
  saved_graph result;
  detail::access::state(result) = std::move(state);
  return result;
}

std::size_t saved_graph::size() const noexcept { return state_of(*this).nodes.size(); }

bool saved_graph::is_dump() const noexcept { return state_of(*this).is_dump; }

std::string to_text(const graph& graph) { return to_text(saved_graph(graph)); }
std::string to_json(const graph& graph) { return to_json(saved_graph(graph)); }
std::string to_dot(const graph& graph) { return to_dot(saved_graph(graph)); }
std::string to_svg(const graph& graph) { return to_svg(saved_graph(graph)); }
std::string to_html(const graph& graph) { return to_html(saved_graph(graph)); }

}  // namespace cugraft
