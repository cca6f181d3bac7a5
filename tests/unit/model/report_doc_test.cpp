// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "model/difference.hpp"

// docs/report.md names every field and every rule, and no more.

namespace cugraft {
namespace {

using ::testing::HasSubstr;

std::string document() {
  std::ostringstream text;
  text << std::ifstream(CUGRAFT_TEST_DATA "/../docs/report.md").rdbuf();
  return text.str();
}

TEST(ReportDocTest, NamesEveryField) {
  const std::string text = document();
  for (int i = 0; i <= static_cast<int>(model::field::parameters); ++i) {
    const auto name = model::name_of(static_cast<model::field>(i));
    const bool indexed = name == "argument" || name == "attribute";
    EXPECT_THAT(text, HasSubstr(fmt::format("`{}{}", name, indexed ? "[" : "`")));
  }
}

TEST(ReportDocTest, HasEveryRule) {
  const std::string text = document();
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = text.find("\n| `", at)) != std::string::npos; ++at)
    if (find_update_rule(text.substr(at + 4, text.find('`', at + 4) - at - 4)) != nullptr) ++rows;
  EXPECT_EQ(rows, update_rules().size());
  for (const update_rule& rule : update_rules())
    EXPECT_THAT(text, HasSubstr(fmt::format("\n| `{}` | `{}` | {} ({}) |\n", rule.id,
                                            to_string(rule.effect), rule.text, rule.source)));
}

}  // namespace
}  // namespace cugraft
