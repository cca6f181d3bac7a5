// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/access.hpp"
#include "cugraft/saved_graph.hpp"
#include "model/saved_state.hpp"
#include "render/json_writer.hpp"

// What writing and reading a saved graph have in common.

namespace cugraft {

/// In the order of `model::known`.
inline constexpr std::array<std::string_view, 4> known_names{"nothing", "semantic", "readable",
                                                             "everything"};

/// In the order of `model::node_value::data`.
inline constexpr std::array<std::string_view, 10> form_names{
    "unread", "kernel",     "copy", "fill",        "host",
    "event",  "allocation", "free", "child_graph", "conditional"};
static_assert(form_names.size() == std::variant_size_v<decltype(model::node_value::data)>);

/// What a saved graph holds; of an empty one nothing.
const detail::saved_state& state_of(const saved_graph& graph) noexcept;

/// A saved graph of that.
saved_graph saved_graph_of(std::shared_ptr<const detail::saved_state> state) noexcept;

struct node_to_write {
  const model::graph& nodes;
  std::size_t node = 0;
};
void write(json_writer& out, const node_to_write& node);
void write(json_writer& out, const kernel_parameter& parameter);
void write(json_writer& out, const launch_attribute& attribute);

namespace model {
void write(json_writer& out, const dependency& edge);
void write(json_writer& out, const level& of);
}  // namespace model

}  // namespace cugraft
