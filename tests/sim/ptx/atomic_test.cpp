// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::kernel_launcher;
using testing::kernel_text;

struct memory_and_result {
  std::uint64_t after;
  std::uint64_t old;
};

bool operator==(const memory_and_result& a, const memory_and_result& b) {
  return a.after == b.after && a.old == b.old;
}

/// One thread's `atom` on 8 bytes that hold `before`; `operands` follow the address.
memory_and_result apply(const std::string& opcode, unsigned bits, std::uint64_t before,
                        const std::string& operands) {
  const std::string result = bits == 64 ? "%l0" : "%r0";
  const std::string size = std::to_string(bits);
  kernel_launcher launcher(kernel_text("atom." + opcode + " " + result + ", [%a], " + operands +
                                       ";\nst.global.b" + size + " [%b], " + result + ";"));
  std::vector<std::uint64_t> value{before};
  std::vector<std::uint64_t> old(1);
  const std::uint64_t a = launcher.memory().allow(value);
  const run_result outcome = launcher.run("test", a, launcher.memory().allow(old));
  EXPECT_TRUE(outcome) << outcome.message;
  return {value.front(), old.front()};
}

std::uint64_t of(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(AtomicTest, IntegersOf32Bits) {
  EXPECT_EQ(apply("global.add.u32", 32, 5, "7"), (memory_and_result{12, 5}));
  EXPECT_EQ(apply("global.add.s32", 32, 5, "-7"), (memory_and_result{0xFFFFFFFE, 5}));
  EXPECT_EQ(apply("global.min.s32", 32, 5, "-7"), (memory_and_result{0xFFFFFFF9, 5}));
  EXPECT_EQ(apply("global.min.u32", 32, 5, "-7"), (memory_and_result{5, 5}));
  EXPECT_EQ(apply("global.max.s32", 32, 5, "-7"), (memory_and_result{5, 5}));
  EXPECT_EQ(apply("global.max.u32", 32, 5, "-7"), (memory_and_result{0xFFFFFFF9, 5}));
  EXPECT_EQ(apply("global.exch.b32", 32, 5, "7"), (memory_and_result{7, 5}));
  EXPECT_EQ(apply("global.and.b32", 32, 12, "10"), (memory_and_result{8, 12}));
  EXPECT_EQ(apply("global.or.b32", 32, 12, "10"), (memory_and_result{14, 12}));
  EXPECT_EQ(apply("global.xor.b32", 32, 12, "10"), (memory_and_result{6, 12}));
}

TEST(AtomicTest, CountersWrapAtTheirBound) {
  EXPECT_EQ(apply("global.inc.u32", 32, 5, "7"), (memory_and_result{6, 5}));
  EXPECT_EQ(apply("global.inc.u32", 32, 7, "7"), (memory_and_result{0, 7}));
  EXPECT_EQ(apply("global.dec.u32", 32, 5, "7"), (memory_and_result{4, 5}));
  EXPECT_EQ(apply("global.dec.u32", 32, 0, "7"), (memory_and_result{7, 0}));
  EXPECT_EQ(apply("global.dec.u32", 32, 9, "7"), (memory_and_result{7, 9}));
}

TEST(AtomicTest, ComparesAndSwaps) {
  EXPECT_EQ(apply("global.cas.b32", 32, 5, "5, 9"), (memory_and_result{9, 5}));
  EXPECT_EQ(apply("global.cas.b32", 32, 5, "6, 9"), (memory_and_result{5, 5}));
  EXPECT_EQ(apply("relaxed.gpu.global.cas.b64", 64, 1ULL << 40, "0x10000000000, 3"),
            (memory_and_result{3, 1ULL << 40}));
}

TEST(AtomicTest, IntegersOf64BitsAndGenericAddresses) {
  EXPECT_EQ(apply("add.u64", 64, 0xFFFFFFFF, "1"), (memory_and_result{0x100000000, 0xFFFFFFFF}));
  EXPECT_EQ(apply("max.s64", 64, 5, "-1"), (memory_and_result{5, 5}));
  EXPECT_EQ(apply("exch.b64", 64, 5, "-1"), (memory_and_result{~0ULL, 5}));
}

TEST(AtomicTest, RealNumbers) {
  EXPECT_EQ(apply("global.add.f32", 32, of(1.5F), "0f40000000"),
            (memory_and_result{of(3.5F), of(1.5F)}));
  EXPECT_EQ(
      apply("global.add.f64", 64, std::bit_cast<std::uint64_t>(1.5), "0d4000000000000000"),
      (memory_and_result{std::bit_cast<std::uint64_t>(3.5), std::bit_cast<std::uint64_t>(1.5)}));
}

TEST(AtomicTest, GlobalSumsOfSingleNumbersFlushSubnormalOnes) {
  EXPECT_EQ(apply("global.add.f32", 32, 0, "0f00400000"), (memory_and_result{0, 0}));
  EXPECT_EQ(apply("add.f32", 32, 0x00400000, "0f00000000"), (memory_and_result{0, 0x00400000}));
  kernel_launcher launcher(
      kernel_text(".shared .align 4 .b8 sum[4];\nst.shared.u32 [sum], 1;\n"
                  "red.shared.add.f32 [sum], 0f00400000;\nld.shared.u32 %r0, [sum];\nst.global.u32 "
                  "[%b], %r0;"));
  std::vector<std::uint32_t> out(1);
  ASSERT_TRUE(launcher.run("test", std::uint64_t{0}, launcher.memory().allow(out)));
  EXPECT_EQ(out.front(), 0x00400001U);
}

TEST(AtomicTest, SumsOfAllThreadsInSharedAndGlobalMemory) {
  kernel_launcher launcher(
      kernel_text(".shared .align 4 .b8 sum[4];\nmov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n"
                  "@!%p0 st.shared.u32 [sum], 0;\nbar.sync 0;\n"
                  "red.shared.add.u32 [sum], %r0;\nbar.sync 0;\n@%p0 bra done;\n"
                  "ld.shared.u32 %r1, [sum];\nred.global.add.u32 [%b], %r1;\ndone:"));
  launcher.how().block.x = 100;
  launcher.how().grid.x = 3;
  std::vector<std::uint32_t> out(1);
  ASSERT_TRUE(launcher.run("test", std::uint64_t{0}, launcher.memory().allow(out)));
  EXPECT_EQ(out.front(), 3 * 99U * 100 / 2);
}

TEST(AtomicTest, AddressesAreChecked) {
  kernel_launcher launcher(kernel_text("red.global.add.u64 [%a+4], 1;"));
  std::vector<std::uint64_t> value(2);
  const run_result misaligned =
      launcher.run("test", launcher.memory().allow(value), std::uint64_t{0});
  EXPECT_EQ(misaligned.kind, outcome::misaligned_address);
  const run_result illegal = launcher.run("test", std::uint64_t{4}, std::uint64_t{0});
  EXPECT_EQ(illegal.kind, outcome::illegal_address);
}

}  // namespace
}  // namespace cugraft_sim::ptx
