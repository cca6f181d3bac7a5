// SPDX-License-Identifier: Apache-2.0
#include "model/isomorphism.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>

#include "unit/model/samples.hpp"

namespace cugraft::model {
namespace {

std::vector<plan> any_plans(std::size_t most) {
  const auto count = *rc::gen::inRange<std::size_t>(0, most + 1);
  std::vector<plan> nodes(count);
  for (std::size_t node = 0; node < count; ++node) {
    nodes[node].kind = *rc::gen::element(node_kind::kernel, node_kind::copy);
    for (std::uint32_t before = 0; before < node; ++before)
      if (*rc::gen::arbitrary<bool>())
        nodes[node].dependencies.push_back(
            {before, *rc::gen::weightedElement<edge_data>({{4, {}}, {1, programmatic}})});
  }
  return nodes;
}

std::vector<plan> reordered(const std::vector<plan>& nodes,
                            const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> place(nodes.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<plan> result;
  for (const std::uint32_t node : order) {
    result.push_back(nodes[node]);
    for (dependency& edge : result.back().dependencies) edge.node = place[edge.node];
  }
  return result;
}

// An order of creation that dependencies allow.
std::vector<std::uint32_t> any_order(const std::vector<plan>& nodes) {
  std::vector<std::uint32_t> result;
  std::vector<bool> done(nodes.size());
  while (result.size() < nodes.size()) {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t node = 0; node < nodes.size(); ++node)
      if (!done[node] && std::ranges::all_of(nodes[node].dependencies, [&](const dependency& edge) {
            return done[edge.node];
          }))
        ready.push_back(node);
    const std::uint32_t next = ready[*rc::gen::inRange<std::size_t>(0, ready.size())];
    done[next] = true;
    result.push_back(next);
  }
  return result;
}

bool is_equal(const structure& a, const structure& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t node = 0; node < a.size(); ++node)
    if (a.kind(node) != b.kind(node) ||
        !std::ranges::equal(a.dependencies(node), b.dependencies(node)))
      return false;
  return true;
}

// Tries every order.
bool is_permutation_by_force(const std::vector<plan>& a, const std::vector<plan>& b) {
  if (a.size() != b.size()) return false;
  std::vector<std::uint32_t> order(a.size());
  std::iota(order.begin(), order.end(), 0U);
  const structure wanted = structure_of(b);
  do {
    if (is_equal(structure_of(reordered(a, order)), wanted)) return true;
  } while (std::ranges::next_permutation(order).found);
  return false;
}

// What `first_mismatch` promises, word for word.
std::optional<structure_mismatch> mismatch_by_force(const std::vector<plan>& expected,
                                                    const std::vector<plan>& found) {
  const structure a = structure_of(expected);
  const structure b = structure_of(found);
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a.kind(at) == b.kind(at) &&
         std::ranges::equal(a.dependencies(at), b.dependencies(at)))
    ++at;
  if (at == a.size() && at == b.size()) return std::nullopt;
  if (at == a.size() || at == b.size()) return structure_mismatch{mismatch::node_count, at};
  if (is_permutation_by_force(expected, found)) return structure_mismatch{mismatch::node_order, at};
  if (a.kind(at) != b.kind(at)) return structure_mismatch{mismatch::node_kind, at};
  const auto nodes_of = [at](const structure& all) {
    std::vector<std::uint32_t> nodes;
    for (const dependency& edge : all.dependencies(at)) nodes.push_back(edge.node);
    return nodes;
  };
  return structure_mismatch{
      nodes_of(a) == nodes_of(b) ? mismatch::edge_data : mismatch::dependencies, at};
}

void expect_as_by_force(const std::vector<plan>& a, const std::vector<plan>& b) {
  const auto wanted = mismatch_by_force(a, b);
  const auto result = first_mismatch(structure_of(a), structure_of(b));
  RC_ASSERT(result.has_value() == wanted.has_value());
  if (!wanted) return;
  RC_ASSERT(result->position == wanted->position);
  RC_ASSERT(result->why == wanted->why);
}

