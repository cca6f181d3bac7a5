// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cugraft/render.hpp"
#include "support/expect.hpp"
#include "unit/render/saved_samples.hpp"

// Dumps of a driver: the language is documented, what stands in a label is not.

namespace cugraft {
namespace {

using ::testing::HasSubstr;

// As the simulated driver prints it.
const std::string lines = R"(digraph dot {
subgraph cluster_1 {
label="graph_1" graph[style="dashed"];
"graph_1_node_0"[shape="rectangle" label="0\nKERNEL\nscale\ngrid 8 1 1\nblock 32 1 1\nshared 0\nhandle 1"];
"graph_1_node_1"[shape="rectangle" label="1\nMEMCPY\n64 x 1 x 1\nhandle 2"];
"graph_1_node_2"[shape="rectangle" label="2\nGRAPH\nhandle 3"];
"graph_1_node_0" -> "graph_1_node_1";
"graph_1_node_0" -> "graph_1_node_2"[style="dashed"];
}
subgraph cluster_2 {
"graph_2_node_0"[label="0\nMEMSET\n100 x 1 of 7"];
}
}
)";

// Tables in a record, as drivers of NVIDIA are known to draw with all flags.
const std::string record = R"(digraph dot {
subgraph cluster_0 {
"graph_0_node_0"[style="bold" shape="record" label="{KERNEL
| {ID | 0 (topoId: 3) | scale\<\<\<8,32,0\>\>\>}
| {{node handle | func handle} | {0x000055A0 | 0x000066B0}}
| {cooperative | 0}
| {accessPolicyWindow | {base_ptr | num_bytes} | {0x0 | 0}}
}"];
}
}
)";

TEST(DumpTest, NodesEdgesAndGraphsInsideAreRead) {
  const saved_graph graph = saved_graph::load_dot(lines);
  EXPECT_TRUE(graph.is_dump());
  EXPECT_EQ(
      to_text(graph),
      "4 nodes, a driver's dump\n"
      "  0 kernel \"scale\"\n    grid: 8 1 1\n    block: 32 1 1\n    shared: 0\n    handle: 1\n"
      "  1 copy after 0\n    width: 64\n    height: 1\n    depth: 1\n    handle: 2\n"
      "  2 child_graph after 0\n    handle: 3\n"
      "graph inside of 2, 1 node\n"
      "  2/0 fill\n    value: 7\n    width: 100\n    height: 1\n");
}

TEST(DumpTest, TablesBecomeFields) {
  EXPECT_EQ(to_text(saved_graph::load_dot(record)),
            "1 node, a driver's dump\n"
            "  0 kernel \"scale\"\n    grid: 8\n    block: 32\n    shared: 0\n"
            "    node handle: 0x000055A0\n    func handle: 0x000066B0\n    cooperative: 0\n"
            "    accessPolicyWindow.base_ptr: 0x0\n    accessPolicyWindow.num_bytes: 0\n");
}

std::string rule_of(const std::string& dump, const std::string& from, const std::string& to) {
  const change_report report =
      compare(saved_graph::load_dot(dump), saved_graph::load_dot(with(dump, from, to))).report();
  return report.nodes_changed() == 0 ? "none" : report.changes()[0].rule;
}

TEST(DumpTest, FieldsGoByTheRulesThatAreKnown) {
  EXPECT_EQ(rule_of(lines, "grid 8", "grid 9"), "kernel.grid");
  EXPECT_EQ(rule_of(lines, "scale", "other"), "kernel.function.foreign");
  EXPECT_EQ(rule_of(lines, "64 x 1", "32 x 1"), "copy.size");
  EXPECT_EQ(rule_of(lines, "64 x 1", "64 x 2"), "opaque");
  EXPECT_EQ(rule_of(lines, "of 7", "of 8"), "fill.1d");
  EXPECT_EQ(rule_of(lines, "100 x 1", "100 x 2"), "fill.rows");
  EXPECT_EQ(rule_of(lines, "handle 1", "handle 9"), "none");
  EXPECT_EQ(rule_of(record, "0x000055A0", "0x000055A1"), "none");
  EXPECT_EQ(rule_of(record, "(topoId: 3)", "(topoId: 4)"), "none");
  EXPECT_EQ(rule_of(record, "8,32,0", "8,64,0"), "kernel.block");
  EXPECT_EQ(rule_of(record, "cooperative | 0", "cooperative | 1"), "kernel.cooperative");
  EXPECT_EQ(rule_of(record, "{0x0 | 0}", "{0x0 | 4}"), "kernel.attribute");
}

TEST(DumpTest, AnotherStructureIsAFailure) {
  const recapture_result found =
      compare(saved_graph::load_dot(lines), saved_graph::load_dot(record));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.failure().why, mismatch::node_count);
}

TEST(DumpTest, ADumpIsNoSavedGraph) {
  const saved_graph dump = saved_graph::load_dot(lines);
  EXPECT_THROW(static_cast<void>(compare(dump, sample_graph())), usage_error);
  EXPECT_THROW(to_json(dump), usage_error);
}

TEST(DumpTest, EveryTruncationIsRefused) {
  for (const std::string& dump : {lines, record})
    for (std::size_t size = 0; size < dump.rfind('}'); ++size)
      EXPECT_THROW(saved_graph::load_dot(dump.substr(0, size)), format_error) << size;
}

TEST(DumpTest, ErrorsSayTheLineAndWhatWasExpected) {
  const auto refused = [](const std::string& dot, const std::string& sentence) {
    EXPECT_THROW_MSG(saved_graph::load_dot(dot), format_error, sentence);
  };
  refused("graph {}", "line 1: expected digraph, but there is 'graph'");
  refused("digraph {\n a -- b }",
          "line 2: expected '->', since the graph is directed, but there is '--'");
  refused("digraph {\n a", "line 2: expected '}', but the text ends");
  refused("digraph {\n\n a [label=\"x }",
          "line 3: expected the end of the string that begins here, but the text ends");
  refused("digraph {\n a }", "line 2: expected a label of the node \"a\"");
  refused("digraph { a -> subgraph b {} }",
          "line 1: expected a node at the end of an edge, not a subgraph, but there is 'subgraph'");
  refused("digraph { a [label=\"{x\"] }",
          "line 1: expected a '}' for each '{' in the label of this node");
  refused("digraph { /* }", "line 1: expected the end of the comment that begins here");
  refused("digraph { a [label=x] } }", "line 1: expected the end of the text, but there is '}'");
  refused("digraph { a [label=x] a -> a }",
          "line 1: expected dependencies without a cycle, as there is over node 0");
}

TEST(DumpTest, DeepNestingIsRefusedBeforeItHarms) {
  std::string deep = "digraph ";
  for (int i = 0; i < 100'000; ++i) deep += '{';
  EXPECT_THROW(saved_graph::load_dot(deep), format_error);
  EXPECT_THROW(saved_graph::load_dot("digraph { a [label=\"" + std::string(100'000, '{') + "\"] }"),
               format_error);
  EXPECT_THROW(saved_graph::load_dot("digraph { a [label=" + std::string(100'000, '<') + "] }"),
               format_error);
}

TEST(DumpTest, BodiesThatCannotBeToldApartAreRefused) {
  std::string two = with(lines, "GRAPH", "CONDITIONAL");
  EXPECT_EQ(saved_graph::load_dot(two).size(), 4U);
  two = with(two, "subgraph cluster_2 {", "subgraph cluster_3 { }\nsubgraph cluster_2 {");
  EXPECT_THROW(saved_graph::load_dot(two), format_error);
}

}  // namespace
}  // namespace cugraft
