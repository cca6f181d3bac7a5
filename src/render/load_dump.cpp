// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "render/dot_label.hpp"
#include "render/dot_reader.hpp"
#include "render/graph_forms.hpp"
#include "render/topological.hpp"

// Makes a graph of a driver's dump: each cluster is a graph, and those inside of nodes follow the
// one around them, in order of those nodes.

namespace cugraft {
namespace {

bool holds_others(node_kind kind) noexcept {
  return kind == node_kind::child_graph || kind == node_kind::conditional;
}

// "graph_0_node_12": nodes in order of that number are in order of creation.
std::uint64_t number_in(std::string_view id) {
  const std::size_t digits = id.find_last_not_of("0123456789") + 1;
  std::uint64_t result = UINT64_MAX;
  std::from_chars(id.data() + digits, id.data() + id.size(), result);
  return result;
}

class dump_reader {
 public:
  explicit dump_reader(std::string_view text) : from_(read_dot(text)), places_(from_.nodes.size()) {
    result_->is_dump = true;
    for (const dot_node& node : from_.nodes) {
      const auto label = node.attributes.find("label");
      if (label == node.attributes.end())
        throw format_error(node.line, fmt::format("expected a label of the node \"{}\"", node.id));
      labels_.push_back(read_label(label->second, node.line));
    }
  }

  std::shared_ptr<const detail::saved_state> read() {
    sort_into_clusters();
    assign_holders();
    order_levels();
    for (std::size_t i = 0; i < levels_.size(); ++i) append_level(levels_[i], i == 0);
    if (const auto node = node_in_cycle(result_->nodes.structure()))
      throw format_error(
          1, fmt::format("expected dependencies without a cycle, as there is over node {}", *node));
    return result_;
  }

 private:
  struct cluster {
    std::vector<std::size_t> nodes;  // places in from_.nodes
    std::size_t holder = SIZE_MAX;   // the same
    std::uint32_t body = 0;
  };

  std::uint64_t number_of(std::size_t node) const {
    return labels_[node].number.value_or(number_in(from_.nodes[node].id));
  }

  // Clusters without nodes are graphs too, but the one around all of them is no graph of its own.
  void sort_into_clusters() {
    std::vector<cluster> all(from_.clusters.size());
    for (std::size_t node = 0; node < from_.nodes.size(); ++node)
      all[from_.nodes[node].cluster].nodes.push_back(node);
    const std::size_t first = all.size() > 1 && all[0].nodes.empty() ? 1 : 0;
    for (std::size_t i = first; i < all.size(); ++i) {
      std::ranges::stable_sort(all[i].nodes, {}, [&](std::size_t node) { return number_of(node); });
      clusters_.push_back(std::move(all[i]));
    }
    edges_.resize(from_.nodes.size());
    for (std::size_t i = 0; i < from_.edges.size(); ++i) {
      const dot_edge& edge = from_.edges[i];
      if (from_.nodes[edge.from].cluster != from_.nodes[edge.to].cluster)
        throw format_error(edge.line, "expected an edge between nodes of one graph");
      edges_[edge.to].push_back(i);
    }
  }

  // Depth first, as drivers write them: the graphs inside of a node follow the graph around it. How
  // many bodies a conditional node has does not show; one each is all that can be told.
  void assign_holders() {
    std::size_t holders = 0, children = 0;
    for (const dumped_node& label : labels_) {
      holders += holds_others(label.kind) ? 1 : 0;
      children += label.kind == node_kind::child_graph ? 1 : 0;
    }
    const std::size_t inner = clusters_.size() - 1;
    if (inner != holders && (inner != children || holders != children))
      throw format_error(1, fmt::format("expected one inner graph for each of the {} nodes that "
                                        "hold others, but there are {}: "
                                        "which belongs to which cannot be told from this dump; "
                                        "save the graph by to_json instead",
                                        holders, inner));
    // A stack, not recursion: nesting may be as deep as a file says.
    std::vector<std::pair<std::size_t, std::size_t>> open{{0, 0}};  // cluster, next of its nodes
    std::size_t next = 1;
    while (!open.empty()) {
      auto& [index, at] = open.back();
      if (at == clusters_[index].nodes.size()) {
        open.pop_back();
        continue;
      }
      const std::size_t node = clusters_[index].nodes[at++];
      if (!holds_others(labels_[node].kind) || next == clusters_.size()) continue;
      if (open.size() > greatest_nesting)
        throw format_error(from_.nodes[node].line,
                           fmt::format("expected graphs nested up to {} deep", greatest_nesting));
      clusters_[next].holder = node;
      open.emplace_back(next++, 0);
    }
  }

  // Level by level, by the position of the node that holds each.
  void order_levels() {
    std::vector<std::size_t> inner_of(from_.nodes.size(), SIZE_MAX);
    for (std::size_t i = 1; i < clusters_.size(); ++i)
      if (clusters_[i].holder != SIZE_MAX) inner_of[clusters_[i].holder] = i;
    levels_.push_back(0);
    std::uint32_t position = 0;
    for (std::size_t i = 0; i < levels_.size(); ++i)
      for (const std::size_t node : clusters_[levels_[i]].nodes) {
        places_[node] = position++;
        if (inner_of[node] != SIZE_MAX) levels_.push_back(inner_of[node]);
      }
  }

  void append_level(std::size_t index, bool is_root) {
    const cluster& level = clusters_[index];
    if (!is_root) result_->nodes.begin_level(places_[level.holder], level.body);
    for (const std::size_t node : level.nodes) {
      std::vector<model::dependency> dependencies;
      for (const std::size_t edge : edges_[node])
        dependencies.push_back({places_[from_.edges[edge].from], edge_data_of(from_.edges[edge])});
      model::node_value value{labels_[node].kind, model::opaque_value{}, nullptr};
      // Known alike, so that the labels tell, as of other nodes.
      if (value.kind == node_kind::conditional) value.data = model::conditional_value{};
      result_->nodes.append(std::move(value), dependencies);
      result_->shown.push_back(std::move(labels_[node].shown));
    }
  }

  // A dump tells plain edges from others by their style, and not by which others.
  static model::edge_data edge_data_of(const dot_edge& edge) {
    const auto style = edge.attributes.find("style");
    model::edge_data result;
    if (style != edge.attributes.end() && style->second == "dashed") result.type = 1;
    return result;
  }

  static constexpr std::size_t greatest_nesting = 64;

  dot_graph from_;
  std::vector<dumped_node> labels_;  // by node, as the next two
  std::vector<std::uint32_t> places_;
  std::vector<std::vector<std::size_t>> edges_;  // those that come in
  std::vector<cluster> clusters_;
  std::vector<std::size_t> levels_;  // clusters
  std::shared_ptr<detail::saved_state> result_ = std::make_shared<detail::saved_state>();
};

}  // namespace

saved_graph saved_graph::load_dot(std::string_view dot) {
  return saved_graph_of(dump_reader(dot).read());
}

}  // namespace cugraft
