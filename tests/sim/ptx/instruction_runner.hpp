// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx::testing {

/// Bits of the operands %a, %b, %c and %e.
using operand_row = std::array<std::uint64_t, 4>;

/// PTX statements that compute %d from %a, %b, %c and %e; predicates %p and %q are at hand.
struct instruction_form {
  std::string text;
  unsigned result_bits = 32;
  std::array<unsigned, 4> operand_bits{32, 32, 32, 32};
};

inline constexpr std::array<std::string_view, 4> operand_names{"%a", "%b", "%c", "%e"};

inline std::string number(std::size_t value) { return std::to_string(value); }

template <class T, class Bits>
std::vector<std::uint64_t> bits_of(std::initializer_list<T> values) {
  std::vector<std::uint64_t> result;
  for (const T value : values) result.push_back(std::bit_cast<Bits>(value));
  return result;
}

template <class T, class Bits>
std::vector<std::uint64_t> real_corners() {
  using limits = std::numeric_limits<T>;
  const T tiny = limits::min();
  return bits_of<T, Bits>({T{0},
                           -T{0},
                           T{1},
                           T{-1},
                           T(0.1),
                           T(-1.5),
                           T(2.5),
                           T(3.5),
                           T(1e10),
                           T(-123456.789),
                           limits::denorm_min(),
                           -limits::denorm_min(),
                           tiny / 2,
                           tiny,
                           -tiny,
                           T(1.0000001) * tiny,
                           limits::max(),
                           limits::lowest(),
                           limits::infinity(),
                           -limits::infinity(),
                           limits::quiet_NaN(),
                           T(0.333333333333333),
                           T(7.0e-20),
                           T(2147483648.0),
                           T(255.5)});
}

/// The PTX that runs a form for as many rows as its launch has threads:
/// `test(rows, results)`, 8 bytes an operand and a result.
inline std::string text_of(const instruction_form& form) {
  std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n"
      ".visible .entry test(.param .u64 rows, .param .u64 results)\n{\n"
      ".reg .pred %p, %q;\n.reg .b32 %index, %block, %size;\n.reg .b64 %in, %out;\n";
  text += ".reg .b" + number(form.result_bits) + " %d;\n";
  for (std::size_t k = 0; k < operand_names.size(); ++k)
    text += ".reg .b" + number(form.operand_bits[k]) + " " + std::string(operand_names[k]) + ";\n";
  text +=
      "ld.param.u64 %in, [rows];\nld.param.u64 %out, [results];\n"
      "mov.u32 %block, %ctaid.x;\nmov.u32 %size, %ntid.x;\nmov.u32 %index, %tid.x;\n"
      "mad.lo.u32 %index, %block, %size, %index;\n"
      "mad.wide.u32 %in, %index, 32, %in;\nmad.wide.u32 %out, %index, 8, %out;\n";
  for (std::size_t k = 0; k < operand_names.size(); ++k)
    text += "ld.global.b" + number(form.operand_bits[k]) + " " + std::string(operand_names[k]) +
            ", [%in+" + number(8 * k) + "];\n";
  return text + form.text + "\nst.global.b" + number(form.result_bits) + " [%out], %d;\nret;\n}\n";
}

/// Runs a form with the interpreter; a row's result has as many bits as the form says.
inline std::vector<std::uint64_t> evaluate(const instruction_form& form,
                                           const std::vector<operand_row>& rows) {
  constexpr unsigned block = 64;
  const auto blocks = static_cast<unsigned>((rows.size() + block - 1) / block);
  std::vector<operand_row> padded = rows;
  padded.resize(std::size_t{blocks} * block);
  std::vector<std::uint64_t> results(padded.size());
  kernel_launcher launcher(text_of(form));
  launcher.how().grid.x = blocks;
  launcher.how().block.x = block;
  const std::uint64_t in = launcher.memory().allow_reading(padded);
  const run_result outcome = launcher.run("test", in, launcher.memory().allow(results));
  EXPECT_TRUE(outcome) << outcome.message;
  results.resize(rows.size());
  return results;
}

/// All rows of values from one list, for the first `count` operands.
inline std::vector<operand_row> combine(const std::vector<std::uint64_t>& values, unsigned count) {
  std::vector<operand_row> rows{{}};
  for (unsigned k = 0; k < count; ++k) {
    std::vector<operand_row> longer;
    for (const operand_row& row : rows)
      for (const std::uint64_t value : values) {
        longer.push_back(row);
        longer.back()[k] = value;
      }
    rows = std::move(longer);
  }
  return rows;
}

/// Bits that try the corners of integers of 16 to 64 bits.
inline const std::vector<std::uint64_t>& integer_corners() {
  static const std::vector<std::uint64_t> values{0,
                                                 1,
                                                 2,
                                                 7,
                                                 31,
                                                 33,
                                                 0x7FFF,
                                                 0x8000,
                                                 0xFFFF,
                                                 0x12345678,
                                                 0x7FFFFFFF,
                                                 0x80000000,
                                                 0xFFFFFFFF,
                                                 0xFEDCBA9876543210,
                                                 0x7FFFFFFFFFFFFFFF,
                                                 0x8000000000000000,
                                                 0xFFFFFFFFFFFFFFFF};
  return values;
}

/// Bits of f32 values: zeros, subnormal numbers, bounds, ordinary values, infinities, NaN.
inline const std::vector<std::uint64_t>& float_corners() {
  static const std::vector<std::uint64_t> values = real_corners<float, std::uint32_t>();
  return values;
}

/// The same of f64.
inline const std::vector<std::uint64_t>& double_corners() {
  static const std::vector<std::uint64_t> values = real_corners<double, std::uint64_t>();
  return values;
}

/// Expects `evaluate` to give `expected(row)` for every row.
inline void expect_results(const instruction_form& form, const std::vector<operand_row>& rows,
                           const std::function<std::uint64_t(const operand_row&)>& expected) {
  const std::vector<std::uint64_t> results = evaluate(form, rows);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const operand_row& row = rows[k];
    ASSERT_EQ(results[k], expected(row)) << form.text << " of " << std::hex << row[0] << ", "
                                         << row[1] << ", " << row[2] << ", " << row[3];
  }
}

}  // namespace cugraft_sim::ptx::testing