RC_GTEST_PROP(FirstMismatchPropertyTest, AgreesWithTryingEverything, ()) {
  expect_as_by_force(any_plans(6), any_plans(6));
}

// Unrelated graphs seldom begin alike: these differ in one kind or one edge.
RC_GTEST_PROP(FirstMismatchPropertyTest, AgreesOnOneEdit, ()) {
  const std::vector<plan> before = any_plans(6);
  RC_PRE(!before.empty());
  std::vector<plan> after = before;
  plan& edited = after[*rc::gen::inRange<std::size_t>(0, after.size())];
  if (edited.dependencies.empty() || *rc::gen::arbitrary<bool>())
    edited.kind = *rc::gen::element(node_kind::kernel, node_kind::copy);
  else if (*rc::gen::arbitrary<bool>())
    edited.dependencies.pop_back();
  else
    edited.dependencies.front().data = programmatic;
  expect_as_by_force(before, reordered(after, any_order(after)));
}

RC_GTEST_PROP(PermutationPropertyTest, AnyShuffleIsFound, ()) {
  const std::vector<plan> nodes = any_plans(30);
  RC_ASSERT(is_permutation(structure_of(nodes), structure_of(reordered(nodes, any_order(nodes)))));
}

// Six nodes above and six below, each with `degree` edges to the other layer: labels never tell any
// two of one layer apart, so only the search and its check decide.
constexpr std::uint32_t layer_size = 6;

std::vector<plan> regular_layers(std::mt19937& random, std::uint32_t degree) {
  std::vector<plan> nodes(2 * layer_size);
  for (std::uint32_t round = 0; round < degree;) {
    std::array<std::uint32_t, layer_size> upper{};
    std::iota(upper.begin(), upper.end(), 0U);
    std::shuffle(upper.begin(), upper.end(), random);
    const auto is_new = [&](std::uint32_t lower) {
      const auto& edges = nodes[layer_size + lower].dependencies;
      return std::ranges::find(edges, upper[lower], &dependency::node) == edges.end();
    };
    bool all_new = true;
    for (std::uint32_t lower = 0; lower < layer_size; ++lower) all_new &= is_new(lower);
    if (!all_new) continue;
    for (std::uint32_t lower = 0; lower < layer_size; ++lower)
      nodes[layer_size + lower].dependencies.push_back({upper[lower]});
    ++round;
  }
  return nodes;
}

// Tries every order of the upper layer; the lower nodes then are what they depend on.
bool is_permutation_by_layers(const std::vector<plan>& a, const std::vector<plan>& b) {
  const auto lower_sets = [](const std::vector<plan>& nodes, const auto& rename) {
    std::multiset<std::set<std::uint32_t>> result;
    for (std::uint32_t lower = layer_size; lower < nodes.size(); ++lower) {
      std::set<std::uint32_t> above;
      for (const dependency& edge : nodes[lower].dependencies) above.insert(rename[edge.node]);
      result.insert(above);
    }
    return result;
  };
  std::array<std::uint32_t, layer_size> order{};
  std::iota(order.begin(), order.end(), 0U);
  const auto wanted = lower_sets(b, order);
  do {
    if (lower_sets(a, order) == wanted) return true;
  } while (std::ranges::next_permutation(order).found);
  return false;
}

RC_GTEST_PROP(PermutationPropertyTest, AgreesWhereLabelsTellNothing, ()) {
  std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
  const auto degree = *rc::gen::inRange(2U, 4U);
  const std::vector<plan> a = regular_layers(random, degree);
  const std::vector<plan> b = regular_layers(random, degree);
  RC_ASSERT(is_permutation(structure_of(a), structure_of(b)) == is_permutation_by_layers(a, b));
}

