// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cugraft/saved_graph.hpp"
#include "model/graph.hpp"

namespace cugraft {

/// A field of a node as a dump shows it.
struct shown_field {
  std::string name;
  std::string text;
};

/// What a dump shows of a node.
struct shown_node {
  std::string name;  ///< of a kernel
  std::vector<shown_field> fields;
};

namespace detail {

/// What a `saved_graph` shares.
struct saved_state {
  model::graph nodes;  ///< without owners; of a dump without parameters
  std::uint64_t generation = 0;
  bool is_dump = false;
  std::vector<shown_node> shown;  ///< by node, of a dump only
};

}  // namespace detail

/// Kernel's name; empty for other kinds.
inline std::string_view name_at(const detail::saved_state& state, std::size_t node) {
  return state.is_dump ? std::string_view(state.shown[node].name) : state.nodes.name(node);
}

}  // namespace cugraft
