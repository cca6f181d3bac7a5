// SPDX-License-Identifier: Apache-2.0
#include "capture/old_values.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

namespace cugraft {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<const model::node_value> some_value() {
  return std::make_shared<const model::node_value>();
}

std::vector<std::uint32_t> nodes_of(std::span<const old_values::entry> entries) {
  std::vector<std::uint32_t> nodes;
  for (const old_values::entry& each : entries) nodes.push_back(each.node);
  return nodes;
}

TEST(OldValuesTest, KeepsTheFirstValueOfANode) {
  old_values values;
  const auto first = some_value();
  EXPECT_TRUE(values.add(7, first));
  EXPECT_FALSE(values.add(7, some_value()));
  ASSERT_NE(values.find(7), nullptr);
  EXPECT_EQ(values.find(7)->value, first);
  EXPECT_EQ(values.find(6), nullptr);
  EXPECT_EQ(values.find(1000), nullptr);
}

TEST(OldValuesTest, GivesThemInCreationOrderHoweverTheyCame) {
  old_values values;
  for (const std::uint32_t node : {5U, 2U, 9U, 3U}) values.add(node, some_value());
  EXPECT_THAT(nodes_of(values.in_order()), ElementsAre(2, 3, 5, 9));
  values.erase(3);  // the last takes its place
  EXPECT_THAT(nodes_of(values.in_order()), ElementsAre(2, 5, 9));
  for (const std::uint32_t node : {2U, 5U, 9U}) {
    ASSERT_NE(values.find(node), nullptr);
    EXPECT_EQ(values.find(node)->node, node);
  }
  EXPECT_EQ(values.find(3), nullptr);
}

TEST(OldValuesTest, ForgetsWhatIsErasedAndAll) {
  old_values values;
  for (std::uint32_t node = 0; node < 4; ++node) values.add(node, some_value());
  for (const std::uint32_t node : {3U, 0U, 2U, 2U}) values.erase(node);
  EXPECT_THAT(nodes_of(values.all()), ElementsAre(1));
  values.clear();
  EXPECT_TRUE(values.empty());
  EXPECT_THAT(values.in_order(), IsEmpty());
  EXPECT_TRUE(values.add(1, some_value()));
  EXPECT_EQ(values.size(), 1U);
}

}  // namespace
}  // namespace cugraft
