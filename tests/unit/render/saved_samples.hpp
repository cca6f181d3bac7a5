// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/access.hpp"
#include "cugraft/saved_graph.hpp"
#include "model/saved_state.hpp"
#include "render/graph_forms.hpp"
#include "unit/model/samples.hpp"

namespace cugraft {

/// A graph with a node of each form: 0 a kernel, 1 a copy and 2 a fill behind it, 3 a host call
/// behind both, 4 an event, 5 an allocation, 6 its free, 7 a child graph with a kernel, 8 a
/// conditional node with two bodies of which the second has a fill, 9 one that was not read.
inline std::shared_ptr<detail::saved_state> sample_state(
    model::kernel_value first = model::scale_kernel()) {
  auto result = std::make_shared<detail::saved_state>();
  model::graph& nodes = result->nodes;
  using edges = std::vector<model::dependency>;
  nodes.append(model::node_of(std::move(first)), {}, "layer 0");
  nodes.append(model::node_of(model::block_copy()), edges{{0, {}}});
  nodes.append(model::node_of(model::row_fill()), edges{{0, model::programmatic}});
  nodes.append(model::node_of(model::host_value{0x7f01, 0x7f02}), edges{{1, {}}, {2, {}}});
  nodes.append(model::node_of(model::event_value{model::handle<CUevent>(0x51)}), {});
  nodes.append({node_kind::allocation, model::allocation_value{0x7f00, 64, 1}, {}}, {});
  nodes.append({node_kind::free, model::free_value{0x7f00}, {}}, edges{{5, {}}});
  nodes.append({node_kind::child_graph, model::child_value{}, {}}, {});
  nodes.append({node_kind::conditional, model::conditional_value{1, 2, 9, 1U}, {}}, {});
  nodes.append(model::node_of(model::opaque_value{}, node_kind{18}), {});
  nodes.begin_level(7, 0);
  model::kernel_value inner = model::scale_kernel();
  inner.attributes.cluster = dim3(2);
  inner.attributes.others.push_back(model::attribute_of(8, {1, 2}));
  nodes.append(model::node_of(std::move(inner)), {});
  nodes.begin_level(8, 0);
  nodes.begin_level(8, 1);
  nodes.append(model::node_of(model::block_fill()), {});
  result->generation = 3;
  return result;
}

inline saved_graph sample_graph(model::kernel_value first = model::scale_kernel()) {
  return saved_graph_of(sample_state(std::move(first)));
}

/// `text` with the first `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no " + from + " in " + text);
  return text.replace(at, from.size(), to);
}

}  // namespace cugraft
