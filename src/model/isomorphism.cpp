// SPDX-License-Identifier: Apache-2.0
#include "model/isomorphism.hpp"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/mix.hpp"

namespace cugraft::model {
namespace {

using labels = std::vector<std::uint64_t>;

// The edges of a structure from their other end: what depends on each node.
class dependents {
 public:
  explicit dependents(const structure& of) : begins_(of.size() + 1) {
    for (std::size_t node = 0; node < of.size(); ++node)
      for (const dependency& edge : of.dependencies(node)) ++begins_[edge.node + 1];
    for (std::size_t node = 0; node < of.size(); ++node) begins_[node + 1] += begins_[node];
    edges_.resize(begins_.back());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (std::size_t node = 0; node < of.size(); ++node)
      for (const dependency& edge : of.dependencies(node))
        edges_[next[edge.node]++] = {static_cast<std::uint32_t>(node), edge.data};
  }

  std::span<const dependency> operator[](std::size_t node) const noexcept {
    return std::span(edges_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<dependency> edges_;
};

// A structure with what the search needs of it.
struct side {
  explicit side(const structure& of) : nodes(of), dependents(of), label(of.size()) {
    for (std::size_t node = 0; node < of.size(); ++node)
      label[node] = mix(static_cast<std::uint64_t>(of.kind(node)));
  }

  const structure& nodes;
  model::dependents dependents;
  labels label;
};

// In no order, because the edges of a node have none.
std::uint64_t sum_of(std::span<const dependency> edges, const labels& label) {
  std::uint64_t sum = 0;
  for (const dependency& edge : edges) sum += mix(label[edge.node] ^ mix(as_number(edge.data)));
  return sum;
}

// Everything above a node, then everything below it, goes into its label. Nodes that a permutation
// may exchange keep equal labels.
void refine(side& refined) {
  const std::size_t count = refined.nodes.size();
  for (std::size_t node = 0; node < count; ++node)
    refined.label[node] =
        mix(refined.label[node] + sum_of(refined.nodes.dependencies(node), refined.label));
  for (std::size_t node = count; node-- > 0;)
    refined.label[node] =
        mix(refined.label[node] + sum_of(refined.dependents[node], refined.label) + 1);
}

labels sorted(labels values) {
  std::ranges::sort(values);
  return values;
}

std::size_t distinct(const labels& ascending) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ascending.size(); ++i)
    count += i == 0 || ascending[i] != ascending[i - 1];
  return count;
}

// Refines both until nothing more tells nodes apart. False if the labels show a difference.
bool refine_alike(side& a, side& b) {
  std::size_t classes = 0;
  while (true) {
    const labels of_a = sorted(a.label);
    if (of_a != sorted(b.label)) return false;
    const std::size_t found = distinct(of_a);
    if (found == classes || found == of_a.size()) return true;
    classes = found;
    refine(a);
    refine(b);
  }
}

// The next node to be placed, and the edge that leads to it from one that is placed already.
struct step {
  enum class way : std::uint8_t { start, up, down };  // start: no such edge; up: to a dependency
  std::uint32_t node = 0;
  std::uint32_t anchor = 0;
  way from_anchor = way::start;
};

// Orders nodes so that each has as many placed neighbours as can be, the latest placed first: then
// few places are left for it, and a wrong one shows soon.
class search_order {
 public:
  explicit search_order(const side& of) : of_(of), placed_(of.nodes.size()), touched_(placed_) {
    for (const std::uint32_t start : by_rarity()) {
      if (placed_[start] == 0) place(start);
      while (!queue_.empty()) {
        const auto [neighbours, time, node] = queue_.top();
        queue_.pop();
        if (placed_[node] == 0) place(node);
      }
    }
  }

  std::vector<step> take() { return std::move(steps_); }

 private:
  std::vector<std::uint32_t> by_rarity() const {
    std::unordered_map<std::uint64_t, std::size_t> counts;
    for (const std::uint64_t label : of_.label) ++counts[label];
    std::vector<std::uint32_t> result(of_.nodes.size());
    for (std::uint32_t node = 0; node < result.size(); ++node) result[node] = node;
    std::ranges::stable_sort(result, {},
                             [&](std::uint32_t node) { return counts.at(of_.label[node]); });
    return result;
  }

  void place(std::uint32_t node) {
    placed_[node] = 1;
    steps_.push_back(anchored(node));
    for (const auto edges : {of_.nodes.dependencies(node), of_.dependents[node]})
      for (const dependency& edge : edges)
        if (placed_[edge.node] == 0)
          queue_.emplace(++touched_[edge.node], steps_.size(), edge.node);
  }

