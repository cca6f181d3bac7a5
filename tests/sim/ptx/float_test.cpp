// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/ptx/instruction_runner.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::combine;
using testing::double_corners;
using testing::evaluate;
using testing::expect_results;
using testing::float_corners;
using testing::instruction_form;
using testing::operand_row;

constexpr std::uint64_t float_nan = 0x7FFFFFFF;  // the one NaN that f32 instructions give

const std::array<unsigned, 4> doubles{64, 64, 64, 64};

float as_float(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

std::uint64_t bits_of(float value) {
  return std::isnan(value) ? float_nan : std::bit_cast<std::uint32_t>(value);
}

double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// NaN of f64 may have any payload.
std::uint64_t any_nan(std::uint64_t bits) { return std::isnan(as_double(bits)) ? ~0ULL : bits; }

/// The sum or product of two f32 is exact enough in f64 that rounding it again is rounding once.
template <class Operation>
void expect_float_binary(const std::string& opcode, Operation operation) {
  expect_results(
      {opcode + " %d, %a, %b;"}, combine(float_corners(), 2), [&](const operand_row& row) {
        const double wide =
            operation(static_cast<double>(as_float(row[0])), static_cast<double>(as_float(row[1])));
        return bits_of(static_cast<float>(wide));
      });
}

TEST(FloatInstructionTest, BasicOperationsRoundOnce) {
  expect_float_binary("add.f32", [](double a, double b) { return a + b; });
  expect_float_binary("add.rn.f32", [](double a, double b) { return a + b; });
  expect_float_binary("sub.f32", [](double a, double b) { return a - b; });
  expect_float_binary("mul.f32", [](double a, double b) { return a * b; });
  expect_float_binary("div.rn.f32", [](double a, double b) { return a / b; });
}

TEST(FloatInstructionTest, RootsAndReciprocalsRoundOnce) {
  const auto rows = combine(float_corners(), 1);
  expect_results({"sqrt.rn.f32 %d, %a;"}, rows, [](const operand_row& row) {
    return bits_of(static_cast<float>(std::sqrt(static_cast<double>(as_float(row[0])))));
  });
  expect_results({"rcp.rn.f32 %d, %a;"}, rows, [](const operand_row& row) {
    return bits_of(static_cast<float>(1.0 / static_cast<double>(as_float(row[0]))));
  });
}

TEST(FloatInstructionTest, FusedMultiplyAddRoundsOnce) {
  // (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24: lost if the product were rounded.
  const std::uint64_t near_one = bits_of(1.0F + 0x1p-12F);
  const std::uint64_t minus = bits_of(-1.0F - 0x1p-11F);
  EXPECT_EQ(evaluate({"fma.rn.f32 %d, %a, %b, %c;"}, {{near_one, near_one, minus, 0}}),
            (std::vector<std::uint64_t>{bits_of(0x1p-24F)}));
  EXPECT_EQ(
      evaluate({"mul.f32 %d, %a, %b;\nadd.f32 %d, %d, %c;"}, {{near_one, near_one, minus, 0}}),
      (std::vector<std::uint64_t>{0}));
}

TEST(FloatInstructionTest, DoubleOperations) {
  const auto rows = combine(double_corners(), 2);
  const auto expect = [&rows](const std::string& opcode, auto operation) {
    const std::vector<std::uint64_t> results =
        evaluate({opcode + " %d, %a, %b;", 64, doubles}, rows);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double exact = operation(as_double(rows[k][0]), as_double(rows[k][1]));
      ASSERT_EQ(any_nan(results[k]), any_nan(std::bit_cast<std::uint64_t>(exact))) << opcode;
    }
  };
  expect("add.f64", [](double a, double b) { return a + b; });
  expect("sub.f64", [](double a, double b) { return a - b; });
  expect("mul.f64", [](double a, double b) { return a * b; });
  expect("div.rn.f64", [](double a, double b) { return a / b; });
}

