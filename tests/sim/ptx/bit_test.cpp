// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "sim/ptx/instruction_runner.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::combine;
using testing::evaluate;
using testing::expect_results;
using testing::instruction_form;
using testing::integer_corners;
using testing::operand_row;

const std::array<unsigned, 4> doubles{64, 64, 64, 64};

std::uint64_t low32(std::uint64_t bits) { return bits & 0xFFFFFFFF; }

TEST(BitInstructionTest, Logic) {
  const auto rows = combine(integer_corners(), 2);
  expect_results({"and.b64 %d, %a, %b;", 64, doubles}, rows,
                 [](const operand_row& row) { return row[0] & row[1]; });
  expect_results({"or.b32 %d, %a, %b;"}, rows,
                 [](const operand_row& row) { return low32(row[0] | row[1]); });
  expect_results({"xor.b16 %d, %a, %b;", 16, {16, 16, 16, 16}}, rows,
                 [](const operand_row& row) { return (row[0] ^ row[1]) & 0xFFFF; });
  expect_results({"not.b64 %d, %a;", 64, doubles}, rows,
                 [](const operand_row& row) { return ~row[0]; });
  expect_results({"cnot.b32 %d, %a;"}, rows,
                 [](const operand_row& row) { return std::uint64_t{low32(row[0]) == 0}; });
}

TEST(BitInstructionTest, LogicOfPredicates) {
  const std::string before = ".reg .pred %s;\nsetp.ne.u32 %p, %a, 0;\nsetp.ne.u32 %q, %b, 0;\n";
  const std::string after = "selp.u32 %d, 1, 0, %s;";
  const auto rows = combine({0, 1}, 2);
  expect_results({before + "and.pred %s, %p, %q;\n" + after}, rows,
                 [](const operand_row& row) { return row[0] & row[1]; });
  expect_results({before + "or.pred %s, %p, %q;\n" + after}, rows,
                 [](const operand_row& row) { return row[0] | row[1]; });
  expect_results({before + "xor.pred %s, %p, %q;\n" + after}, rows,
                 [](const operand_row& row) { return row[0] ^ row[1]; });
  expect_results({before + "not.pred %s, %p;\n" + after}, rows,
                 [](const operand_row& row) { return row[0] ^ 1; });
}

TEST(BitInstructionTest, ShiftsByTheWidthOrMoreLeaveNothingButTheSign) {
  const auto rows = combine(integer_corners(), 2);
  expect_results({"shl.b32 %d, %a, %b;"}, rows, [](const operand_row& row) {
    return low32(row[1]) < 32 ? low32(row[0] << low32(row[1])) : 0;
  });
  expect_results({"shr.u32 %d, %a, %b;"}, rows, [](const operand_row& row) {
    return low32(row[1]) < 32 ? low32(row[0]) >> low32(row[1]) : 0;
  });
  expect_results({"shr.s32 %d, %a, %b;"}, rows, [](const operand_row& row) {
    const auto a = static_cast<std::int32_t>(row[0]);
    return low32(
        static_cast<std::uint64_t>(std::int64_t{a} >> std::min<std::uint64_t>(low32(row[1]), 31)));
  });
  expect_results({"shr.s64 %d, %a, %b;", 64, {64, 32, 32, 32}}, rows, [](const operand_row& row) {
    const auto a = static_cast<std::int64_t>(row[0]);
    return static_cast<std::uint64_t>(a >> std::min<std::uint64_t>(low32(row[1]), 63));
  });
  expect_results({"shl.b16 %d, %a, %b;", 16, {16, 32, 32, 32}}, rows, [](const operand_row& row) {
    return low32(row[1]) < 16 ? row[0] << low32(row[1]) & 0xFFFF : 0;
  });
}

TEST(BitInstructionTest, FunnelShifts) {
  const std::vector<operand_row> rows{{0x89ABCDEF, 0x01234567, 8, 0},
                                      {0x89ABCDEF, 0x01234567, 40, 0}};
  const auto results = [&rows](const std::string& opcode) {
    return evaluate({opcode + ".b32 %d, %a, %b, %c;"}, rows);
  };
  EXPECT_EQ(results("shf.l.wrap"), (std::vector<std::uint64_t>{0x23456789, 0x23456789}));
  EXPECT_EQ(results("shf.r.wrap"), (std::vector<std::uint64_t>{0x6789ABCD, 0x6789ABCD}));
  EXPECT_EQ(results("shf.l.clamp"), (std::vector<std::uint64_t>{0x23456789, 0x89ABCDEF}));
  EXPECT_EQ(results("shf.r.clamp"), (std::vector<std::uint64_t>{0x6789ABCD, 0x01234567}));
}

