// SPDX-License-Identifier: Apache-2.0
#include "model/memory_nodes.hpp"

#include <gtest/gtest.h>

#include "model/difference.hpp"

namespace cugraft::model {
namespace {

node_value allocates(std::uintptr_t address, bool is_foreign = false) {
  return {node_kind::allocation, allocation_value{address, 64, 0, is_foreign}};
}

node_value frees(std::uintptr_t address, bool is_foreign = false) {
  return {node_kind::free, free_value{address, is_foreign}};
}

graph memory_graph(std::initializer_list<node_value> values) {
  graph result;
  for (const node_value& value : values) result.append(value, {});
  return result;
}

TEST(MemoryNodesTest, OnlyMemoryAndConditionsAllowOneExecutable) {
  EXPECT_FALSE(allows_one_executable({}));
  EXPECT_FALSE(allows_one_executable(memory_graph({{node_kind::fill, fill_value{}}})));
  EXPECT_TRUE(allows_one_executable(memory_graph({{node_kind::fill, fill_value{}}, frees(1)})));
  EXPECT_TRUE(allows_one_executable(memory_graph({allocates(1)})));
  EXPECT_TRUE(allows_one_executable(memory_graph({{node_kind::conditional, {}}})));
}

TEST(MemoryNodesTest, FindsTheFirstOnes) {
  const graph nodes = memory_graph({{}, allocates(1), frees(1, true), allocates(2, true)});
  EXPECT_EQ(first_memory_node(nodes), 1U);
  EXPECT_EQ(first_foreign_memory_node(nodes), 2U);
  EXPECT_EQ(allocation_nodes(nodes), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(first_memory_node({}), std::nullopt);
  EXPECT_EQ(first_foreign_memory_node(memory_graph({allocates(1), frees(1)})), std::nullopt);
}

TEST(MemoryNodesTest, AFreeBelongsToTheAllocationAheadOfIt) {
  const graph nodes = memory_graph({allocates(1), frees(1), allocates(1), allocates(2), frees(2)});
  EXPECT_EQ(free_of(nodes, 0), 1U);
  EXPECT_EQ(free_of(nodes, 2), std::nullopt);
  EXPECT_EQ(free_of(nodes, 3), 4U);
  EXPECT_TRUE(leaves_memory(nodes));
  EXPECT_FALSE(leaves_memory(memory_graph({allocates(1), frees(1)})));
  // The second allocation took the address: what is freed is its.
  EXPECT_EQ(free_of(memory_graph({allocates(1), allocates(1), frees(1)}), 0), std::nullopt);
}

TEST(MemoryNodesTest, ValuesAreKeptAndComparedByWhatTheDriverHas) {
  graph nodes = memory_graph({allocates(1), frees(1)});
  EXPECT_TRUE(nodes.has_parameters(0));
  EXPECT_TRUE(nodes.same(0, allocates(1, true)));  // who made it is no parameter
  EXPECT_FALSE(nodes.same(0, allocates(2)));
  EXPECT_FALSE(nodes.same(1, frees(2)));
  EXPECT_EQ(nodes.free(0), nullptr);
  nodes.assign(0, allocates(7));
  nodes.assign(1, frees(7));
  EXPECT_EQ(nodes.allocation(0)->address, 7U);
  EXPECT_EQ(std::get<free_value>(nodes.value(1).data).address, 7U);
}

TEST(MemoryNodesTest, DifferencesAreDescribedAndNothingTakesThem) {
  node_value other = allocates(0x20);
  std::get<allocation_value>(other.data).bytes = 128;
  std::get<allocation_value>(other.data).device = 1;
  const node_value before = allocates(0x10);
  const std::vector<difference> found = differences(before, other);
  ASSERT_EQ(found.size(), 3U);
  const field_change address = describe(before, other, found[0]);
  EXPECT_EQ(address.field, "address");
  EXPECT_EQ(address.before, "0x10");
  EXPECT_EQ(address.after, "0x20");
  const field_change bytes = describe(before, other, found[1]);
  EXPECT_EQ(bytes.field, "bytes");
  EXPECT_EQ(bytes.after, "128");
  EXPECT_EQ(describe(before, other, found[2]).after, "1");
  EXPECT_EQ(judge(before, other).rule->id, "memory.fixed");
  EXPECT_EQ(judge(frees(1), frees(2)).effect, verdict::needs_instantiate);
  EXPECT_EQ(judge(frees(1), frees(1, true)).effect, verdict::unchanged);
}

}  // namespace
}  // namespace cugraft::model
