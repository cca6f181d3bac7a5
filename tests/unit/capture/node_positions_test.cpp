// SPDX-License-Identifier: Apache-2.0
#include "capture/node_positions.hpp"

#include <gtest/gtest.h>

namespace cugraft {
namespace {

CUgraphNode node(std::uintptr_t address) { return reinterpret_cast<CUgraphNode>(address); }

TEST(NodePositions, OfNoNodesKnowNone) {
  EXPECT_EQ(node_positions().find(node(16)), std::nullopt);
  EXPECT_EQ(node_positions(std::span<const CUgraphNode>()).find(node(16)), std::nullopt);
}

TEST(NodePositions, NullIsNoNode) {
  const CUgraphNode only = node(16);
  EXPECT_EQ(node_positions({&only, 1}).find(nullptr), std::nullopt);
}

// Handles as drivers were seen to give them, and some that differ in the upper bits only.
TEST(NodePositions, FindsEachNodeAndNoOther) {
  for (const std::uintptr_t step :
       {std::uintptr_t{1}, std::uintptr_t{176}, std::uintptr_t{1} << 40}) {
    for (const std::size_t count : {1, 2, 3, 1000}) {
      std::vector<CUgraphNode> nodes;
      for (std::size_t i = 0; i < count; ++i) nodes.push_back(node((2 * i + 1) * step));
      const node_positions positions(nodes);
      for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(positions.find(nodes[i]), i) << count << " nodes, " << step << " apart";
        EXPECT_EQ(positions.find(node((2 * i + 2) * step)), std::nullopt);
      }
    }
  }
}

}  // namespace
}  // namespace cugraft
