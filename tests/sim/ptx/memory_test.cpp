// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::kernel_launcher;
using testing::kernel_text;

/// Runs `body` once with %a at `in`, for reading, and %b at `out`.
template <class In, class Out>
run_result run_body(const std::string& body, std::vector<In>& in, std::vector<Out>& out,
                    const std::string& declarations = "") {
  kernel_launcher launcher(kernel_text(body, declarations));
  const std::uint64_t a = launcher.memory().allow_reading(in);
  return launcher.run("test", a, launcher.memory().allow(out));
}

TEST(MemoryTest, LoadsExtendAsTheirTypeSays) {
  std::vector<std::uint64_t> in{0xFEDCBA98FFFFFF80};
  std::vector<std::uint64_t> out(5);
  ASSERT_TRUE(
      run_body("ld.global.s8 %l0, [%a];\nst.global.u64 [%b], %l0;\n"
               "ld.global.u8 %l0, [%a];\nst.global.u64 [%b+8], %l0;\n"
               "ld.global.s16 %l0, [%a+2];\nst.global.u64 [%b+16], %l0;\n"
               "ld.global.s32 %l0, [%a];\nst.global.u64 [%b+24], %l0;\n"
               "ld.global.u32 %l0, [%a+4];\nst.global.u64 [%b+32], %l0;",
               in, out));
  EXPECT_EQ(out, (std::vector<std::uint64_t>{0xFFFFFFFFFFFFFF80, 0x80, 0xFFFFFFFFFFFFFFFF,
                                             0xFFFFFFFFFFFFFF80, 0xFEDCBA98}));
}

TEST(MemoryTest, StoresWriteTheirSizeAndNoMore) {
  std::vector<int> in(1);
  std::vector<std::uint64_t> out(2, ~std::uint64_t{0});
  ASSERT_TRUE(
      run_body("mov.u64 %l0, 0;\nst.global.b8 [%b+1], %l0;\nst.global.u16 [%b+4], %l0;\n"
               "mov.u32 %r0, 5;\nst.global.u32 [%b+8], %r0;",
               in, out));
  EXPECT_EQ(out, (std::vector<std::uint64_t>{0xFFFF0000FFFF00FF, 0xFFFFFFFF00000005}));
}

TEST(MemoryTest, Vectors) {
  std::vector<std::uint64_t> in{0x0000000200000001, 0x0000000400000003};
  std::vector<std::uint64_t> out(4);
  ASSERT_TRUE(
      run_body("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a];\n"
               "st.global.v4.u32 [%b], {%r3, %r2, %r1, %r0};\n"
               "ld.global.v2.u64 {%l0, %l1}, [%a];\n"
               "st.global.v2.b64 [%b+16], {%l1, 7};",
               in, out));
  EXPECT_EQ(out, (std::vector<std::uint64_t>{0x0000000300000004, 0x0000000100000002,
                                             0x0000000400000003, 7}));
}

TEST(MemoryTest, OrdersScopesAndHintsAreTaken) {
  std::vector<std::uint32_t> in{1};
  std::vector<std::uint32_t> out(1);
  ASSERT_TRUE(
      run_body("ld.volatile.global.u32 %r0, [%a];\nld.relaxed.sys.global.u32 %r1, [%a];\n"
               "ld.acquire.gpu.global.u32 %r2, [%a];\nld.global.nc.u32 %r3, [%a];\n"
               "ld.global.cg.u32 %r4, [%a];\n"
               "ld.global.nc.L1::no_allocate.L2::128B.u32 %r5, [%a];\n"
               "add.u32 %r0, %r0, %r1;\nadd.u32 %r0, %r0, %r2;\nadd.u32 %r0, %r0, %r3;\n"
               "add.u32 %r0, %r0, %r4;\nadd.u32 %r0, %r0, %r5;\n"
               "prefetch.global.L2 [%a];\nmembar.gl;\nfence.acq_rel.gpu;\n"
               "st.release.cta.global.u32 [%b], %r0;",
               in, out));
  EXPECT_EQ(out.front(), 6U);
}

