// SPDX-License-Identifier: Apache-2.0
#include "model/structure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/model/samples.hpp"

namespace cugraft::model {
namespace {

using ::testing::ElementsAre;

constexpr auto kernel = node_kind::kernel;
constexpr auto copy = node_kind::copy;
constexpr auto fill = node_kind::fill;

void expect_mismatch(const structure& expected, const structure& found, mismatch why,
                     std::size_t position) {
  const auto result = first_mismatch(expected, found);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->why, why);
  EXPECT_EQ(result->position, position);
}

TEST(StructureTest, DependenciesAreAnAscendingSet) {
  structure nodes;
  nodes.append(kernel, {});
  nodes.append(copy, {});
  const std::vector<dependency> given{{1, {}}, {0, programmatic}, {1, {}}, {0, {}}};
  nodes.append(fill, given);
  EXPECT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes.kind(1), copy);
  EXPECT_THAT(nodes.dependencies(0), ElementsAre());
  EXPECT_THAT(nodes.dependencies(2),
              ElementsAre(dependency{0, {}}, dependency{0, programmatic}, dependency{1, {}}));
}

TEST(StructureTest, ClearLeavesNothing) {
  structure nodes = structure_of({{kernel, {}}, {copy, {{0}}}});
  nodes.clear();
  EXPECT_EQ(nodes.size(), 0U);
  nodes.append(fill, {});
  EXPECT_THAT(nodes.dependencies(0), ElementsAre());
}

TEST(FirstMismatchTest, EqualAndEmptyHaveNone) {
  const structure nodes = structure_of({{kernel, {}}, {copy, {{0, programmatic}}}});
  EXPECT_FALSE(first_mismatch(nodes, nodes).has_value());
  EXPECT_FALSE(first_mismatch(structure(), structure()).has_value());
}

TEST(FirstMismatchTest, OrderOfDependenciesMeansNothing) {
  const structure expected = structure_of({{kernel, {}}, {kernel, {}}, {kernel, {{0}, {1}}}});
  const structure found = structure_of({{kernel, {}}, {kernel, {}}, {kernel, {{1}, {0}}}});
  EXPECT_FALSE(first_mismatch(expected, found).has_value());
}

TEST(FirstMismatchTest, ANodeMoreOrFewer) {
  const structure two = structure_of({{kernel, {}}, {kernel, {{0}}}});
  const structure three = structure_of({{kernel, {}}, {kernel, {{0}}}, {kernel, {{1}}}});
  expect_mismatch(two, three, mismatch::node_count, 2);
  expect_mismatch(three, two, mismatch::node_count, 2);
  expect_mismatch(structure(), two, mismatch::node_count, 0);
}

TEST(FirstMismatchTest, TheFirstPositionDecidesOverTheCount) {
  const structure expected = structure_of({{kernel, {}}, {kernel, {{0}}}});
  const structure found = structure_of({{kernel, {}}, {fill, {{0}}}, {kernel, {{1}}}});
  expect_mismatch(expected, found, mismatch::node_kind, 1);
}

TEST(FirstMismatchTest, AnotherKind) {
  const structure expected = structure_of({{kernel, {}}, {copy, {{0}}}});
  expect_mismatch(expected, structure_of({{kernel, {}}, {fill, {{0}}}}), mismatch::node_kind, 1);
}

TEST(FirstMismatchTest, KindGoesBeforeDependencies) {
  const structure expected = structure_of({{kernel, {}}, {copy, {{0}}}});
  expect_mismatch(expected, structure_of({{kernel, {}}, {fill, {}}}), mismatch::node_kind, 1);
}

// A->B, A->C, B->D, C->D against A->B, B->C, C->D (C068).
TEST(FirstMismatchTest, OtherDependencies) {
  const structure diamond =
      structure_of({{kernel, {}}, {kernel, {{0}}}, {kernel, {{0}}}, {kernel, {{1}, {2}}}});
  const structure chain =
      structure_of({{kernel, {}}, {kernel, {{0}}}, {kernel, {{1}}}, {kernel, {{2}}}});
  expect_mismatch(diamond, chain, mismatch::dependencies, 2);
  expect_mismatch(chain, diamond, mismatch::dependencies, 2);
}

TEST(FirstMismatchTest, AnotherKindOfEdge) {
  const structure plain = structure_of({{kernel, {}}, {kernel, {{0}}}});
  const structure early = structure_of({{kernel, {}}, {kernel, {{0, programmatic}}}});
  expect_mismatch(plain, early, mismatch::edge_data, 1);
  const structure both = structure_of({{kernel, {}}, {kernel, {{0}, {0, programmatic}}}});
  expect_mismatch(plain, both, mismatch::edge_data, 1);
}

TEST(FirstMismatchTest, OneNodeOfSeveralByOtherData) {
  const structure expected = structure_of({{kernel, {}}, {kernel, {}}, {kernel, {{0}, {1}}}});
  const structure fewer =
      structure_of({{kernel, {}}, {kernel, {}}, {kernel, {{0}, {0, programmatic}}}});
  expect_mismatch(expected, fewer, mismatch::dependencies, 2);
}

TEST(FirstMismatchTest, BranchesOfTwoKindsThatChangedPlaces) {
  const structure expected = structure_of({{kernel, {}}, {copy, {{0}}}, {fill, {{0}}}});
  const structure found = structure_of({{kernel, {}}, {fill, {{0}}}, {copy, {{0}}}});
  expect_mismatch(expected, found, mismatch::node_order, 1);
}

TEST(FirstMismatchTest, BranchesOfOneKindThatChangedPlacesAreNoMismatch) {
  const structure nodes = structure_of({{kernel, {}}, {kernel, {{0}}}, {kernel, {{0}}}});
  EXPECT_FALSE(first_mismatch(nodes, nodes).has_value());
}

// Two chains, captured one after the other or by turns.
TEST(FirstMismatchTest, ChainsByTurns) {
  const structure expected =
      structure_of({{kernel, {}}, {kernel, {{0}}}, {kernel, {}}, {kernel, {{2}}}});
  const structure found =
      structure_of({{kernel, {}}, {kernel, {}}, {kernel, {{0}}}, {kernel, {{1}}}});
  expect_mismatch(expected, found, mismatch::node_order, 1);
}

structure fan(std::uint32_t width, std::uint32_t left_out) {
  std::vector<plan> nodes{{kernel, {}}};
  std::vector<dependency> all;
  for (std::uint32_t i = 1; i <= width; ++i) {
    nodes.push_back({kernel, {{0}}});
    if (i != left_out) all.push_back({i});
  }
  nodes.push_back({kernel, all});
  return structure_of(nodes);
}

// Fan-out and fan-in of 300, a difference in the last edge (C076).
TEST(FirstMismatchTest, EdgeOfALargeFan) {
  const structure whole = fan(300, 0);
  EXPECT_EQ(whole.dependencies(301).size(), 300U);
  EXPECT_FALSE(first_mismatch(whole, fan(300, 0)).has_value());
  expect_mismatch(whole, fan(300, 300), mismatch::dependencies, 301);
  expect_mismatch(fan(300, 300), fan(300, 1), mismatch::node_order, 301);
}

}  // namespace
}  // namespace cugraft::model
