// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "sim/ptx/instruction_runner.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::combine;
using testing::expect_results;
using testing::instruction_form;
using testing::integer_corners;
using testing::operand_row;

__extension__ using wide = __int128;

/// The operand as a number of type T; the host's wide arithmetic then gives the exact result.
template <class T>
wide value(std::uint64_t bits) {
  return static_cast<T>(bits);
}

/// The bits of a result that wrapped into `Bits` bits.
template <unsigned Bits>
std::uint64_t wrapped(wide result) {
  const auto bits = static_cast<std::uint64_t>(result);
  return Bits == 64 ? bits : bits & ((std::uint64_t{1} << (Bits % 64)) - 1);
}

template <class T>
std::string type_name() {
  return (std::numeric_limits<T>::is_signed ? "s" : "u") + std::to_string(8 * sizeof(T));
}

template <class T>
class IntegerTest : public ::testing::Test {
 protected:
  static constexpr unsigned width = 8 * sizeof(T);

  static instruction_form form(const std::string& opcode, unsigned operands) {
    const std::string all = "%a, %b, %c";
    return {opcode + "." + type_name<T>() + " %d, " + all.substr(0, 4 * operands - 2) + ";",
            width,
            {width, width, width, width}};
  }

  template <class Expected>
  static void expect_binary(const std::string& opcode, Expected expected) {
    expect_results(form(opcode, 2), combine(integer_corners(), 2), [&](const operand_row& row) {
      return wrapped<width>(expected(value<T>(row[0]), value<T>(row[1])));
    });
  }
};

using integer_types = ::testing::Types<std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                                       std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerTest, integer_types);

TYPED_TEST(IntegerTest, AddSubtractAndMultiplyWrap) {
  this->expect_binary("add", [](wide a, wide b) { return a + b; });
  this->expect_binary("sub", [](wide a, wide b) { return a - b; });
  this->expect_binary("mul.lo", [](wide a, wide b) {
    return static_cast<wide>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  });
}

TYPED_TEST(IntegerTest, HighHalfOfTheProduct) {
  if constexpr (sizeof(TypeParam) < 8) {
    this->expect_binary("mul.hi", [](wide a, wide b) { return (a * b) >> TestFixture::width; });
  } else {
    // 2^64 - 1 and -1 tell the signed from the unsigned product.
    const std::vector<operand_row> row{{~std::uint64_t{0}, ~std::uint64_t{0}, 0, 0}};
    const std::uint64_t high = std::numeric_limits<TypeParam>::is_signed ? 0 : ~std::uint64_t{1};
    expect_results(this->form("mul.hi", 2), row, [](const operand_row&) { return high; });
  }
}

TYPED_TEST(IntegerTest, MultiplyAndAdd) {
  const auto rows = combine(integer_corners(), 3);
  expect_results(this->form("mad.lo", 3), rows, [](const operand_row& row) {
    return wrapped<TestFixture::width>(static_cast<wide>(row[0] * row[1] + row[2]));
  });
}

TYPED_TEST(IntegerTest, WideProductHasTwiceTheBits) {
  if constexpr (sizeof(TypeParam) < 8) {
    const std::string name = type_name<TypeParam>();
    const instruction_form product{"mul.wide." + name + " %d, %a, %b;",
                                   2 * TestFixture::width,
                                   {TestFixture::width, TestFixture::width, 32, 32}};
    expect_results(product, combine(integer_corners(), 2), [](const operand_row& row) {
      return wrapped<2 * TestFixture::width>(value<TypeParam>(row[0]) * value<TypeParam>(row[1]));
    });
    const instruction_form sum{
        "mad.wide." + name + " %d, %a, %b, %c;",
        2 * TestFixture::width,
        {TestFixture::width, TestFixture::width, 2 * TestFixture::width, 32}};
    expect_results(sum, combine(integer_corners(), 3), [](const operand_row& row) {
      return wrapped<2 * TestFixture::width>(value<TypeParam>(row[0]) * value<TypeParam>(row[1]) +
                                             static_cast<wide>(row[2]));
    });
  }
}

TYPED_TEST(IntegerTest, QuotientAndRemainderTruncate) {
  std::vector<operand_row> rows = combine(integer_corners(), 2);
  std::erase_if(rows, [](const operand_row& row) { return value<TypeParam>(row[1]) == 0; });
  expect_results(this->form("div", 2), rows, [](const operand_row& row) {
    return wrapped<TestFixture::width>(value<TypeParam>(row[0]) / value<TypeParam>(row[1]));
  });
  expect_results(this->form("rem", 2), rows, [](const operand_row& row) {
    return wrapped<TestFixture::width>(value<TypeParam>(row[0]) % value<TypeParam>(row[1]));
  });
}

// PTX leaves it open; this is what an H200 gives.
TYPED_TEST(IntegerTest, DivisionByZeroGivesAllOnes) {
  const std::vector<operand_row> rows{{0}, {5}, {~std::uint64_t{0}}};
  const auto ones = [](const operand_row&) { return wrapped<TestFixture::width>(-1); };
  expect_results(this->form("div", 2), rows, ones);
  expect_results(this->form("rem", 2), rows, ones);
}

TYPED_TEST(IntegerTest, SmallerAndLarger) {
  this->expect_binary("min", [](wide a, wide b) { return std::min(a, b); });
  this->expect_binary("max", [](wide a, wide b) { return std::max(a, b); });
}

TYPED_TEST(IntegerTest, SignsOfSignedTypes) {
  if constexpr (std::numeric_limits<TypeParam>::is_signed) {
    expect_results(this->form("neg", 1), combine(integer_corners(), 1), [](const operand_row& row) {
      return wrapped<TestFixture::width>(-value<TypeParam>(row[0]));
    });
    expect_results(this->form("abs", 1), combine(integer_corners(), 1), [](const operand_row& row) {
      const wide a = value<TypeParam>(row[0]);
      return wrapped<TestFixture::width>(a < 0 ? -a : a);
    });
  }
}

