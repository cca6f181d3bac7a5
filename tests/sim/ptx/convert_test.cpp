// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/ptx/instruction_runner.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::combine;
using testing::evaluate;
using testing::expect_results;
using testing::integer_corners;
using testing::operand_row;
using results = std::vector<std::uint64_t>;

std::uint64_t of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t of_double(double value) { return std::bit_cast<std::uint64_t>(value); }

/// `cvt` from a register of `from_bits` to one of `to_bits`.
results convert(const std::string& how, unsigned to_bits, unsigned from_bits,
                const std::vector<operand_row>& rows) {
  return evaluate({"cvt." + how + " %d, %a;", to_bits, {from_bits, 32, 32, 32}}, rows);
}

TEST(ConvertTest, IntegersAreExtendedOrCut) {
  const std::vector<operand_row> rows{{0x80}, {0x12345678}, {0xFFFF8001}};
  EXPECT_EQ(convert("u64.u32", 64, 32, rows), (results{0x80, 0x12345678, 0xFFFF8001}));
  EXPECT_EQ(convert("s64.s32", 64, 32, rows), (results{0x80, 0x12345678, 0xFFFFFFFFFFFF8001}));
  EXPECT_EQ(convert("u16.u32", 16, 32, rows), (results{0x80, 0x5678, 0x8001}));
  EXPECT_EQ(convert("s32.s16", 32, 16, rows), (results{0x80, 0x5678, 0xFFFF8001}));
  EXPECT_EQ(convert("s32.s8", 32, 32, rows), (results{0xFFFFFF80, 0x78, 0x1}));
  EXPECT_EQ(convert("u32.u8", 32, 32, rows), (results{0x80, 0x78, 0x1}));
  EXPECT_EQ(convert("s8.s32", 32, 32, rows), (results{0xFFFFFF80, 0x78, 0x1}));
}

TEST(ConvertTest, IntegersSaturateWhereAsked) {
  const std::vector<operand_row> rows{{0xFFFFFFFF}, {300}, {100}};
  EXPECT_EQ(convert("sat.u8.s32", 32, 32, rows), (results{0, 255, 100}));
  EXPECT_EQ(convert("sat.s8.s32", 32, 32, rows), (results{0xFFFFFFFF, 127, 100}));
  EXPECT_EQ(convert("sat.s32.u32", 32, 32, rows), (results{0x7FFFFFFF, 300, 100}));
}

TEST(ConvertTest, IntegersToRealNumbersRoundOnce) {
  expect_results({"cvt.rn.f32.s32 %d, %a;"}, combine(integer_corners(), 1),
                 [](const operand_row& row) {
                   const auto value = static_cast<double>(static_cast<std::int32_t>(row[0]));
                   return of(static_cast<float>(value));
                 });
  expect_results(
      {"cvt.rn.f64.u32 %d, %a;", 64, {32, 32, 32, 32}}, combine(integer_corners(), 1),
      [](const operand_row& row) { return of_double(static_cast<double>(row[0] & 0xFFFFFFFF)); });
  const std::vector<operand_row> odd{{0x1000001}};  // between two f32
  EXPECT_EQ(convert("rn.f32.u32", 32, 32, odd), (results{of(0x1000000p0F)}));
  EXPECT_EQ(convert("rz.f32.u32", 32, 32, odd), (results{of(0x1000000p0F)}));
  EXPECT_EQ(convert("rp.f32.u32", 32, 32, odd), (results{of(0x1000002p0F)}));
  EXPECT_EQ(convert("rm.f32.u32", 32, 32, odd), (results{of(0x1000000p0F)}));
  EXPECT_EQ(convert("rn.f32.u64", 32, 64, {{0xFFFFFFFFFFFFFFFF}}), (results{of(0x1p64F)}));
  EXPECT_EQ(convert("rz.f32.u64", 32, 64, {{0xFFFFFFFFFFFFFFFF}}), (results{of(0xFFFFFFp40F)}));
}

TEST(ConvertTest, RealNumbersToIntegersByEachRounding) {
  const std::vector<operand_row> rows{{of(2.5F)}, {of(3.5F)}, {of(-2.5F)}, {of(-0.25F)}};
  const auto bits = [](std::int64_t value) {
    return static_cast<std::uint64_t>(value) & 0xFFFFFFFF;
  };
  EXPECT_EQ(convert("rni.s32.f32", 32, 32, rows), (results{2, 4, bits(-2), 0}));
  EXPECT_EQ(convert("rzi.s32.f32", 32, 32, rows), (results{2, 3, bits(-2), 0}));
  EXPECT_EQ(convert("rmi.s32.f32", 32, 32, rows), (results{2, 3, bits(-3), bits(-1)}));
  EXPECT_EQ(convert("rpi.s32.f32", 32, 32, rows), (results{3, 4, bits(-2), 0}));
  EXPECT_EQ(convert("rni.f32.f32", 32, 32, rows),
            (results{of(2.0F), of(4.0F), of(-2.0F), of(-0.0F)}));
}