TEST(MemoryTest, SharedAndLocalThroughTheirOwnAndThroughGenericAddresses) {
  std::vector<std::uint32_t> in{7};
  std::vector<std::uint32_t> out(5);
  ASSERT_TRUE(
      run_body(".local .align 8 .b8 depot[16];\n.shared .align 4 .b8 tile[32];\n"
               "mov.u32 %r0, tile;\nst.shared.u32 [%r0+4], 11;\n"
               "cvt.u64.u32 %l0, %r0;\ncvta.shared.u64 %l0, %l0;\n"
               "ld.u32 %r1, [%l0+4];\nst.global.u32 [%b], %r1;\n"
               "mov.u64 %l1, depot;\nst.local.u32 [%l1+8], 13;\ncvta.local.u64 %l2, %l1;\n"
               "ld.u32 %r1, [%l2+8];\nst.global.u32 [%b+4], %r1;\n"
               "st.u32 [%l2+12], 17;\nld.local.u32 %r1, [depot+12];\n"
               "st.u32 [%b+8], %r1;\n"
               "cvta.to.shared.u64 %l3, %l0;\nld.shared.u32 %r1, [%l3+4];\n"
               "st.global.u32 [%b+12], %r1;\n"
               "isspacep.shared %p0, %l0;\nisspacep.global %p1, %b;\n"
               "isspacep.local %p2, %l0;\nand.pred %p0, %p0, %p1;\n"
               "selp.u32 %r1, 1, 0, %p0;\n@%p2 mov.u32 %r1, 9;\nst.global.u32 [%b+16], %r1;",
               in, out));
  EXPECT_EQ(out, (std::vector<std::uint32_t>{11, 13, 17, 11, 1}));
}

TEST(MemoryTest, LocalAndSharedMemoryDoNotBeginAsZero) {
  std::vector<int> in(1);
  std::vector<std::uint32_t> out(2);
  ASSERT_TRUE(
      run_body(".local .align 4 .b8 depot[4];\n.shared .align 4 .b8 tile[4];\n"
               "ld.local.u32 %r0, [depot];\nst.global.u32 [%b], %r0;\n"
               "ld.shared.u32 %r0, [tile];\nst.global.u32 [%b+4], %r0;",
               in, out));
  EXPECT_EQ(out, (std::vector<std::uint32_t>{0xA5A5A5A5, 0xA5A5A5A5}));
}

TEST(MemoryTest, GlobalsAndConstantsOfTheModule) {
  std::vector<int> in(1);
  std::vector<std::uint32_t> out(4);
  ASSERT_TRUE(
      run_body("ld.global.u32 %r0, [counter];\nst.global.u32 [%b], %r0;\n"
               "ld.const.u32 %r0, [table+4];\nst.global.u32 [%b+4], %r0;\n"
               "ld.global.u64 %l0, [pointer];\nld.u32 %r0, [%l0];\n"
               "st.global.u32 [%b+8], %r0;\n"
               "mov.u64 %l1, counter;\nst.global.u32 [%l1], 6;\n"
               "ld.global.u32 %r0, [counter];\nst.global.u32 [%b+12], %r0;",
               in, out,
               ".global .align 4 .u32 counter = 5;\n"
               ".const .align 4 .u32 table[2] = {1, 77};\n"
               ".global .align 8 .u64 pointer = generic(table)+4;\n"));
  EXPECT_EQ(out, (std::vector<std::uint32_t>{5, 77, 77, 6}));
}

TEST(MemoryTest, ParametersByAddress) {
  std::vector<std::uint64_t> in{42};
  std::vector<std::uint64_t> out(2);
  ASSERT_TRUE(
      run_body("mov.b64 %l0, p_a;\nld.param.u64 %l1, [%l0];\nld.global.u64 %l1, [%l1];\n"
               "st.global.u64 [%b], %l1;\n"
               "cvta.param.u64 %l2, %l0;\nld.u64 %l3, [%l2+8];\n"
               "sub.u64 %l3, %l3, %b;\nst.global.u64 [%b+8], %l3;",
               in, out));
  EXPECT_EQ(out, (std::vector<std::uint64_t>{42, 0}));
}

TEST(MemoryTest, PacksAndUnpacks) {
  std::vector<std::uint64_t> in{0x0123456789ABCDEF};
  std::vector<std::uint64_t> out(3);
  ASSERT_TRUE(
      run_body("ld.global.u64 %l0, [%a];\nmov.b64 {%r0, %r1}, %l0;\n"
               "mov.b64 %l1, {%r1, %r0};\nst.global.u64 [%b], %l1;\n"
               "mov.b64 {%h0, %h1, %h2, %h3}, %l0;\nmov.b64 %l1, {%h3, %h2, %h1, %h0};\n"
               "st.global.u64 [%b+8], %l1;\n"
               "mov.b64 {_, %r2}, %l0;\nmov.u64 %l1, 0;\ncvt.u64.u32 %l1, %r2;\n"
               "st.global.u64 [%b+16], %l1;",
               in, out));
  EXPECT_EQ(out, (std::vector<std::uint64_t>{0x89ABCDEF01234567, 0xCDEF89AB45670123, 0x01234567}));
}

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << value;
  return text.str();
}

