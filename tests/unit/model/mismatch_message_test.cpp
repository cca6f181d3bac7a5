// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "model/report_state.hpp"

namespace cugraft {
namespace {

node_summary node(node_kind kind, std::string name = {}, std::string tag = {}) {
  return {{{{7}}}, kind, std::move(name), std::move(tag)};
}

std::string message(mismatch why, std::optional<node_summary> expected,
                    std::optional<node_summary> found, std::size_t expected_count = 12,
                    std::size_t found_count = 12) {
  return mismatch_message(
      {why, std::move(expected), std::move(found), 7, expected_count, found_count});
}

const node_summary kernel = node(node_kind::kernel, "scale");
const node_summary fill = node(node_kind::fill);

// C067.
TEST(MismatchMessageTest, ANodeOfAnotherKindAndOneMore) {
  EXPECT_EQ(
      message(mismatch::node_kind, kernel, fill, 12, 13),
      "node count 12 to 13, first difference at 7: kernel \"scale\" vs fill; enqueue the same "
      "work as in the first capture, or capture a new graph");
}

TEST(MismatchMessageTest, EqualCountsAreNotNamed) {
  EXPECT_EQ(message(mismatch::node_kind, node(node_kind::kernel, "scale", "layer 3"), fill),
            "first difference at 7: kernel \"scale\" (tag \"layer 3\") vs fill; enqueue the same "
            "work as in the first capture, or capture a new graph");
}

TEST(MismatchMessageTest, ANodeMoreOrFewer) {
  EXPECT_EQ(
      message(mismatch::node_count, {}, kernel, 7, 8),
      "node count 7 to 8, first difference at 7: end of the graph vs kernel \"scale\"; enqueue "
      "the same work as in the first capture, or capture a new graph");
  EXPECT_EQ(message(mismatch::node_count, kernel, {}, 8, 7),
            "node count 8 to 7, first difference at 7: kernel \"scale\" vs end of the re-capture; "
            "enqueue the same work as in the first capture, or capture a new graph");
}

TEST(MismatchMessageTest, AnotherOrder) {
  EXPECT_EQ(message(mismatch::node_order, kernel, fill),
            "first difference at 7: kernel \"scale\" vs fill, the same nodes in another order; "
            "enqueue the work in the order of the first capture, or capture a new graph");
}

TEST(MismatchMessageTest, OtherDependenciesAndEdges) {
  EXPECT_EQ(
      message(mismatch::dependencies, fill, fill),
      "first difference at 7: fill vs fill, with other dependencies; enqueue the same work as "
      "in the first capture, or capture a new graph");
  EXPECT_EQ(message(mismatch::edge_data, fill, fill),
            "first difference at 7: fill vs fill, with the same dependencies by another kind of "
            "edge; enqueue the same work as in the first capture, or capture a new graph");
}

TEST(MismatchMessageTest, WhatLiesInsideOfNodes) {
  const node_summary allocation = node(node_kind::allocation);
  EXPECT_EQ(
      message(mismatch::allocation, allocation, allocation),
      "first difference at 7: allocation vs allocation, with other parameters, which no driver "
      "call can apply; enqueue the same work as in the first capture, or capture a new graph");
  const node_summary condition = node(node_kind::conditional);
  EXPECT_EQ(
      message(mismatch::conditional, condition, condition),
      "first difference at 7: conditional vs conditional, with another kind, default value or "
      "handle of a condition; enqueue the same work as in the first capture, or capture a new "
      "graph");
  EXPECT_EQ(message(mismatch::depth, node(node_kind::child_graph), kernel),
            "first difference at 7: child_graph vs kernel \"scale\", in another nesting of child "
            "graphs or bodies; enqueue the same work as in the first capture, or capture a new "
            "graph");
  EXPECT_EQ(message(mismatch::unknown_node, node(node_kind{18}), fill),
            "first difference at 7: kind 18 vs fill, of a kind that this build cannot compare; "
            "enqueue the same work as in the first capture, or capture a new graph");
}

TEST(MismatchMessageTest, APathBelowTheTopIsNamedWhole) {
  node_summary inner = kernel;
  inner.path.steps = {{5, 1}, {2}};
  EXPECT_EQ(message(mismatch::node_kind, inner, fill),
            "first difference at 5[1]/2: kernel \"scale\" vs fill; enqueue the same work as in the "
            "first capture, or capture a new graph");
}

TEST(MismatchMessageTest, ForeignWorkThatTheDriverHides) {
  EXPECT_EQ(message(mismatch::node_kind, kernel, {}),
            "first difference at 7: kernel \"scale\" vs a node that the driver hides; enqueue the "
            "same work as in the first capture, or capture a new graph");
}

TEST(MismatchMessageTest, AHookThatRejects) {
  EXPECT_EQ(message(mismatch::rejected, kernel, kernel),
            "a hook rejected the change of node 7: kernel \"scale\"");
}

}  // namespace
}  // namespace cugraft
