// SPDX-License-Identifier: Apache-2.0
#include "cugraft/saved_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cugraft/render.hpp"
#include "support/expect.hpp"
#include "unit/render/json_schema.hpp"
#include "unit/render/samples.hpp"
#include "unit/render/saved_samples.hpp"

namespace cugraft {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void expect_refused(const std::string& json, const std::string& sentence) {
  try {
    saved_graph::load(json);
    ADD_FAILURE() << "was read: " << json;
  } catch (const format_error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr(sentence));
  }
}

std::string saved() { return to_json(sample_graph()); }

TEST(SavedGraphTest, WhatWasSavedIsReadBackWhole) {
  const saved_graph read = saved_graph::load(saved());
  EXPECT_EQ(read.size(), 12U);
  EXPECT_EQ(to_json(read), saved());
  EXPECT_EQ(to_text(read), to_text(sample_graph()));
  EXPECT_EQ(compare(sample_graph(), read).report().nodes_changed(), 0U);
}

TEST(SavedGraphTest, TheSchemaDescribesIt) {
  const auto schema =
      nlohmann::json::parse(std::ifstream(CUGRAFT_TEST_DATA "/../docs/schema/graph.schema.json"));
  EXPECT_THAT(testing::schema_errors(schema, nlohmann::json::parse(saved())), IsEmpty());
  EXPECT_EQ(schema["$defs"]["schema_version"]["const"], json_schema_version);
}

TEST(SavedGraphTest, AnEmptyGraphIsAGraph) {
  const saved_graph read = saved_graph::load(to_json(saved_graph()));
  EXPECT_EQ(read.size(), 0U);
  EXPECT_FALSE(read.is_dump());
}

TEST(SavedGraphTest, EveryTruncationIsRefused) {
  const std::string all = saved();
  for (std::size_t size = 0; size < all.size(); ++size)
    EXPECT_THROW(saved_graph::load(all.substr(0, size)), format_error) << size;
}

TEST(SavedGraphTest, ErrorsSayTheLineAndWhatWasExpected) {
  EXPECT_THROW_MSG(saved_graph::load("{\n\n  \"schema_version\": true}"), format_error,
                   "line 3: expected a whole number from 0 to 18446744073709551615, but there is "
                   "'true}'");
  EXPECT_THROW_MSG(saved_graph::load("[]"), format_error,
                   "line 1: expected an object, but there is '[]'");
  EXPECT_THROW_MSG(saved_graph::load("{}\n"), format_error,
                   "line 1: expected a member \"schema_version\" in the object that ends here");
  expect_refused(saved() + "x", "expected the end of the text, but there is 'x'");
}

TEST(SavedGraphTest, AnotherVersionIsRefused) {
  expect_refused(with(saved(), "\"schema_version\":1", "\"schema_version\":2"),
                 "expected schema_version 1, which this build reads, but there is '2,");
}

TEST(SavedGraphTest, WrongTypesAreRefused) {
  expect_refused(with(saved(), "\"kind\":\"kernel\"", "\"kind\":7"), "expected a string");
  expect_refused(with(saved(), "\"kind\":\"kernel\"", "\"kind\":\"nut\""), "a kind of node");
  expect_refused(with(saved(), "\"kind\":\"kernel\"", "\"kind\":\"copy\""),
                 "parameters of a node of kind copy");
  expect_refused(with(saved(), "\"grid\":[64,1,1]", "\"grid\":[64,1]"), "three extents");
  expect_refused(with(saved(), "\"grid\":[64,1,1]", "\"grid\":[64,1,4294967296]"),
                 "a whole number from 0 to 4294967295");
  expect_refused(with(saved(), "\"cooperative\":false", "\"cooperative\":0"), "true or false");
  expect_refused(with(saved(), "\"arguments\":\"00", "\"arguments\":\"0g"), "hexadecimal digits");
  expect_refused(with(saved(), "\"arguments\":\"00", "\"arguments\":\""), "12 bytes of arguments");
}

