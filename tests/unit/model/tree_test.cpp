// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "model/graph.hpp"
#include "model/names.hpp"
#include "model/report_state.hpp"
#include "model/structure.hpp"
#include "unit/model/samples.hpp"

// Graphs inside of graphs: how their nodes are numbered, and the first of them that differs.

namespace cugraft::model {
namespace {

constexpr auto a_kernel = node_kind::kernel;
constexpr auto a_copy = node_kind::copy;
constexpr auto a_child = node_kind::child_graph;
constexpr auto a_conditional = node_kind::conditional;

struct graph_of {
  node_kind kind;
  std::vector<std::vector<graph_of>> inner{};
  std::vector<dependency> after{};  // within its graph
  conditional_value condition{};
};

using nodes_of = std::vector<graph_of>;

// In the order in which levels are counted.
structure tree(const nodes_of& root) {
  structure result;
  std::vector<const nodes_of*> graphs{&root};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places{{level::no_parent, 0}};
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (i > 0) result.begin_level(places[i].first, places[i].second);
    const auto first = static_cast<std::uint32_t>(result.size());
    for (const graph_of& node : *graphs[i]) {
      std::vector<dependency> after = node.after;
      for (dependency& each : after) each.node += first;
      result.append(node.kind, after);
      if (node.kind == a_conditional) result.set_condition(result.size() - 1, node.condition);
      for (std::uint32_t body = 0; body < node.inner.size(); ++body) {
        graphs.push_back(&node.inner[body]);
        places.emplace_back(result.size() - 1, body);
      }
    }
  }
  return result;
}

std::string path_text(const structure& nodes, std::size_t node) {
  return to_string(nodes.path_of(node));
}

void expect_mismatch(const nodes_of& expected, const nodes_of& found, mismatch why,
                     const char* path) {
  const structure a = tree(expected), b = tree(found);
  const auto result = first_mismatch(a, b);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(name_of(result->why), name_of(why));
  const level of = a.level(result->level);
  const structure& shown = of.has(result->position) ? a : b;
  ASSERT_TRUE(shown.level(result->level).has(result->position));
  EXPECT_EQ(path_text(shown, result->position), path);
  EXPECT_TRUE(first_mismatch(b, a).has_value());
}

TEST(TreeTest, NodesAreNumberedLevelByLevel) {
  const structure nodes = tree({{a_child, {{{a_kernel}, {a_child, {{{a_copy}}}}}}},
                                {a_kernel},
                                {a_conditional, {{}, {{a_kernel}}}}});
  ASSERT_EQ(nodes.size(), 7U);
  ASSERT_EQ(nodes.level_count(), 5U);
  EXPECT_EQ(nodes.level(0).count, 3U);
  EXPECT_EQ(path_text(nodes, 2), "2");
  EXPECT_EQ(path_text(nodes, 4), "0/1");
  EXPECT_EQ(path_text(nodes, 5), "2[1]/0");
  EXPECT_EQ(path_text(nodes, 6), "0/1/0");
  EXPECT_EQ(nodes.kind(6), a_copy);
  EXPECT_EQ(nodes.level(2).count, 0U);  // the first body of the condition
  EXPECT_EQ(nodes.levels_in(2), (std::pair<std::size_t, std::size_t>{2, 2}));
  EXPECT_EQ(nodes.levels_in(1).second, 0U);
  for (std::uint32_t node = 0; node < nodes.size(); ++node)
    EXPECT_EQ(nodes.position_of(nodes.path_of(node)), node);
}

TEST(TreeTest, PathsThatLeadNowhere) {
  const structure nodes = tree({{a_child, {{{a_kernel}}}}, {a_conditional, {{}}}});
  EXPECT_FALSE(nodes.position_of({}).has_value());
  EXPECT_FALSE(nodes.position_of({{{2, 0}}}).has_value());
  EXPECT_FALSE(nodes.position_of({{{0, 0}, {1, 0}}}).has_value());
  EXPECT_FALSE(nodes.position_of({{{0, 1}, {0, 0}}}).has_value());
  EXPECT_FALSE(nodes.position_of({{{1, 0}, {0, 0}}}).has_value());
  EXPECT_EQ(nodes.position_of({{{0, 7}}}), 0U);  // of the last step the body means nothing
}

TEST(TreeTest, EqualTreesHaveNoMismatch) {
  const nodes_of nodes{{a_child, {{{a_kernel}, {a_kernel, {}, {{0, {}}}}}}},
                       {a_conditional, {{}, {}}}};
  EXPECT_FALSE(first_mismatch(tree(nodes), tree(nodes)).has_value());
}

TEST(TreeTest, TheRootIsComparedFirst) {
  expect_mismatch({{a_child, {{{a_kernel}}}}, {a_kernel}}, {{a_child, {{{a_copy}}}}, {a_copy}},
                  mismatch::node_kind, "1");
}

TEST(TreeTest, AMismatchInAGraphHasItsPath) {
  expect_mismatch({{a_kernel}, {a_child, {{{a_kernel}, {a_kernel}}}}},
                  {{a_kernel}, {a_child, {{{a_kernel}, {a_copy}}}}}, mismatch::node_kind, "1/1");
  expect_mismatch({{a_child, {{{a_kernel}}}}, {a_child, {{{a_kernel}}}}},
                  {{a_child, {{{a_kernel}}}}, {a_child, {{{a_kernel}, {a_kernel}}}}},
                  mismatch::node_count, "1/1");
  expect_mismatch({{a_child, {{{a_kernel}, {a_kernel}}}}},
                  {{a_child, {{{a_kernel}, {a_kernel, {}, {{0, {}}}}}}}}, mismatch::dependencies,
                  "0/1");
  expect_mismatch({{a_child, {{{a_kernel}, {a_copy}}}}}, {{a_child, {{{a_copy}, {a_kernel}}}}},
                  mismatch::node_order, "0/0");
}

TEST(TreeTest, C064_EqualContentInAnotherNestingIsDepth) {
  const nodes_of two_deep{{a_child, {{{a_child, {{{a_kernel}}}}}}}};
  const nodes_of one_deep{{a_child, {{{a_kernel}}}}};
  expect_mismatch(two_deep, one_deep, mismatch::depth, "0/0");
  expect_mismatch(one_deep, {{a_kernel}}, mismatch::depth, "0");
  expect_mismatch({{a_child, {{{a_kernel}}}}, {a_kernel}}, {{a_child, {{{a_kernel}, {a_kernel}}}}},
                  mismatch::depth, "1");
}

TEST(TreeTest, OtherContentIsNotAnotherNesting) {
  expect_mismatch({{a_child, {{{a_kernel}}}}}, {{a_copy}}, mismatch::node_kind, "0");
  expect_mismatch({{a_kernel}, {a_child, {{}}}}, {{a_kernel}}, mismatch::node_count, "1");
  expect_mismatch({{a_kernel}, {a_child, {{{a_kernel}}}}}, {{a_child, {{{a_kernel}}}}, {a_kernel}},
                  mismatch::node_order, "0");
}

TEST(TreeTest, ConditionsAreComparedWhole) {
  const auto with = [](conditional_value condition, std::size_t bodies = 1) {
    return nodes_of{{a_kernel}, {a_conditional, std::vector<nodes_of>(bodies), {}, condition}};
  };
  const conditional_value plain{0, 1, 1, 0U};
  EXPECT_FALSE(first_mismatch(tree(with(plain)), tree(with(plain))).has_value());
  expect_mismatch(with(plain), with({1, 1, 1, 0U}), mismatch::conditional, "1");
  expect_mismatch(with(plain), with({0, 1, 2, 0U}), mismatch::conditional, "1");
  expect_mismatch(with(plain), with({0, 1, 1, 1U}), mismatch::conditional, "1");
  expect_mismatch(with(plain), with({0, 1, 1, std::nullopt}), mismatch::conditional, "1");
  expect_mismatch(with(plain), with({0, 2, 1, 0U}, 2), mismatch::conditional, "1");
}

TEST(TreeTest, AConditionThatNobodyKnowsIsForeign) {
  structure known, unknown;
  known.append(a_conditional, {});
  known.set_condition(0, {});
  unknown.append(a_conditional, {});
  EXPECT_EQ(first_mismatch(known, unknown)->why, mismatch::foreign_condition);
  EXPECT_FALSE(first_mismatch(unknown, unknown).has_value());
}

TEST(TreeTest, MessagesNameThePathAndTheCountsOfItsGraph) {
  const node_summary found{{{{2, 1}, {1, 0}}}, a_copy, {}, "side"};
  EXPECT_EQ(mismatch_message({mismatch::node_count, std::nullopt, found, 9, 1, 2}),
            "node count 1 to 2, first difference at 2[1]/1: end of the graph vs copy (tag "
            "\"side\"); enqueue the same work as in the first capture, or capture a new graph");
  const node_summary condition{{{{4, 0}}}, a_conditional, {}, {}};
  EXPECT_EQ(mismatch_message({mismatch::foreign_condition, condition, condition, 4, 6, 6}),
            "first difference at 4: conditional vs conditional, which cugraft did not make, so "
            "that it cannot be compared; enqueue the same work as in the first capture, or capture "
            "a new graph");
}

TEST(TreeTest, FingerprintsTellTreesApart) {
  const auto fingerprint = [](bool nested, std::uint64_t handle) {
    graph nodes;
    nodes.append({a_child, child_value{}}, {});
    nodes.append({a_conditional, conditional_value{0, 1, handle, 0U}}, {});
    nodes.begin_level(0, 0);
    nodes.append({node_kind::empty}, {});
    if (!nested) nodes.append({node_kind::empty}, {});
    nodes.begin_level(1, 0);
    if (nested) nodes.append({node_kind::empty}, {});
    return nodes.fingerprint();
  };
  EXPECT_EQ(fingerprint(true, 1), fingerprint(true, 1));
  EXPECT_NE(fingerprint(true, 1), fingerprint(false, 1));
  EXPECT_NE(fingerprint(true, 1), fingerprint(true, 2));
}

TEST(TreeTest, ValuesOfChildrenAndConditions) {
  graph nodes;
  const conditional_value condition{1, 1, 3, 5U};
  nodes.append({a_child, child_value{}}, {});
  nodes.append({a_conditional, condition}, {});
  nodes.begin_level(0, 0);
  nodes.append({node_kind::empty}, {}, "inner");
  EXPECT_EQ(nodes.top_size(), 2U);
  EXPECT_EQ(nodes.size(), 3U);
  EXPECT_TRUE(nodes.has_parameters(0));
  EXPECT_TRUE(nodes.same(0, nodes.value(0)));
  EXPECT_EQ(std::get<conditional_value>(nodes.value(1).data), condition);
  EXPECT_FALSE(nodes.same(1, {a_conditional, conditional_value{1, 1, 3, 6U}}));
  EXPECT_EQ(nodes.tag(2), "inner");
}

}  // namespace
}  // namespace cugraft::model