TEST(BitInstructionTest, Counts) {
  const std::vector<operand_row> rows{{0}, {1}, {0x80000000}, {0x00F00000}, {0xFFFFFFFF}};
  EXPECT_EQ(evaluate({"popc.b32 %d, %a;"}, rows), (std::vector<std::uint64_t>{0, 1, 1, 4, 32}));
  EXPECT_EQ(evaluate({"clz.b32 %d, %a;"}, rows), (std::vector<std::uint64_t>{32, 31, 0, 8, 0}));
  EXPECT_EQ(evaluate({"brev.b32 %d, %a;"}, rows),
            (std::vector<std::uint64_t>{0, 0x80000000, 1, 0xF00, 0xFFFFFFFF}));
  EXPECT_EQ(evaluate({"popc.b64 %d, %a;", 32, doubles}, {{0xF0000000000000F0}}),
            (std::vector<std::uint64_t>{8}));
  EXPECT_EQ(evaluate({"clz.b64 %d, %a;", 32, doubles}, {{0}, {1}}),
            (std::vector<std::uint64_t>{64, 63}));
  EXPECT_EQ(evaluate({"brev.b64 %d, %a;", 64, doubles}, {{0x3}}),
            (std::vector<std::uint64_t>{0xC000000000000000}));
}

TEST(BitInstructionTest, FindsTheHighestBitThatIsNotTheSign) {
  const std::vector<operand_row> rows{{0}, {1}, {0x80000000}, {0xFFFFFFFE}, {0xFFFFFFFF}};
  EXPECT_EQ(evaluate({"bfind.u32 %d, %a;"}, rows),
            (std::vector<std::uint64_t>{0xFFFFFFFF, 0, 31, 31, 31}));
  EXPECT_EQ(evaluate({"bfind.s32 %d, %a;"}, rows),
            (std::vector<std::uint64_t>{0xFFFFFFFF, 0, 30, 0, 0xFFFFFFFF}));
  EXPECT_EQ(evaluate({"bfind.shiftamt.u32 %d, %a;"}, rows),
            (std::vector<std::uint64_t>{0xFFFFFFFF, 31, 0, 0, 0}));
}

TEST(BitInstructionTest, ExtractsFieldsWithTheirSign) {
  const auto extract = [](const std::string& type, std::uint64_t a, std::uint64_t begin,
                          std::uint64_t count) {
    return evaluate({"bfe." + type + " %d, %a, %b, %c;"}, {{a, begin, count, 0}}).front();
  };
  EXPECT_EQ(extract("u32", 0x12345678, 8, 8), 0x56U);
  EXPECT_EQ(extract("s32", 0x1234F678, 8, 8), 0xFFFFFFF6U);
  EXPECT_EQ(extract("u32", 0x87654321, 28, 8), 0x8U);         // beyond the top: zeros
  EXPECT_EQ(extract("s32", 0x87654321, 28, 8), 0xFFFFFFF8U);  // beyond the top: the sign
  EXPECT_EQ(extract("u32", 0x12345678, 0, 0), 0U);
  EXPECT_EQ(extract("u32", 0x12345678, 256, 32), 0x12345678U);  // only 8 bits of the place count
  EXPECT_EQ(
      evaluate({"bfe.s64 %d, %a, %b, %c;", 64, {64, 32, 32, 32}}, {{0x00F0000000000000, 52, 4, 0}}),
      (std::vector<std::uint64_t>{0xFFFFFFFFFFFFFFFF}));
}

TEST(BitInstructionTest, InsertsFields) {
  EXPECT_EQ(evaluate({"bfi.b32 %d, %a, %b, %c, %e;"},
                     {{0xAB, 0x11111111, 8, 8}, {0xFF, 0, 28, 8}, {0xFF, 0x12345678, 4, 0}}),
            (std::vector<std::uint64_t>{0x1111AB11, 0xF0000000, 0x12345678}));
  EXPECT_EQ(evaluate({"bfi.b64 %d, %a, %b, %c, %e;", 64, {64, 64, 32, 32}},
                     {{0x12345678, 0xABCDEF01, 32, 32}}),
            (std::vector<std::uint64_t>{0x12345678ABCDEF01}));
}

TEST(BitInstructionTest, PermutesBytes) {
  EXPECT_EQ(evaluate({"prmt.b32 %d, %a, %b, %c;"}, {{0x33221100, 0x77665544, 0x7531, 0},
                                                    {0x33221100, 0x77665544, 0x3210, 0},
                                                    {0x800000FF, 0x12345680, 0x8C0B, 0}}),
            (std::vector<std::uint64_t>{0x77553311, 0x33221100, 0xFFFFFFFF}));
}

TEST(BitInstructionTest, LooksUpLogicOfThree) {
  const auto rows = combine({0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA}, 3);
  expect_results({"lop3.b32 %d, %a, %b, %c, 0x96;"}, rows,
                 [](const operand_row& row) { return row[0] ^ row[1] ^ row[2]; });
  expect_results({"lop3.b32 %d, %a, %b, %c, 0xCA;"}, rows, [](const operand_row& row) {
    return (row[0] & row[1]) | (~row[0] & row[2] & 0xFFFFFFFF);
  });
}

}  // namespace
}  // namespace cugraft_sim::ptx
