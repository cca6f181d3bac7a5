// SPDX-License-Identifier: Apache-2.0
#include "model/structure.hpp"

#include <algorithm>
#include <utility>

#include "model/isomorphism.hpp"

namespace cugraft::model {
namespace {

bool same_node(const structure& expected, const structure& found, std::size_t node) {
  if (expected.kind(node) != found.kind(node)) return false;
  if (!std::ranges::equal(expected.dependencies(node), found.dependencies(node))) return false;
  const conditional_value* const a = expected.condition(node);
  const conditional_value* const b = found.condition(node);
  return (a == nullptr) == (b == nullptr) && (a == nullptr || *a == *b);
}

// Position of the first node of a level that differs; the shorter one's end where none does.
std::size_t first_difference(const structure& expected, const structure& found, std::size_t index) {
  const level of = expected.level(index);
  const std::size_t end = of.first + std::min(of.count, found.level(index).count);
  for (std::size_t node = of.first; node < end; ++node)
    if (!same_node(expected, found, node)) return node;
  return end;
}

// One level as a structure of its own.
structure cut_out(const structure& nodes, const level& of) {
  structure result;
  std::vector<dependency> edges;
  for (std::size_t node = of.first; node < of.first + of.count; ++node) {
    const auto dependencies = nodes.dependencies(node);
    edges.assign(dependencies.begin(), dependencies.end());
    for (dependency& edge : edges) edge.node -= of.first;
    result.append(nodes.kind(node), edges);
  }
  return result;
}

// The nodes of a level and of those in it that hold no others, depth first, and where graphs begin
// and end between them.
struct nesting {
  std::vector<node_kind> leaves;
  std::vector<std::size_t> marks;
};

void add_nesting(const structure& nodes, std::size_t index, nesting& result) {
  const level of = nodes.level(index);
  for (std::size_t node = of.first; node < of.first + of.count; ++node) {
    const auto [first, count] = nodes.levels_in(node);
    const std::size_t before = result.leaves.size();
    result.marks.push_back(before);
    for (std::size_t i = first; i < first + count; ++i) add_nesting(nodes, i, result);
    if (result.leaves.size() == before) {
      result.leaves.push_back(nodes.kind(node));
      result.marks.pop_back();
    } else {
      result.marks.push_back(result.leaves.size());
    }
  }
}

bool differs_in_depth(const structure& expected, const structure& found, std::size_t index) {
  nesting a, b;
  add_nesting(expected, index, a);
  add_nesting(found, index, b);
  return a.leaves == b.leaves && a.marks != b.marks;
}

// Whether both depend on the same nodes, by whatever edges.
bool same_predecessors(std::span<const dependency> a, std::span<const dependency> b) {
  const auto covers = [](std::span<const dependency> some, std::span<const dependency> others) {
    return std::ranges::all_of(others, [&](const dependency& wanted) {
      return std::ranges::binary_search(some, wanted.node, {}, &dependency::node);
    });
  };
  return covers(a, b) && covers(b, a);
}

mismatch reason_at(const structure& expected, const structure& found, std::size_t index,
                   std::size_t node) {
  const level ours = expected.level(index), theirs = found.level(index);
  const bool in_both = ours.has(node) && theirs.has(node);
  const bool is_permuted =
      in_both && ours.count == theirs.count &&
      !(expected.kind(node) == found.kind(node) &&
        std::ranges::equal(expected.dependencies(node), found.dependencies(node))) &&
      is_permutation(cut_out(expected, ours), cut_out(found, theirs));
  if (is_permuted) return mismatch::node_order;
  if (differs_in_depth(expected, found, index)) return mismatch::depth;
  if (!in_both) return mismatch::node_count;
  if (expected.kind(node) != found.kind(node)) return mismatch::node_kind;
  const auto wanted = expected.dependencies(node), given = found.dependencies(node);
  if (!std::ranges::equal(wanted, given))
    return same_predecessors(wanted, given) ? mismatch::edge_data : mismatch::dependencies;
  const bool are_known = expected.condition(node) != nullptr && found.condition(node) != nullptr;
  return are_known ? mismatch::conditional : mismatch::foreign_condition;
}

// Of two ascending sets that differ: the first node with an edge that the other set lacks.
std::uint32_t first_differing(std::span<const dependency> a, std::span<const dependency> b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end()) return in_b->node;
  if (in_b == b.end()) return in_a->node;
  return std::min(in_a->node, in_b->node);
}

std::optional<structure_mismatch> mismatch_in(const structure& expected, const structure& found,
                                              std::size_t index) {
  const std::size_t node = first_difference(expected, found, index);
  if (!expected.level(index).has(node) && !found.level(index).has(node)) return std::nullopt;
  structure_mismatch differs{reason_at(expected, found, index, node), node, index, {}};
  if (differs.why == mismatch::edge_data || differs.why == mismatch::dependencies)
    differs.from = first_differing(expected.dependencies(node), found.dependencies(node));
  return differs;
}

// Behind levels that are equal: whether one has a graph inside of a node that the other has not.
std::optional<structure_mismatch> missing_level(const structure& expected, const structure& found,
                                                std::size_t index) {
  constexpr auto behind_all = std::pair(level::no_parent, std::uint32_t{0});
  const auto place = [&](const structure& nodes) {
    if (index >= nodes.level_count()) return behind_all;
    const level of = nodes.level(index);
    return std::pair(of.parent, of.body);
  };
  const auto ours = place(expected), theirs = place(found);
  if (ours == theirs) return std::nullopt;
  const std::size_t holder = std::min(ours, theirs).first;
  const mismatch why =
      expected.kind(holder) == node_kind::conditional ? mismatch::conditional : mismatch::depth;
  return structure_mismatch{why, holder, expected.level_of(holder), {}};
}

}  // namespace