TEST(MemoryTest, IllegalAddressesStopTheKernel) {
  std::vector<std::uint32_t> in(2);
  std::vector<std::uint32_t> out(1);
  const run_result null = run_body("ld.global.u32 %r0, [0];", in, out);
  EXPECT_EQ(null.kind, outcome::illegal_address);
  EXPECT_EQ(null.message,
            "kernel 'test', block (0, 0, 0), thread (0, 0, 0): illegal address 0x0 (4 bytes) in "
            "ld.global.u32, line 14");
  const std::uint64_t end = reinterpret_cast<std::uintptr_t>(in.data() + in.size());
  const run_result beyond = run_body("ld.global.u32 %r0, [%a+8];", in, out);
  EXPECT_EQ(beyond.kind, outcome::illegal_address);
  EXPECT_EQ(beyond.message, "kernel 'test', block (0, 0, 0), thread (0, 0, 0): illegal address " +
                                hexadecimal(end) + " (4 bytes) in ld.global.u32, line 14");
}

TEST(MemoryTest, VectorsThatReachBeyondTheEndAreIllegal) {
  std::vector<std::uint64_t> in(3);
  std::vector<std::uint32_t> out(1);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(in.data()) % 16, 0U);
  EXPECT_EQ(run_body("ld.global.v2.u64 {%l0, %l1}, [%a+16];", in, out).kind,
            outcome::illegal_address);
}

TEST(MemoryTest, ReadOnlyMemoryIsNotWritten) {
  std::vector<std::uint32_t> in{1};
  std::vector<std::uint32_t> out(1);
  const run_result result = run_body("ld.global.u32 %r0, [%a];\nst.global.u32 [%a], 2;", in, out);
  EXPECT_EQ(result.kind, outcome::illegal_address);
  EXPECT_EQ(in.front(), 1U);
}

TEST(MemoryTest, MisalignedAddressesStopTheKernel) {
  std::vector<std::uint64_t> in(2);
  std::vector<std::uint32_t> out(1);
  const run_result result = run_body("ld.global.u32 %r0, [%a+2];", in, out);
  EXPECT_EQ(result.kind, outcome::misaligned_address);
  EXPECT_EQ(result.message,
            "kernel 'test', block (0, 0, 0), thread (0, 0, 0): misaligned address " +
                hexadecimal(reinterpret_cast<std::uintptr_t>(in.data()) + 2) +
                " (4 bytes) in ld.global.u32, line 14");
}

TEST(MemoryTest, WindowsHaveEnds) {
  std::vector<std::uint32_t> in(1);
  std::vector<std::uint32_t> out(1);
  const run_result shared =
      run_body(".shared .align 4 .b8 tile[8];\nst.shared.u32 [tile+8], 1;", in, out);
  EXPECT_EQ(shared.kind, outcome::illegal_address);
  EXPECT_EQ(shared.message,
            "kernel 'test', block (0, 0, 0), thread (0, 0, 0): illegal shared address 0x8 (4 "
            "bytes) in st.shared.u32, line 15");
  EXPECT_EQ(run_body(".local .align 4 .b8 depot[8];\nst.local.u32 [depot+8], 1;", in, out).kind,
            outcome::illegal_address);
  EXPECT_EQ(run_body("ld.param.u64 %l0, [p_a+16];", in, out).kind, outcome::illegal_address);
}

TEST(MemoryTest, AsksOncePerAllocation) {
  std::vector<std::uint32_t> in(1);
  std::vector<std::uint32_t> out(1);
  kernel_launcher launcher(
      kernel_text("mov.u32 %r0, 0;\nagain:\nld.global.u32 %r1, [%a];\nst.global.u32 [%b], %r1;\n"
                  "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 100;\n@%p0 bra again;"));
  const std::uint64_t a = launcher.memory().allow_reading(in);
  ASSERT_TRUE(launcher.run("test", a, launcher.memory().allow(out)));
  EXPECT_EQ(launcher.memory().questions(), 2U);
}

}  // namespace
}  // namespace cugraft_sim::ptx
