// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "model/difference.hpp"
#include "unit/model/samples.hpp"

namespace cugraft::model {
namespace {

struct decision {
  verdict effect;
  std::string_view rule;
  friend bool operator==(const decision&, const decision&) = default;
  friend std::ostream& operator<<(std::ostream& out, const decision& shown) {
    return out << to_string(shown.effect) << " by " << shown.rule;
  }
};

decision patch(std::string_view rule) { return {verdict::patchable, rule}; }
decision anew(std::string_view rule) { return {verdict::needs_instantiate, rule}; }

template <class Value, class Edit>
decision judged(const Value& value, Edit&& edit, const exec_traits& traits = {}) {
  Value other = value;
  edit(other);
  const judgement result = judge(node_of(value), node_of(other), traits);
  return {result.effect, result.rule == nullptr ? "" : result.rule->id};
}

void change_factor(kernel_value& kernel) { set_argument(kernel, 1, 2.0F); }

TEST(JudgeTest, NothingChanged) {
  EXPECT_EQ(judged(scale_kernel(), [](auto&) {}), (decision{verdict::unchanged, ""}));
}

TEST(JudgeTest, KernelsArePatched) {
  const auto rule = [](auto edit) { return judged(scale_kernel(), edit); };
  EXPECT_EQ(rule(change_factor), patch("kernel.arguments"));
  EXPECT_EQ(rule([](kernel_value& k) { k.grid = dim3(8); }), patch("kernel.grid"));
  EXPECT_EQ(rule([](kernel_value& k) { k.block = dim3(8); }), patch("kernel.block"));
  EXPECT_EQ(rule([](kernel_value& k) { k.shared_memory_bytes = 8; }),
            patch("kernel.shared_memory"));
  EXPECT_EQ(rule([](kernel_value& k) { k.function = handle<CUfunction>(0x52); }),
            patch("kernel.function"));
}

// The driver answers with success and keeps the old size (C052).
TEST(JudgeTest, AClusterNeedsANewExecutable) {
  kernel_value kernel = scale_kernel();
  kernel.attributes.cluster = dim3(1);
  EXPECT_EQ(judged(kernel, [](kernel_value& k) { k.attributes.cluster = dim3(2); }),
            anew("kernel.cluster"));
  EXPECT_EQ(judged(scale_kernel(), [](kernel_value& k) { k.attributes.cluster = dim3(2); }),
            anew("kernel.cluster"));
}

TEST(JudgeTest, OtherAttributesNeedANewExecutable) {
  EXPECT_EQ(judged(scale_kernel(), [](kernel_value& k) { k.attributes.cooperative = true; }),
            anew("kernel.cooperative"));
  EXPECT_EQ(judged(scale_kernel(),
                   [](kernel_value& k) { k.attributes.others = {attribute_of(10, {1})}; }),
            anew("kernel.attribute"));
}

// C082.
TEST(JudgeTest, APriorityCountsWhereTheExecutableUsesIt) {
  const auto edit = [](kernel_value& k) { k.attributes.priority = -1; };
  EXPECT_EQ(judged(scale_kernel(), edit), patch("kernel.priority"));
  EXPECT_EQ(judged(scale_kernel(), edit, {.node_priority = true}), anew("kernel.priority_in_use"));
}

// C053.
TEST(JudgeTest, AnotherFunctionOfAForeignLaunchHasItsOwnRule) {
  for (const known known_to : {known::nothing, known::semantic}) {
    kernel_value foreign = scale_kernel();
    foreign.attributes.known_to = known_to;
    EXPECT_EQ(judged(foreign,
                     [](kernel_value& k) {
                       k.function = handle<CUfunction>(0x52);
                       change_factor(k);
                     }),
              patch("kernel.function.foreign"));
    EXPECT_EQ(judged(foreign,
                     [](kernel_value& k) {
                       k.function = handle<CUfunction>(0x52);
                       k.attributes.known_to = known::everything;
                     }),
              patch("kernel.function.foreign"));
    EXPECT_EQ(judged(foreign, change_factor), patch("kernel.arguments"));
  }
}

TEST(JudgeTest, TheStrictestRuleDecidesThenTheMostTelling) {
  EXPECT_EQ(judged(scale_kernel(),
                   [](kernel_value& k) {
                     change_factor(k);
                     k.grid = dim3(8);
                   }),
            patch("kernel.grid"));
  EXPECT_EQ(judged(scale_kernel(),
                   [](kernel_value& k) {
                     change_factor(k);
                     k.function = handle<CUfunction>(0x52);
                     k.attributes.cooperative = true;
                   }),
            anew("kernel.cooperative"));
}

TEST(JudgeTest, CopiesOfOneRow) {
  const auto rule = [](auto edit) { return judged(row_copy(), edit); };
  EXPECT_EQ(rule([](copy_value& c) { c.source.address++; }), patch("copy.address"));
  EXPECT_EQ(rule([](copy_value& c) { c.destination.address++; }), patch("copy.address"));
  EXPECT_EQ(rule([](copy_value& c) { c.destination.x = 8; }), patch("copy.address"));
  EXPECT_EQ(rule([](copy_value& c) { c.width_bytes = 32; }), patch("copy.size"));
  EXPECT_EQ(rule([](copy_value& c) {
              c.source.memory_kind = memory_kind_device;
              c.source.address = 0x302000000;
            }),
            anew("copy.memory_kind"));
}

TEST(JudgeTest, CopiesOfSeveralRowsOrArraysNeedANewExecutable) {
  const auto rule = [](auto edit) { return judged(block_copy(), edit); };
  EXPECT_EQ(rule([](copy_value& c) { c.source.address++; }), anew("copy.2d"));
  EXPECT_EQ(rule([](copy_value& c) { c.width_bytes++; }), anew("copy.2d"));
  EXPECT_EQ(rule([](copy_value& c) { c.source.pitch++; }), anew("copy.2d"));
  EXPECT_EQ(rule([](copy_value& c) { c.height = 1; }), anew("copy.2d"));
  EXPECT_EQ(judged(row_copy(), [](copy_value& c) { c.height = 2; }), anew("copy.2d"));
  EXPECT_EQ(judged(row_copy(), [](copy_value& c) { c.depth = 2; }), anew("copy.2d"));
  copy_value array = row_copy();
  array.destination.memory_kind = memory_kind_array;
  EXPECT_EQ(judged(array, [](copy_value& c) { c.source.address++; }), anew("copy.2d"));
}

TEST(JudgeTest, FillsOfOneRow) {
  const auto rule = [](auto edit) { return judged(row_fill(), edit); };
  EXPECT_EQ(rule([](fill_value& f) { f.value = 1; }), patch("fill.1d"));
  EXPECT_EQ(rule([](fill_value& f) { f.destination++; }), patch("fill.1d"));
  EXPECT_EQ(rule([](fill_value& f) { f.width = 50; }), patch("fill.1d"));
  EXPECT_EQ(rule([](fill_value& f) { f.element_size = 1; }), patch("fill.1d"));
}

TEST(JudgeTest, FillsOfSeveralRows) {
  const auto rule = [](auto edit) { return judged(block_fill(), edit); };
  EXPECT_EQ(rule([](fill_value& f) { f.value = 1; }), patch("fill.2d.value"));
  EXPECT_EQ(rule([](fill_value& f) { f.destination++; }), patch("fill.2d.value"));
  EXPECT_EQ(rule([](fill_value& f) { f.width = 50; }), anew("fill.2d.shape"));
  EXPECT_EQ(rule([](fill_value& f) { f.height = 4; }), anew("fill.2d.shape"));
  EXPECT_EQ(rule([](fill_value& f) { f.pitch = 512; }), anew("fill.2d.shape"));
  EXPECT_EQ(rule([](fill_value& f) { f.element_size = 2; }), anew("fill.2d.shape"));
}

TEST(JudgeTest, FillsThatChangeBetweenOneRowAndSeveral) {
  const auto rows = [](fill_value& f) { f.height = 2; };
  const auto row = [](fill_value& f) {
    f.height = 1;
    f.value = 1;
  };
  EXPECT_EQ(judged(row_fill(), rows), anew("fill.rows"));
  EXPECT_EQ(judged(block_fill(), row), anew("fill.rows"));
}

TEST(JudgeTest, HostFunctionsAndEventsArePatched) {
  EXPECT_EQ(judged(host_value{1, 2}, [](host_value& h) { h.function = 3; }),
            patch("host.function"));
  EXPECT_EQ(judged(host_value{1, 2}, [](host_value& h) { h.user_data = 3; }),
            patch("host.function"));
  EXPECT_EQ(judged(event_value{}, [](event_value& e) { e.event = handle<CUevent>(1); }),
            patch("event.event"));
}

TEST(JudgeTest, WhatWasNotReadNeedsANewExecutable) {
  const judgement result = judge(node_of(scale_kernel()), {node_kind::kernel, opaque_value{}, {}});
  EXPECT_EQ(result.effect, verdict::needs_instantiate);
  EXPECT_EQ(result.rule, find_update_rule("opaque"));
}

TEST(UpdateRulesTest, EachIsFoundByItsId) {
  std::set<std::string_view> ids;
  for (const update_rule& rule : update_rules()) {
    EXPECT_EQ(find_update_rule(rule.id), &rule);
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_TRUE(rule.source.starts_with("driver facts, ") ||
                rule.source.starts_with("driver rules "))
        << rule.id;
    EXPECT_TRUE(rule.text.ends_with('.')) << rule.id;
    EXPECT_NE(rule.effect, verdict::unchanged) << rule.id;
  }
  EXPECT_EQ(find_update_rule("kernel"), nullptr);
  EXPECT_EQ(find_update_rule(""), nullptr);
}

// The two that warn of what the driver does in silence.
TEST(UpdateRulesTest, WordsOfTheWarnings) {
  EXPECT_EQ(find_update_rule("kernel.cluster")->text,
            "An executable keeps its cluster sizes: the driver answers an update with success and "
            "goes on running the old one. Instantiate anew.");
  EXPECT_EQ(
      find_update_rule("kernel.function.foreign")->text,
      "The function can be patched. The kernel was not launched by cugraft: launch attributes "
      "that this driver does not let read may differ and would not be carried over. Launch it "
      "through cugraft, or instantiate anew if it uses such attributes.");
}

}  // namespace
}  // namespace cugraft::model
