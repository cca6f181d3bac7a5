// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cugraft {

using dot_attributes = std::map<std::string, std::string, std::less<>>;

/// A node as its first mention places it.
struct dot_node {
  std::string id;
  std::size_t cluster = 0;  ///< the subgraph, by order of appearance; 0 is the graph itself
  std::size_t line = 0;
  dot_attributes attributes;
};

struct dot_edge {
  std::size_t from = 0, to = 0;  ///< places in `dot_graph::nodes`
  std::size_t line = 0;
  dot_attributes attributes;
};

/// A graph in the language DOT, as far as drivers use it.
struct dot_graph {
  std::vector<dot_node> nodes;
  std::vector<dot_edge> edges;
  std::vector<std::string> clusters;  ///< their ids, the graph's own first
};

/// Reads one directed graph. Strict about the language (graphviz.org/doc/info/lang.html), but an
/// edge has nodes at its ends, no subgraphs. In time of its length times the logarithm.
/// @throws format_error  with the line and what was expected
dot_graph read_dot(std::string_view text);

}  // namespace cugraft