TEST(ConvertTest, IntegersStopAtTheirBounds) {
  const std::vector<operand_row> rows{{of(1e10F)}, {of(-1e10F)}, {of(-1.0F)}, {0x7FFFFFFF}};
  EXPECT_EQ(convert("rzi.s32.f32", 32, 32, rows), (results{0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0}));
  EXPECT_EQ(convert("rzi.u32.f32", 32, 32, rows), (results{0xFFFFFFFF, 0, 0, 0}));
  EXPECT_EQ(convert("rzi.u64.f64", 64, 64, {{of_double(1e30)}, {of_double(-1.0)}}),
            (results{0xFFFFFFFFFFFFFFFF, 0}));
}

TEST(ConvertTest, NanIsZeroOrTheTopBitOf64BitForms) {
  const std::vector<operand_row> single{{0x7FC00000}};
  const std::vector<operand_row> wide{{0x7FF8000000000000}};
  EXPECT_EQ(convert("rzi.s32.f32", 32, 32, single), (results{0}));
  EXPECT_EQ(convert("rzi.s64.f32", 64, 32, single), (results{0x8000000000000000}));
  EXPECT_EQ(convert("rzi.u32.f64", 32, 64, wide), (results{0x80000000}));
  EXPECT_EQ(convert("rzi.u16.f64", 16, 64, wide), (results{0x8000}));
}

TEST(ConvertTest, NanBetweenRealNumbers) {
  EXPECT_EQ(convert("rn.f32.f64", 32, 64, {{0xFFF8000000000000}}), (results{0xFFC00000}));
  EXPECT_EQ(convert("rn.f16.f64", 16, 64, {{0xFFF8000000000000}}), (results{0xFE00}));
  EXPECT_EQ(convert("rn.f16.f32", 16, 32, {{0xFFC00000}}), (results{0x7FFF}));
  EXPECT_EQ(convert("rni.f32.f32", 32, 32, {{0xFFC00000}}), (results{0x7FFFFFFF}));
  EXPECT_EQ(convert("f32.f16", 32, 16, {{0x7C01}}), (results{0x7FFFFFFF}));
  EXPECT_EQ(convert("f64.f16", 64, 16, {{0x7C01}, {0xFE00}}),
            (results{0x7FF8040000000000, 0xFFF8000000000000}));
}

TEST(ConvertTest, BetweenRealNumbers) {
  EXPECT_EQ(convert("f64.f32", 64, 32, {{of(0.1F)}}),
            (results{of_double(static_cast<double>(0.1F))}));
  EXPECT_EQ(convert("rn.f32.f64", 32, 64, {{of_double(0.1)}, {of_double(1e300)}}),
            (results{of(0.1F), of(HUGE_VALF)}));
  EXPECT_EQ(convert("rz.f32.f64", 32, 64, {{of_double(1e300)}}), (results{0x7F7FFFFF}));
  EXPECT_EQ(convert("sat.f32.f32", 32, 32, {{of(1.5F)}, {of(-1.5F)}, {of(0.5F)}}),
            (results{of(1.0F), 0, of(0.5F)}));
}

TEST(ConvertTest, Halves) {
  const std::vector<operand_row> singles{{of(1.0F)},     {of(-2.5F)},    {of(65504.0F)},
                                         {of(65520.0F)}, {of(0x1p-24F)}, {of(0x1p-25F)},
                                         {of(0.1F)},     {of(1e-4F)},    {of(-0.0F)}};
  EXPECT_EQ(convert("rn.f16.f32", 16, 32, singles),
            (results{0x3C00, 0xC100, 0x7BFF, 0x7C00, 1, 0, 0x2E66, 0x068E, 0x8000}));
  EXPECT_EQ(convert("rz.f16.f32", 16, 32, {{of(65520.0F)}, {of(0.1F)}}), (results{0x7BFF, 0x2E66}));
  EXPECT_EQ(
      convert("f32.f16", 32, 16, {{0x3C00}, {0xC100}, {0x7BFF}, {0x7C00}, {1}, {0x2E66}}),
      (results{of(1.0F), of(-2.5F), of(65504.0F), of(HUGE_VALF), of(0x1p-24F), of(0x1.998p-4F)}));
}

TEST(ConvertTest, EveryHalfComesBack) {
  std::vector<operand_row> rows;
  for (std::uint64_t bits = 0; bits < 0x10000; ++bits)
    if ((bits & 0x7C00) != 0x7C00) rows.push_back({bits});
  expect_results(
      {".reg .b32 %f;\ncvt.f32.f16 %f, %a;\ncvt.rn.f16.f32 %d, %f;", 16, {16, 32, 32, 32}}, rows,
      [](const operand_row& row) { return row[0]; });
}

}  // namespace
}  // namespace cugraft_sim::ptx