TEST(SavedGraphTest, WhatContradictsItselfIsRefused) {
  expect_refused(with(saved(), "{\"node\":0,", "{\"node\":11,"), "a node of the same level");
  expect_refused(with(saved(), "{\"node\":0,", "{\"node\":1,"), "without a cycle");
  expect_refused(with(saved(), "{\"node\":0,", "{\"node\":3,"), "without a cycle");
  expect_refused(with(saved(), "\"path\":\"1\"", "\"path\":\"2\""), "the path \"1\"");
  expect_refused(with(saved(), "\"count\":10", "\"count\":9"), "");
  expect_refused(with(saved(), "\"parent\":8,\"body\":1", "\"parent\":8,\"body\":0"),
                 "levels by ascending parent and body");
  expect_refused(with(saved(), "\"parent\":7", "\"parent\":70"), "a parent among the nodes");
  expect_refused(with(saved(), "\"generation\":3", "\"generation\":3,\"generation\":3"),
                 "one member \"generation\" only");
}

TEST(SavedGraphTest, DeepNestingIsRefusedBeforeItHarms) {
  const std::string deep(200'000, '[');
  expect_refused("{\"more\":" + deep, "values are nested more than 32 deep");
  std::string levels = "{\"parent\":null,\"body\":0,\"count\":1}";
  for (int i = 0; i < 100; ++i)
    levels += ",{\"parent\":" + std::to_string(i) + ",\"body\":0,\"count\":1}";
  expect_refused("{\"levels\":[" + levels + "],\"nodes\":[]}", "graphs nested up to 64 deep");
}

TEST(SavedGraphTest, MembersThatAreNotKnownAreSkipped) {
  const std::string more = with(saved(), "{", "{\"more\":[1.5e3,{\"a\":null},\"\\ud83d\\ude00\"],");
  EXPECT_EQ(to_json(saved_graph::load(more)), saved());
}

TEST(SavedGraphTest, NamesOfAllSortsComeBack) {
  auto state = sample_state();
  state->nodes.set_tag(0, "a \"b\" \\ \x01 \n </script> \xc3\xa4");
  const std::string json = to_json(saved_graph_of(state));
  EXPECT_EQ(to_json(saved_graph::load(json)), json);
}

TEST(CompareTest, ChangedNodesAreJudgedAsByAReCapture) {
  model::kernel_value changed = model::scale_kernel();
  model::set_argument(changed, 1, 2.0F);
  const change_report report = compare(sample_graph(), sample_graph(changed)).report();
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.nodes_total(), 12U);
  const node_change& change = report.changes()[0];
  EXPECT_EQ(to_string(change.path), "0");
  EXPECT_EQ(change.tag, "layer 0");
  EXPECT_EQ(change.rule, "kernel.arguments");
  EXPECT_EQ(change.fields[0].field, "argument[1]");
}

TEST(CompareTest, KernelsOfTwoProcessesAreComparedByName) {
  model::kernel_value moved = model::scale_kernel();
  moved.function = model::handle<CUfunction>(0x99);
  EXPECT_EQ(compare(sample_graph(), sample_graph(moved)).report().changes()[0].rule,
            "kernel.function");
  const recapture_result by_name =
      compare(sample_graph(), sample_graph(moved), {.kernels_by_name = true});
  EXPECT_EQ(by_name.report().nodes_changed(), 0U);
}

TEST(CompareTest, AnotherStructureIsAFailureThatNamesBothNodes) {
  const recapture_result found = compare(sample_graph(), saved_graph());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.failure().why, mismatch::node_count);
  EXPECT_THAT(found.failure().message, HasSubstr("node count 10 to 0, first difference at 0"));
  ASSERT_TRUE(found.failure().expected);
  EXPECT_EQ(found.failure().expected->name, "scale");
}

TEST(LoadReportTest, AReportIsReadBackWhole) {
  for (const change_report& report : {sample_report(), unchanged_report(), change_report()}) {
    const std::string json = to_json(report);
    EXPECT_EQ(to_json(load_report(json)), json);
    EXPECT_EQ(to_text(load_report(json)), to_text(report));
    for (std::size_t size = 0; size < json.size(); ++size)
      EXPECT_THROW(load_report(json.substr(0, size)), format_error) << size;
  }
}

TEST(LoadReportTest, WhatContradictsItselfIsRefused) {
  const std::string json = to_json(sample_report());
  EXPECT_THROW(load_report(with(json, "\"nodes_changed\":2", "\"nodes_changed\":3")), format_error);
  EXPECT_THROW(load_report(with(json, "\"path\":\"3\"", "\"path\":\"3/\"")), format_error);
  EXPECT_THROW_MSG(load_report(with(json, "\"native\"", "\"nature\"")), format_error,
                   "line 1: expected one of automatic, native, compare, direct, but there is "
                   "'\"nature\",\"nodes_tota'");
}

}  // namespace
}  // namespace cugraft
