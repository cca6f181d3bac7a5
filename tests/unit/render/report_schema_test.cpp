// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "cugraft/render.hpp"
#include "unit/render/json_schema.hpp"
#include "unit/render/samples.hpp"

namespace cugraft {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

nlohmann::json report_schema() {
  return nlohmann::json::parse(
      std::ifstream(CUGRAFT_TEST_DATA "/../docs/schema/report.schema.json"));
}

// Errors by the schema of `type` alone, which say more than that none of three fits.
std::vector<std::string> errors_as(const std::string& type, const std::string& text) {
  nlohmann::json schema = report_schema();
  schema.erase("oneOf");
  schema["$ref"] = "#/$defs/" + type;
  const auto value = nlohmann::json::parse(text);
  auto result = testing::schema_errors(schema, value);
  if (result.empty()) result = testing::schema_errors(report_schema(), value);
  return result;
}

TEST(ReportSchemaTest, ReportsFit) {
  EXPECT_THAT(errors_as("change_report", to_json(sample_report())), IsEmpty());
  EXPECT_THAT(errors_as("change_report", to_json(unchanged_report())), IsEmpty());
  EXPECT_THAT(errors_as("change_report", to_json(change_report())), IsEmpty());
}

TEST(ReportSchemaTest, FailuresFit) {
  EXPECT_THAT(errors_as("recapture_failure", to_json(sample_failure())), IsEmpty());
  EXPECT_THAT(errors_as("recapture_failure", to_json(recapture_failure())), IsEmpty());
  recapture_failure failure = sample_failure();
  for (int why = 0; why <= static_cast<int>(mismatch::driver_failure); ++why) {
    failure.why = static_cast<mismatch>(why);
    EXPECT_THAT(errors_as("recapture_failure", to_json(failure)), IsEmpty());
  }
}

TEST(ReportSchemaTest, UpdatesFit) {
  EXPECT_THAT(errors_as("exec_update", to_json(sample_update())), IsEmpty());
  EXPECT_THAT(errors_as("exec_update", to_json(refused_update())), IsEmpty());
}

TEST(ReportSchemaTest, VersionIsThatOfTheHeader) {
  EXPECT_EQ(report_schema()["$defs"]["schema_version"]["const"], json_schema_version);
}

TEST(ReportSchemaTest, EveryMemberIsRequired) {
  const nlohmann::json definitions = report_schema()["$defs"];
  for (const auto& [name, definition] : definitions.items()) {
    if (!definition.contains("properties")) continue;
    std::set<std::string> members;
    for (const auto& [member, schema] : definition["properties"].items()) members.insert(member);
    EXPECT_EQ(definition["required"].get<std::set<std::string>>(), members) << name;
  }
}

// So that "it fits" means something.
TEST(ReportSchemaTest, WhatDoesNotFitIsSeen) {
  const auto edited = [](auto edit) {
    auto value = nlohmann::json::parse(to_json(sample_report()));
    edit(value);
    return errors_as("change_report", value.dump());
  };
  EXPECT_THAT(edited([](auto& v) { v["extra"] = 1; }), ElementsAre(": unknown member extra"));
  EXPECT_THAT(edited([](auto& v) { v.erase("overall"); }), ElementsAre(": no member \"overall\""));
  EXPECT_THAT(edited([](auto& v) { v["generation"] = "3"; }),
              ::testing::Contains("/generation: type \"integer\""));
  EXPECT_THAT(edited([](auto& v) { v["changes"][0]["path"] = "5[0]/2"; }),
              ::testing::Contains(::testing::StartsWith("/changes/0/path: pattern")));
  EXPECT_THAT(edited([](auto& v) { v["changes"][1]["native_status"] = "fine"; }),
              ::testing::Contains(::testing::StartsWith("/changes/1/native_status: enum")));
  EXPECT_THAT(edited([](auto& v) { v["timing"]["apply"] = -1; }),
              ::testing::Contains("/timing/apply: minimum 0"));
  EXPECT_THAT(edited([](auto& v) { v["schema_version"] = 2; }),
              ::testing::Contains("/schema_version: const 1"));
}

}  // namespace
}  // namespace cugraft
