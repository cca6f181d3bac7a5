// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "gpu/verdict_case.hpp"

// Each rule of `update_rules` against the driver: the change is made, handed to the setter of an
// executable and to the whole-graph call, and what is launched then shows who took it. The driver
// is the one of CUGRAFT_DRIVER, "system" for the machine's own; without it, a simulated one. What
// is printed is the table of docs/driver/verdicts.md.

namespace cugraft::testing {
namespace {

std::vector<verdict_case> cases() {
  std::vector<verdict_case> all = kernel_cases();
  for (auto* const more : {&copy_and_fill_cases, &other_cases})
    for (verdict_case& each : more()) all.push_back(std::move(each));
  return all;
}

std::string name_of(const ::testing::TestParamInfo<verdict_case>& info) {
  std::string name = info.param.rule + "_" + info.param.change;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

class Verdicts : public ::testing::TestWithParam<verdict_case> {
 protected:
  static void SetUpTestSuite() {
    const int version = stage().driver_.version();
    fmt::print(
        "| rule | change | predicted | setter of the executable | whole, from the graph | whole, "
        "from a capture afresh (driver {}.{}) |\n| --- | --- | --- | --- | --- | --- |\n",
        version / 1000, version % 1000 / 10);
  }
};

TEST_P(Verdicts, AreWhatTheDriverDoes) {
  const verdict_case& tried = GetParam();
  const verdict_row row = observe(tried);
  fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", row.rule, tried.change,
             to_string(row.predicted), row.setter.text(), row.whole.text(), row.recaptured.text());
  EXPECT_EQ(row.rule, tried.rule);
  EXPECT_NE(row.before, row.after) << "the change cannot be seen";
  if (row.predicted == verdict::patchable) {
    EXPECT_EQ(row.setter.code, 0);
    EXPECT_TRUE(row.setter.taken || !tried.is_visible) << row.setter.text();
  } else if (tried.is_visible) {
    for (const verdict_outcome& each : {row.setter, row.whole, row.recaptured})
      EXPECT_FALSE(each.code == 0 && each.taken) << "it was taken";
  }
  // What the update leaves behind is what was asked for, whatever the verdict.
  EXPECT_TRUE(row.updated_as_asked);
}

INSTANTIATE_TEST_SUITE_P(Rules, Verdicts, ::testing::ValuesIn(cases()), &name_of);

// Every rule has a case, or cannot have one.
TEST(VerdictCases, CoverTheRules) {
  std::set<std::string_view> covered{"graph.structure", "opaque",      "exec.unknown",
                                     "exec.origin",     "exec.single", "memory.fixed"};
  for (const verdict_case& each : cases()) covered.insert(find_update_rule(each.rule)->id);
  for (const update_rule& rule : update_rules()) EXPECT_TRUE(covered.contains(rule.id)) << rule.id;
}

}  // namespace
}  // namespace cugraft::testing