TYPED_TEST(IntegerTest, SumOfDifferences) {
  expect_results(this->form("sad", 3), combine(integer_corners(), 3), [](const operand_row& row) {
    const wide a = value<TypeParam>(row[0]);
    const wide b = value<TypeParam>(row[1]);
    return wrapped<TestFixture::width>(static_cast<wide>(row[2]) + (a < b ? b - a : a - b));
  });
}

TEST(IntegerInstructionTest, SaturatedSumsStayInBounds) {
  const auto clamped = [](wide sum) {
    return wrapped<32>(std::clamp<wide>(sum, std::numeric_limits<std::int32_t>::min(),
                                        std::numeric_limits<std::int32_t>::max()));
  };
  const auto rows = combine(integer_corners(), 2);
  expect_results({"add.sat.s32 %d, %a, %b;"}, rows, [&](const operand_row& row) {
    return clamped(value<std::int32_t>(row[0]) + value<std::int32_t>(row[1]));
  });
  expect_results({"sub.sat.s32 %d, %a, %b;"}, rows, [&](const operand_row& row) {
    return clamped(value<std::int32_t>(row[0]) - value<std::int32_t>(row[1]));
  });
}

TEST(IntegerInstructionTest, CarriesThroughTwoWords) {
  const std::string halves =
      ".reg .b32 %al, %ah, %bl, %bh, %dl, %dh;\n"
      "mov.b64 {%al, %ah}, %a;\nmov.b64 {%bl, %bh}, %b;\n";
  const auto rows = combine(integer_corners(), 2);
  expect_results({halves + "add.cc.u32 %dl, %al, %bl;\naddc.u32 %dh, %ah, %bh;\n"
                           "mov.b64 %d, {%dl, %dh};",
                  64,
                  {64, 64, 64, 64}},
                 rows, [](const operand_row& row) { return row[0] + row[1]; });
  expect_results({halves + "sub.cc.u32 %dl, %al, %bl;\nsubc.u32 %dh, %ah, %bh;\n"
                           "mov.b64 %d, {%dl, %dh};",
                  64,
                  {64, 64, 64, 64}},
                 rows, [](const operand_row& row) { return row[0] - row[1]; });
}

TEST(IntegerInstructionTest, ProductsThroughTwoWords) {
  // The low 64 bits of a 64-bit product, from 32-bit halves.
  const std::string halves =
      ".reg .b32 %al, %ah, %bl, %bh, %dl, %dh;\n"
      "mov.b64 {%al, %ah}, %a;\nmov.b64 {%bl, %bh}, %b;\n"
      "mul.lo.u32 %dl, %al, %bl;\nmul.hi.u32 %dh, %al, %bl;\n"
      "mad.lo.cc.u32 %dh, %al, %bh, %dh;\nmadc.hi.u32 %al, %al, %bh, 0;\n"
      "mad.lo.u32 %dh, %ah, %bl, %dh;\nmov.b64 %d, {%dl, %dh};";
  expect_results({halves, 64, {64, 64, 64, 64}}, combine(integer_corners(), 2),
                 [](const operand_row& row) { return row[0] * row[1]; });
  // The high half of a 32-bit product and the carry of its low half, as in longer products.
  expect_results({".reg .b32 %x;\nmad.lo.cc.u32 %x, %a, %b, %c;\nmadc.hi.u32 %d, %a, %b, 7;"},
                 combine(integer_corners(), 3), [](const operand_row& row) {
                   const auto low = [](std::uint64_t bits) { return bits & 0xFFFFFFFF; };
                   const std::uint64_t sum = low(row[0]) * low(row[1]) + low(row[2]);
                   return low((sum >> 32) + 7);
                 });
}

TEST(IntegerInstructionTest, SumsOfFourProducts) {
  const auto byte = [](std::uint64_t bits, unsigned k, bool is_signed) -> wide {
    const auto value = static_cast<std::uint8_t>(bits >> (8 * k));
    return is_signed ? wide{static_cast<std::int8_t>(value)} : wide{value};
  };
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const std::string types = std::string(a ? ".s32" : ".u32") + (b ? ".s32" : ".u32");
      expect_results({"dp4a" + types + " %d, %a, %b, %c;"}, combine(integer_corners(), 3),
                     [&](const operand_row& row) {
                       wide sum = static_cast<wide>(row[2]);
                       for (unsigned k = 0; k < 4; ++k)
                         sum += byte(row[0], k, a) * byte(row[1], k, b);
                       return wrapped<32>(sum);
                     });
    }
  }
}

TEST(IntegerInstructionTest, ProductsOf24Bits) {
  const auto low = [](std::uint64_t bits) {
    return value<std::int32_t>((bits & 0xFFFFFF) << 8) / 256;
  };
  const auto rows = combine(integer_corners(), 3);
  expect_results({"mul24.lo.s32 %d, %a, %b;"}, rows,
                 [&](const operand_row& row) { return wrapped<32>(low(row[0]) * low(row[1])); });
  expect_results({"mul24.hi.u32 %d, %a, %b;"}, rows, [&](const operand_row& row) {
    return wrapped<32>(static_cast<wide>((row[0] & 0xFFFFFF) * (row[1] & 0xFFFFFF)) >> 16);
  });
  expect_results({"mad24.lo.s32 %d, %a, %b, %c;"}, rows, [&](const operand_row& row) {
    return wrapped<32>(low(row[0]) * low(row[1]) + static_cast<wide>(row[2]));
  });
}

}  // namespace
}  // namespace cugraft_sim::ptx