void structure::append(node_kind kind, std::span<const dependency> dependencies) {
  if (kinds_.size() == kinds_.capacity()) kinds_.reserve(2 * kinds_.size() + 8);
  if (ends_.size() == ends_.capacity()) ends_.reserve(2 * ends_.size() + 8);
  const auto begin = static_cast<std::ptrdiff_t>(dependencies_.size());
  dependencies_.insert(dependencies_.end(), dependencies.begin(), dependencies.end());

  // From here on nothing throws.
  if (dependencies.size() > 1) {
    const auto range = dependencies_.begin() + begin;
    std::sort(range, dependencies_.end());
    dependencies_.erase(std::unique(range, dependencies_.end()), dependencies_.end());
  }
  kinds_.push_back(kind);
  ends_.push_back(static_cast<std::uint32_t>(dependencies_.size()));
}

void structure::begin_level(std::uint32_t parent, std::uint32_t body) {
  inner_.push_back({parent, body, static_cast<std::uint32_t>(size())});
}

model::level structure::level(std::size_t index) const noexcept {
  const std::size_t end = index < inner_.size() ? inner_[index].first : size();
  if (index == 0) return {model::level::no_parent, 0, 0, static_cast<std::uint32_t>(end)};
  const inner_level& of = inner_[index - 1];
  return {of.parent, of.body, of.first, static_cast<std::uint32_t>(end) - of.first};
}

std::size_t structure::level_of(std::size_t node) const noexcept {
  const auto behind = std::ranges::upper_bound(inner_, node, {}, &inner_level::first);
  return static_cast<std::size_t>(behind - inner_.begin());
}

std::pair<std::size_t, std::size_t> structure::levels_in(std::size_t node) const noexcept {
  const auto first = std::ranges::lower_bound(inner_, node, {}, &inner_level::parent);
  const auto behind = std::ranges::upper_bound(inner_, node, {}, &inner_level::parent);
  return {static_cast<std::size_t>(first - inner_.begin()) + 1,
          static_cast<std::size_t>(behind - first)};
}

node_path structure::path_of(std::size_t node) const {
  node_path path;
  std::uint32_t body = 0;
  while (true) {
    const model::level of = level(level_of(node));
    path.steps.push_back({static_cast<std::uint32_t>(node) - of.first, body});
    if (of.parent == model::level::no_parent) break;
    node = of.parent;
    body = of.body;
  }
  std::ranges::reverse(path.steps);
  return path;
}

std::optional<std::uint32_t> structure::position_of(const node_path& path) const noexcept {
  std::optional<std::uint32_t> result;
  std::size_t index = 0;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const model::level of = level(index);
    if (path.steps[i].node >= of.count) return std::nullopt;
    result = of.first + path.steps[i].node;
    if (i + 1 == path.steps.size()) break;
    const auto [first, count] = levels_in(*result);
    if (path.steps[i].body >= count) return std::nullopt;
    index = first + path.steps[i].body;
  }
  return result;
}

void structure::set_condition(std::size_t node, const conditional_value& condition) {
  conditions_.emplace_back(static_cast<std::uint32_t>(node), condition);
  kinds_[node] = node_kind::conditional;
}

const conditional_value* structure::condition(std::size_t node) const noexcept {
  if (conditions_.empty()) return nullptr;
  const auto found = std::ranges::lower_bound(conditions_, node, {},
                                              &std::pair<std::uint32_t, conditional_value>::first);
  return found != conditions_.end() && found->first == node ? &found->second : nullptr;
}

void structure::clear() noexcept {
  kinds_.clear();
  ends_.clear();
  dependencies_.clear();
  inner_.clear();
  conditions_.clear();
}

std::optional<structure_mismatch> first_mismatch(const structure& expected,
                                                 const structure& found) {
  const std::size_t count = std::max(expected.level_count(), found.level_count());
  auto differs = mismatch_in(expected, found, 0);
  for (std::size_t index = 1; !differs && index < count; ++index) {
    differs = missing_level(expected, found, index);
    if (!differs) differs = mismatch_in(expected, found, index);
  }
  return differs;
}

std::optional<structure_mismatch> first_mismatch_of_roots(const structure& expected,
                                                          const structure& found) {
  return mismatch_in(expected, found, 0);
}

}  // namespace cugraft::model
