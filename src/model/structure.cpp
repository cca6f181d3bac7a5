// SPDX-License-Identifier: Apache-2.0
#include "model/structure.hpp"

#include <algorithm>

#include "model/isomorphism.hpp"

namespace cugraft::model {
namespace {

// Position of the first node that differs; the shorter one's size where none does.
std::size_t first_difference(const structure& expected, const structure& found) {
  const std::size_t common = std::min(expected.size(), found.size());
  for (std::size_t node = 0; node < common; ++node) {
    if (expected.kind(node) != found.kind(node)) return node;
    if (!std::ranges::equal(expected.dependencies(node), found.dependencies(node))) return node;
  }
  return common;
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

void structure::clear() noexcept {
  kinds_.clear();
  ends_.clear();
  dependencies_.clear();
}

namespace {

// Of two ascending sets that differ: the first node with an edge that the other set lacks.
std::uint32_t first_differing(std::span<const dependency> a, std::span<const dependency> b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end()) return in_b->node;
  if (in_b == b.end()) return in_a->node;
  return std::min(in_a->node, in_b->node);
}

}  // namespace

std::optional<structure_mismatch> first_mismatch(const structure& expected,
                                                 const structure& found) {
  const std::size_t position = first_difference(expected, found);
  if (position == expected.size() && position == found.size()) return std::nullopt;
  if (position == expected.size() || position == found.size())
    return structure_mismatch{mismatch::node_count, position};
  if (is_permutation(expected, found)) return structure_mismatch{mismatch::node_order, position};
  if (expected.kind(position) != found.kind(position))
    return structure_mismatch{mismatch::node_kind, position};
  const auto before = expected.dependencies(position), now = found.dependencies(position);
  const mismatch why =
      same_predecessors(before, now) ? mismatch::edge_data : mismatch::dependencies;
  return structure_mismatch{why, position, first_differing(before, now)};
}

}  // namespace cugraft::model