TEST(FloatInstructionTest, OtherRoundings) {
  const std::uint64_t one = bits_of(1.0F);
  const std::uint64_t tiny = bits_of(0x1p-30F);
  const std::uint64_t minus_one = bits_of(-1.0F);
  const std::vector<operand_row> rows{{one, tiny, one, 0}, {minus_one, tiny, one, 0}};
  const std::uint64_t above = bits_of(std::nextafter(1.0F, 2.0F));
  const std::uint64_t inside = bits_of(std::nextafter(-1.0F, 0.0F));
  const auto results = [&rows](const std::string& opcode) {
    return evaluate({opcode + " %d, %a, %b;"}, rows);
  };
  EXPECT_EQ(results("add.rn.f32"), (std::vector<std::uint64_t>{one, minus_one}));
  EXPECT_EQ(results("add.rz.f32"), (std::vector<std::uint64_t>{one, inside}));
  EXPECT_EQ(results("add.rm.f32"), (std::vector<std::uint64_t>{one, minus_one}));
  EXPECT_EQ(results("add.rp.f32"), (std::vector<std::uint64_t>{above, inside}));
  EXPECT_EQ(evaluate({"fma.rp.f32 %d, %a, %c, %b;"}, rows),
            (std::vector<std::uint64_t>{above, inside}));
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(FloatInstructionTest, FlushesSubnormalNumbersWhereAsked) {
  const std::uint64_t subnormal = 0x00400000;
  const std::uint64_t negative = 0x80400000;
  const std::uint64_t smallest = 0x00800000;
  const std::uint64_t half = bits_of(0.5F);
  EXPECT_EQ(evaluate({"add.f32 %d, %a, %b;"}, {{subnormal, 0, 0, 0}}),
            (std::vector<std::uint64_t>{subnormal}));
  EXPECT_EQ(evaluate({"add.ftz.f32 %d, %a, %b;"}, {{subnormal, 0, 0, 0}, {negative, negative}}),
            (std::vector<std::uint64_t>{0, 0x80000000}));
  EXPECT_EQ(evaluate({"mul.ftz.f32 %d, %a, %b;"}, {{smallest, half, 0, 0}}),
            (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(evaluate({"neg.ftz.f32 %d, %a;"}, {{subnormal}}),
            (std::vector<std::uint64_t>{0x80000000}));
}

TEST(FloatInstructionTest, Saturates) {
  EXPECT_EQ(evaluate({"add.sat.f32 %d, %a, %b;"}, {{bits_of(0.75F), bits_of(0.5F)},
                                                   {bits_of(-2.0F), bits_of(0.5F)},
                                                   {bits_of(0.25F), bits_of(0.5F)},
                                                   {float_nan, 0}}),
            (std::vector<std::uint64_t>{bits_of(1.0F), 0, bits_of(0.75F), 0}));
}

TEST(FloatInstructionTest, SmallerAndLargerPreferNumbersToNan) {
  const std::uint64_t one = bits_of(1.0F);
  const std::uint64_t two = bits_of(2.0F);
  const std::uint64_t minus_zero = 0x80000000;
  const std::vector<operand_row> rows{
      {one, two}, {float_nan, one}, {two, float_nan}, {float_nan, float_nan}, {0, minus_zero}};
  EXPECT_EQ(evaluate({"min.f32 %d, %a, %b;"}, rows),
            (std::vector<std::uint64_t>{one, one, two, float_nan, minus_zero}));
  EXPECT_EQ(evaluate({"max.f32 %d, %a, %b;"}, rows),
            (std::vector<std::uint64_t>{two, one, two, float_nan, 0}));
  EXPECT_EQ(evaluate({"min.NaN.f32 %d, %a, %b;"}, rows),
            (std::vector<std::uint64_t>{one, float_nan, float_nan, float_nan, minus_zero}));
}

TEST(FloatInstructionTest, Signs) {
  const std::uint64_t value = bits_of(-3.5F);
  EXPECT_EQ(evaluate({"neg.f32 %d, %a;"}, {{value}}), (std::vector<std::uint64_t>{bits_of(3.5F)}));
  EXPECT_EQ(evaluate({"abs.f32 %d, %a;"}, {{value}}), (std::vector<std::uint64_t>{bits_of(3.5F)}));
  EXPECT_EQ(evaluate({"copysign.f32 %d, %a, %b;"}, {{value, bits_of(2.0F)}}),
            (std::vector<std::uint64_t>{bits_of(-2.0F)}));
}

TEST(FloatInstructionTest, SignsOfNan) {
  EXPECT_EQ(evaluate({"neg.f32 %d, %a;"}, {{0x7FC00000}}), (std::vector<std::uint64_t>{float_nan}));
  EXPECT_EQ(evaluate({"abs.f32 %d, %a;"}, {{0xFFC00000}}), (std::vector<std::uint64_t>{float_nan}));
  const std::vector<operand_row> rows{{0x7FF8000000000000}, {0xFFF8123456789ABC}};
  const std::vector<std::uint64_t> same{0x7FF8000000000000, 0xFFF8123456789ABC};
  EXPECT_EQ(evaluate({"neg.f64 %d, %a;", 64, doubles}, rows), same);
  EXPECT_EQ(evaluate({"abs.f64 %d, %a;", 64, doubles}, rows), same);
}

TEST(FloatInstructionTest, ApproximateFormsAreNearTheExactValue) {
  const auto expect_near = [](const std::string& opcode, float from, double exact) {
    const std::uint64_t result = evaluate({opcode + " %d, %a;"}, {{bits_of(from)}}).front();
    EXPECT_NEAR(as_float(result), exact, std::abs(exact) * 2e-7) << opcode;
  };
  expect_near("ex2.approx.f32", 3.3F, std::exp2(static_cast<double>(3.3F)));
  expect_near("ex2.approx.ftz.f32", -3.3F, std::exp2(static_cast<double>(-3.3F)));
  expect_near("lg2.approx.f32", 3.3F, std::log2(static_cast<double>(3.3F)));
  expect_near("sin.approx.f32", 0.7F, std::sin(static_cast<double>(0.7F)));
  expect_near("cos.approx.f32", 0.7F, std::cos(static_cast<double>(0.7F)));
  expect_near("tanh.approx.f32", 0.7F, std::tanh(static_cast<double>(0.7F)));
  expect_near("rsqrt.approx.f32", 0.7F, 1 / std::sqrt(static_cast<double>(0.7F)));
  expect_near("rcp.approx.ftz.f32", 0.7F, 1 / static_cast<double>(0.7F));
  expect_near("sqrt.approx.f32", 0.7F, std::sqrt(static_cast<double>(0.7F)));
}

TEST(FloatInstructionTest, TellsKindsOfNumbers) {
  const std::vector<operand_row> rows{{0}, {0x00000001}, {0x3F800000}, {0x7F800000}, {float_nan}};
  const auto results = [&rows](const std::string& kind) {
    return evaluate({"testp." + kind + ".f32 %p, %a;\nselp.u32 %d, 1, 0, %p;"}, rows);
  };
  EXPECT_EQ(results("finite"), (std::vector<std::uint64_t>{1, 1, 1, 0, 0}));
  EXPECT_EQ(results("infinite"), (std::vector<std::uint64_t>{0, 0, 0, 1, 0}));
  EXPECT_EQ(results("number"), (std::vector<std::uint64_t>{1, 1, 1, 1, 0}));
  EXPECT_EQ(results("notanumber"), (std::vector<std::uint64_t>{0, 0, 0, 0, 1}));
  EXPECT_EQ(results("subnormal"), (std::vector<std::uint64_t>{0, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace cugraft_sim::ptx