  // The placed neighbour with the fewest neighbours of its own on this side.
  step anchored(std::uint32_t node) const {
    step result{node};
    std::size_t fewest = SIZE_MAX;
    const auto offer = [&](std::uint32_t anchor, step::way way, std::size_t choices) {
      if (placed_[anchor] == 0 || choices >= fewest) return;
      fewest = choices;
      result = {node, anchor, way};
    };
    for (const dependency& edge : of_.nodes.dependencies(node))
      offer(edge.node, step::way::down, of_.dependents[edge.node].size());
    for (const dependency& edge : of_.dependents[node])
      offer(edge.node, step::way::up, of_.nodes.dependencies(edge.node).size());
    return result;
  }

  const side& of_;
  std::vector<std::size_t> placed_;  // 0 or 1
  std::vector<std::size_t> touched_;
  std::priority_queue<std::tuple<std::size_t, std::size_t, std::uint32_t>> queue_;
  std::vector<step> steps_;
};

// Gives each node of `a` a node of `b`, one after the other, and takes the last one back where
// none is left. A connected part that fits is never taken back: any other part that would fit
// there too is equal to it.
class placement {
 public:
  placement(const side& a, const side& b)
      : a_(a),
        b_(b),
        steps_(search_order(a).take()),
        image_(a.nodes.size(), none),
        used_(b.nodes.size()),
        next_(a.nodes.size()),
        left_(100'000 + 20 * a.nodes.size()) {
    for (std::uint32_t node = 0; node < b.nodes.size(); ++node)
      of_label_[b.label[node]].push_back({node, {}});
  }

  bool exists() {
    std::size_t part = 0;  // where the connected part begins
    std::size_t at = 0;
    while (at < steps_.size()) {
      if (steps_[at].from_anchor == step::way::start && next_[at] == 0) part = at;
      if (place(at)) {
        ++at;
        continue;
      }
      next_[at] = 0;
      if (at == part || left_ == 0) return false;
      take_back(--at);
    }
    return true;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::span<const dependency> candidates(const step& wanted) const {
    if (wanted.from_anchor == step::way::start) return of_label_.at(a_.label[wanted.node]);
    const std::uint32_t anchor = image_[wanted.anchor];
    return wanted.from_anchor == step::way::down ? b_.dependents[anchor]
                                                 : b_.nodes.dependencies(anchor);
  }

  bool place(std::size_t at) {
    const std::uint32_t node = steps_[at].node;
    const auto choices = candidates(steps_[at]);
    while (next_[at] < choices.size() && left_ > 0) {
      const std::uint32_t choice = choices[next_[at]++].node;
      if (used_[choice] || !fits(node, choice)) continue;
      image_[node] = choice;
      used_[choice] = true;
      return true;
    }
    return false;
  }

  void take_back(std::size_t at) {
    std::uint32_t& image = image_[steps_[at].node];
    used_[image] = false;
    image = none;
  }

  // Whether every edge between `node` and a placed node is there between their images.
  bool fits(std::uint32_t node, std::uint32_t choice) {
    --left_;
    const auto above = a_.nodes.dependencies(node);
    if (a_.label[node] != b_.label[choice] || a_.nodes.kind(node) != b_.nodes.kind(choice) ||
        above.size() != b_.nodes.dependencies(choice).size())
      return false;
    return std::ranges::all_of(above,
                               [&](const dependency& edge) {
                                 return image_[edge.node] == none ||
                                        has_edge(image_[edge.node], choice, edge.data);
                               }) &&
           std::ranges::all_of(a_.dependents[node], [&](const dependency& edge) {
             return image_[edge.node] == none || has_edge(choice, image_[edge.node], edge.data);
           });
  }

  bool has_edge(std::uint32_t from, std::uint32_t to, edge_data data) const {
    return std::ranges::binary_search(b_.nodes.dependencies(to), dependency{from, data});
  }

  const side& a_;
  const side& b_;
  std::vector<step> steps_;
  std::vector<std::uint32_t> image_;  // by node of a
  std::vector<bool> used_;            // by node of b
  std::vector<std::size_t> next_;     // by step: the first candidate that was not tried
  std::size_t left_;                  // attempts
  std::unordered_map<std::uint64_t, std::vector<dependency>> of_label_;
};

}  // namespace

bool is_permutation(const structure& a, const structure& b) {
  if (a.size() != b.size()) return false;
  side of_a(a);
  side of_b(b);
  return refine_alike(of_a, of_b) && placement(of_a, of_b).exists();
}

}  // namespace cugraft::model