// Layers of two: each lower node depends on two neighbours of a ring. Every node looks like every
// other of its layer, however far one looks along the edges.
void add_ring(std::vector<plan>& nodes, std::uint32_t size, bool with_root) {
  const auto first = static_cast<std::uint32_t>(nodes.size());
  const std::vector<dependency> root =
      with_root ? std::vector<dependency>{{0}} : std::vector<dependency>{};
  for (std::uint32_t i = 0; i < size; ++i) nodes.push_back({node_kind::kernel, root});
  for (std::uint32_t i = 0; i < size; ++i)
    nodes.push_back({node_kind::kernel, {{first + i}, {first + (i + 1) % size}}});
}

std::vector<plan> rings(std::initializer_list<std::uint32_t> sizes, bool with_root) {
  std::vector<plan> nodes;
  if (with_root) nodes.push_back({node_kind::kernel, {}});
  for (const std::uint32_t size : sizes) add_ring(nodes, size, with_root);
  return nodes;
}

class RingTest : public ::testing::TestWithParam<bool> {};

TEST_P(RingTest, OneRingIsNotTwo) {
  const structure one = structure_of(rings({6}, GetParam()));
  const structure two = structure_of(rings({3, 3}, GetParam()));
  EXPECT_FALSE(is_permutation(one, two));
  EXPECT_FALSE(is_permutation(structure_of(rings({200}, GetParam())),
                              structure_of(rings({100, 100}, GetParam()))));
}

TEST_P(RingTest, RingsInAnotherOrderAreThose) {
  EXPECT_TRUE(is_permutation(structure_of(rings({40, 60, 50, 40}, GetParam())),
                             structure_of(rings({50, 40, 40, 60}, GetParam()))));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutARoot, RingTest, ::testing::Bool());

TEST(PermutationTest, EdgeDataCounts) {
  const structure a = structure_of({{node_kind::kernel, {}},
                                    {node_kind::kernel, {{0}}},
                                    {node_kind::kernel, {}},
                                    {node_kind::kernel, {{2, programmatic}}}});
  const structure b = structure_of({{node_kind::kernel, {}},
                                    {node_kind::kernel, {{0, programmatic}}},
                                    {node_kind::kernel, {}},
                                    {node_kind::kernel, {{2}}}});
  const structure c = structure_of({{node_kind::kernel, {}},
                                    {node_kind::kernel, {{0}}},
                                    {node_kind::kernel, {}},
                                    {node_kind::kernel, {{2}}}});
  EXPECT_TRUE(is_permutation(a, b));
  EXPECT_FALSE(is_permutation(a, c));
}

// `layers` layers of `width`, everything of one depending on everything of the one before.
std::vector<plan> layered(std::uint32_t layers, std::uint32_t width) {
  std::vector<plan> nodes;
  for (std::uint32_t layer = 0; layer < layers; ++layer)
    for (std::uint32_t i = 0; i < width; ++i) {
      std::vector<dependency> all;
      for (std::uint32_t j = 0; layer > 0 && j < width; ++j)
        all.push_back({(layer - 1) * width + j});
      nodes.push_back({node_kind::kernel, all});
    }
  return nodes;
}

// Symmetric graphs, with one copy moved within its layer or to another. A search through them
// would outlast any limit that a test has.
TEST(PermutationTest, LargeSymmetricGraphsTakeNoSearch) {
  std::vector<plan> a = layered(20, 20);
  std::vector<plan> b = a;
  std::vector<plan> c = a;
  a[205].kind = node_kind::copy;
  b[212].kind = node_kind::copy;
  c[225].kind = node_kind::copy;
  EXPECT_TRUE(is_permutation(structure_of(a), structure_of(b)));
  EXPECT_FALSE(is_permutation(structure_of(a), structure_of(c)));

  std::vector<plan> chain(20'000);
  for (std::uint32_t i = 1; i < chain.size(); ++i) chain[i].dependencies = {{i - 1}};
  EXPECT_TRUE(is_permutation(structure_of(chain), structure_of(chain)));
}

}  // namespace
}  // namespace cugraft::model
