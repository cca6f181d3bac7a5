// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "sim/ptx/instruction_runner.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::combine;
using testing::evaluate;
using testing::expect_results;
using testing::float_corners;
using testing::integer_corners;
using testing::operand_row;
using results = std::vector<std::uint64_t>;

std::string select(const std::string& comparison) {
  return comparison + "\nselp.u32 %d, 1, 0, %p;";
}

template <class T>
using relation = std::function<bool(T, T)>;

template <class T>
std::map<std::string, relation<T>> relations() {
  return {{"eq", std::equal_to<T>()}, {"ne", std::not_equal_to<T>()},
          {"lt", std::less<T>()},     {"le", std::less_equal<T>()},
          {"gt", std::greater<T>()},  {"ge", std::greater_equal<T>()}};
}

template <class T>
void expect_integer_relations(const std::string& type) {
  for (const auto& [name, holds] : relations<T>())
    expect_results({select("setp." + name + "." + type + " %p, %a, %b;"), 32, {64, 64, 32, 32}},
                   combine(integer_corners(), 2), [&holds = holds](const operand_row& row) {
                     return std::uint64_t{holds(static_cast<T>(row[0]), static_cast<T>(row[1]))};
                   });
}

TEST(CompareTest, Integers) {
  expect_integer_relations<std::uint64_t>("u64");
  expect_integer_relations<std::int64_t>("s64");
}

TEST(CompareTest, IntegersOf32Bits) {
  const auto rows = combine(integer_corners(), 2);
  expect_results({select("setp.lt.s32 %p, %a, %b;")}, rows, [](const operand_row& row) {
    return std::uint64_t{static_cast<std::int32_t>(row[0]) < static_cast<std::int32_t>(row[1])};
  });
  for (const std::string name : {"lo", "lt"})
    expect_results({select("setp." + name + ".u32 %p, %a, %b;")}, rows, [](const operand_row& row) {
      return std::uint64_t{static_cast<std::uint32_t>(row[0]) < static_cast<std::uint32_t>(row[1])};
    });
}

TEST(CompareTest, RealNumbersOrderedAndUnordered) {
  for (const auto& [name, holds] : relations<float>()) {
    for (const bool unordered : {false, true}) {
      const std::string opcode = "setp." + name + (unordered ? "u" : "") + ".f32 %p, %a, %b;";
      expect_results({select(opcode)}, combine(float_corners(), 2),
                     [&holds = holds, unordered](const operand_row& row) {
                       const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(row[0]));
                       const auto b = std::bit_cast<float>(static_cast<std::uint32_t>(row[1]));
                       if (std::isnan(a) || std::isnan(b)) return std::uint64_t{unordered};
                       return std::uint64_t{holds(a, b)};
                     });
    }
  }
}

TEST(CompareTest, NumbersAndNan) {
  const std::vector<operand_row> rows{{0, 0}, {0x7FFFFFFF, 0}, {0, 0x7FFFFFFF}};
  EXPECT_EQ(evaluate({select("setp.num.f32 %p, %a, %b;")}, rows), (results{1, 0, 0}));
  EXPECT_EQ(evaluate({select("setp.nan.f32 %p, %a, %b;")}, rows), (results{0, 1, 1}));
}

TEST(CompareTest, FlushedNumbersAreZero) {
  const std::vector<operand_row> rows{{1, 0}};  // a subnormal number and zero
  EXPECT_EQ(evaluate({select("setp.gt.f32 %p, %a, %b;")}, rows), (results{1}));
  EXPECT_EQ(evaluate({select("setp.gt.ftz.f32 %p, %a, %b;")}, rows), (results{0}));
}

TEST(CompareTest, CombinesWithAPredicate) {
  const auto rows = combine({0, 1}, 2);  // a: the comparison, b: the predicate
  const std::string before = "setp.ne.u32 %q, %b, 0;\n";
  const auto combined = [&](const std::string& how) {
    return evaluate({select(before + "setp.ne." + how + ";")}, rows);
  };
  EXPECT_EQ(combined("and.u32 %p, %a, 0, %q"), (results{0, 0, 0, 1}));
  EXPECT_EQ(combined("or.u32 %p, %a, 0, %q"), (results{0, 1, 1, 1}));
  EXPECT_EQ(combined("xor.u32 %p, %a, 0, %q"), (results{0, 1, 1, 0}));
  EXPECT_EQ(combined("and.u32 %p, %a, 0, !%q"), (results{0, 0, 1, 0}));
}

TEST(CompareTest, SecondPredicateIsTheOpposite) {
  const std::string text =
      "setp.lt.u32 %p|%q, %a, %b;\n.reg .b32 %x, %y;\nselp.u32 %x, 1, 0, %p;\n"
      "selp.u32 %y, 2, 0, %q;\nor.b32 %d, %x, %y;";
  EXPECT_EQ(evaluate({text}, {{1, 2}, {2, 1}}), (results{1, 2}));
}

TEST(CompareTest, SetGivesAValue) {
  const std::vector<operand_row> rows{{1, 2}, {2, 1}};
  EXPECT_EQ(evaluate({"set.lt.u32.s32 %d, %a, %b;"}, rows), (results{0xFFFFFFFF, 0}));
  EXPECT_EQ(evaluate({"set.lt.f32.s32 %d, %a, %b;"}, rows), (results{0x3F800000, 0}));
}

TEST(CompareTest, Selects) {
  EXPECT_EQ(
      evaluate({"setp.ne.u32 %p, %c, 0;\nselp.b32 %d, %a, %b, %p;"}, {{5, 6, 1, 0}, {5, 6, 0, 0}}),
      (results{5, 6}));
  EXPECT_EQ(evaluate({"slct.u32.s32 %d, %a, %b, %c;"},
                     {{5, 6, 0, 0}, {5, 6, 0x80000000, 0}, {5, 6, 7, 0}}),
            (results{5, 6, 5}));
}

TEST(CompareTest, GuardsSkipInstructions) {
  EXPECT_EQ(evaluate({"setp.ne.u32 %p, %a, 0;\nmov.u32 %d, 1;\n@%p mov.u32 %d, 2;\n"
                      "@!%p mov.u32 %d, 3;"},
                     {{0}, {1}}),
            (results{3, 2}));
}

}  // namespace
}  // namespace cugraft_sim::ptx
