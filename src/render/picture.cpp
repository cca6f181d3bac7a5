// SPDX-License-Identifier: Apache-2.0
#include "render/picture.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "render/node_fields.hpp"
#include "render/topological.hpp"

namespace cugraft {
namespace {

// Gives the nodes of one level their lanes and rows; in time of nodes and edges, but for a heap.
class lane_layout {
 public:
  lane_layout(const model::structure& nodes, const model::level& level, picture& result)
      : nodes_(nodes), level_(level), boxes_(result.boxes), has_followers_(level.count) {
    for (std::uint32_t i = 0; i < level.count; ++i)
      for (const model::dependency& edge : nodes.dependencies(level.first + i))
        has_followers_[edge.node - level.first] = true;
  }

  void place(picture_level& result) {
    for (const std::uint32_t node : in_order(nodes_, level_)) place(node);
    result.lanes = static_cast<std::uint32_t>(lanes_.size());
    for (std::uint32_t i = 0; i < level_.count; ++i)
      result.rows = std::max(result.rows, boxes_[level_.first + i].row + 1);
  }

 private:
  struct lane {
    std::uint32_t last = 0;
    bool is_free = false;
  };

  void place(std::uint32_t node) {
    const auto dependencies = nodes_.dependencies(node);
    picture_box& box = boxes_[node];
    std::optional<std::uint32_t> own;
    for (const model::dependency& edge : dependencies) {
      const picture_box& before = boxes_[edge.node];
      box.row = std::max(box.row, before.row + 1);
      if (!own && lanes_[before.lane].last == edge.node && !lanes_[before.lane].is_free)
        own = before.lane;
    }
    if (!own) own = take_lane(box.row);
    // What joins here leaves its lane to others.
    for (const model::dependency& edge : dependencies) {
      const std::uint32_t before = boxes_[edge.node].lane;
      if (before != *own && lanes_[before].last == edge.node) free_lane(before);
    }
    box.lane = *own;
    box.row = std::max(box.row, next_row_[*own]);
    next_row_[*own] = box.row + 1;
    lanes_[*own] = {node, false};
    if (!has_followers_[node - level_.first]) free_lane(*own);
  }

  // One that was left above that row, so that nothing moves down for it; else a new one.
  std::uint32_t take_lane(std::uint32_t row) {
    if (!free_.empty() && free_.top().first <= row) {
      const std::uint32_t lane = free_.top().second;
      free_.pop();
      return lane;
    }
    lanes_.emplace_back();
    next_row_.push_back(0);
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }

  void free_lane(std::uint32_t lane) {
    if (lanes_[lane].is_free) return;
    lanes_[lane].is_free = true;
    free_.emplace(next_row_[lane], lane);
  }

  const model::structure& nodes_;
  const model::level level_;
  std::vector<picture_box>& boxes_;
  std::vector<lane> lanes_;
  std::vector<std::uint32_t> next_row_;                       // by lane
  std::vector<bool> has_followers_;                           // by place in the level
  using left_lane = std::pair<std::uint32_t, std::uint32_t>;  // its next row, itself
  std::priority_queue<left_lane, std::vector<left_lane>, std::greater<>> free_;
};

std::string title_of(const model::structure& nodes, const model::level& level) {
  if (level.parent == model::level::no_parent) return "graph";
  const std::string parent = to_string(nodes.path_of(level.parent));
  if (nodes.kind(level.parent) != node_kind::conditional) return "graph inside of " + parent;
  return "body " + std::to_string(level.body) + " of " + parent;
}

picture_box box_of(const detail::saved_state& graph, std::size_t node) {
  picture_box result;
  result.path = to_string(graph.nodes.structure().path_of(node));
  result.name = name_at(graph, node);
  result.tag = graph.nodes.tag(node);
  result.kind = graph.nodes.kind(node);
  for (const model::dependency& edge : graph.nodes.structure().dependencies(node)) {
    result.from.push_back(edge.node);
    result.is_plain.push_back(edge.data == model::edge_data{});
  }
  result.fields = graph.is_dump ? graph.shown[node].fields : fields_of(graph.nodes.value(node));
  return result;
}

void mark(picture& result, const change_report& report) {
  std::unordered_map<std::string, std::size_t> places;
  const std::span<const node_change> changes = report.changes();
  for (std::size_t i = 0; i < changes.size(); ++i) places.emplace(to_string(changes[i].path), i);
  for (picture_box& box : result.boxes)
    if (const auto found = places.find(box.path); found != places.end()) box.change = found->second;
}

// Where the node is, without its own number: the graph around it.
std::string around(const std::string& path) {
  const std::size_t end = path.rfind('/');
  return end == path.npos ? "graph" : "inside of " + path.substr(0, end);
}

}  // namespace

picture picture_of(const detail::saved_state& graph, const change_report* report) {
  picture result;
  result.report = report;
  result.generation = graph.generation;
  result.is_whole = true;
  const model::structure& nodes = graph.nodes.structure();
  result.boxes.reserve(nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node)
    result.boxes.push_back(box_of(graph, node));
  for (std::size_t i = 0; i < nodes.level_count(); ++i) {
    const model::level level = nodes.level(i);
    picture_level drawn{title_of(nodes, level), level.first, level.count};
    lane_layout(nodes, level, result).place(drawn);
    result.levels.push_back(std::move(drawn));
  }
  if (report != nullptr) mark(result, *report);
  return result;
}

picture picture_of(const change_report& report) {
  picture result;
  result.report = &report;
  result.generation = report.generation();
  const std::span<const node_change> changes = report.changes();
  std::vector<std::pair<std::string, std::size_t>> order;  // by the graph around, in their order
  std::unordered_map<std::string, std::size_t> levels;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::string title = around(to_string(changes[i].path));
    const auto [found, is_new] = levels.try_emplace(title, result.levels.size());
    if (is_new) result.levels.push_back({title});
    ++result.levels[found->second].count;
    order.emplace_back(title, i);
  }
  std::uint32_t first = 0;
  for (picture_level& level : result.levels) {
    level.first = std::exchange(first, first + level.count);
    level.rows = level.count;
    level.lanes = 1;
  }
  std::ranges::stable_sort(order, {}, [&](const auto& each) { return levels[each.first]; });
  for (const auto& [title, i] : order) {
    const node_change& change = changes[i];
    picture_box box{to_string(change.path), change.name, change.tag, change.kind};
    const picture_level& level = result.levels[levels[title]];
    box.row = static_cast<std::uint32_t>(result.boxes.size()) - level.first;
    box.change = i;
    result.boxes.push_back(std::move(box));
  }
  return result;
}

const node_change* change_of(const picture& of, const picture_box& box) noexcept {
  return box.change && of.report != nullptr ? &of.report->changes()[*box.change] : nullptr;
}

}  // namespace cugraft
