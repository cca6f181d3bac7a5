// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::kernel_launcher;
using testing::kernel_text;

constexpr std::uint32_t all = 0xFFFFFFFF;

/// Runs two warps, each thread with its number plus 100 in %r0; what is in %r1 is the result.
std::vector<std::uint32_t> run_warps(const std::string& body, unsigned threads = 64) {
  std::vector<std::uint32_t> words(threads);
  kernel_launcher launcher(
      kernel_text("mov.u32 %r2, %tid.x;\nmad.wide.u32 %l0, %r2, 4, %b;\n"
                  "add.u32 %r0, %r2, 100;\nmov.u32 %r3, %laneid;\n" +
                  body + "\nst.global.u32 [%l0], %r1;"));
  launcher.how().block.x = threads;
  const run_result result = launcher.run("test", std::uint64_t{0}, launcher.memory().allow(words));
  EXPECT_TRUE(result) << result.message;
  return words;
}

void expect_lanes(const std::vector<std::uint32_t>& words,
                  const std::function<std::uint32_t(std::uint32_t)>& expected) {
  for (std::uint32_t k = 0; k < words.size(); ++k) ASSERT_EQ(words[k], expected(k)) << "lane " << k;
}

TEST(WarpTest, Shuffles) {
  const auto shuffle = [](const std::string& how) {
    return run_warps("shfl.sync." + how + ", 0xffffffff;");
  };
  expect_lanes(shuffle("up.b32 %r1, %r0, 3, 0"),
               [](std::uint32_t k) { return 100 + (k % 32 < 3 ? k : k - 3); });
  expect_lanes(shuffle("down.b32 %r1, %r0, 3, 31"),
               [](std::uint32_t k) { return 100 + (k % 32 > 28 ? k : k + 3); });
  expect_lanes(shuffle("bfly.b32 %r1, %r0, 5, 31"), [](std::uint32_t k) { return 100 + (k ^ 5); });
  expect_lanes(shuffle("idx.b32 %r1, %r0, 7, 31"),
               [](std::uint32_t k) { return 100 + k / 32 * 32 + 7; });
}

TEST(WarpTest, ShufflesWithinSegments) {
  // Segments of eight lanes, as __shfl_down_sync(mask, value, 2, 8) has them.
  expect_lanes(run_warps("shfl.sync.down.b32 %r1, %r0, 2, 6175, 0xffffffff;"),
               [](std::uint32_t k) { return 100 + (k % 8 > 5 ? k : k + 2); });
  expect_lanes(run_warps("shfl.sync.idx.b32 %r1, %r0, 9, 6175, 0xffffffff;"),
               [](std::uint32_t k) { return 100 + k / 8 * 8 + 1; });
  expect_lanes(run_warps("shfl.sync.up.b32 %r1, %r0, 2, 6144, 0xffffffff;"),
               [](std::uint32_t k) { return 100 + (k % 8 < 2 ? k : k - 2); });
}

TEST(WarpTest, ShuffleTellsWhoReadAnother) {
  expect_lanes(run_warps("shfl.sync.down.b32 %r4|%p0, %r0, 1, 31, 0xffffffff;\n"
                         "selp.u32 %r1, 1, 0, %p0;"),
               [](std::uint32_t k) { return k % 32 == 31 ? 0U : 1U; });
}

TEST(WarpTest, ButterflySumsTheWarp) {
  std::string body = "mov.u32 %r1, %r0;\n";
  for (const char* step : {"16", "8", "4", "2", "1"})
    body += "shfl.sync.bfly.b32 %r4, %r1, " + std::string(step) +
            ", 31, 0xffffffff;\nadd.u32 %r1, %r1, %r4;\n";
  expect_lanes(run_warps(body),
               [](std::uint32_t k) { return 32 * (100 + k / 32 * 32) + 31 * 32 / 2; });
}

TEST(WarpTest, Votes) {
  const std::string before = "setp.lt.u32 %p0, %r3, 5;\n";
  expect_lanes(run_warps(before + "vote.sync.ballot.b32 %r1, %p0, 0xffffffff;"),
               [](std::uint32_t) { return 31U; });
  expect_lanes(run_warps(before + "vote.sync.ballot.b32 %r1, !%p0, 0xffffffff;"),
               [](std::uint32_t) { return all ^ 31U; });
  const auto vote = [&before](const std::string& how) {
    return run_warps(before + "vote.sync." + how + ".pred %p1, %p0, 0xffffffff;\n" +
                     "selp.u32 %r1, 1, 0, %p1;");
  };
  expect_lanes(vote("all"), [](std::uint32_t) { return 0U; });
  expect_lanes(vote("any"), [](std::uint32_t) { return 1U; });
  expect_lanes(vote("uni"), [](std::uint32_t) { return 0U; });
}

TEST(WarpTest, OnlyTheLanesOfTheMaskTakePart) {
  expect_lanes(run_warps("mov.u32 %r1, 0;\nsetp.lt.u32 %p0, %r3, 4;\n@!%p0 bra done;\n"
                         "shfl.sync.idx.b32 %r1, %r0, 3, 31, 15;\ndone:"),
               [](std::uint32_t k) { return k % 32 < 4 ? 100 + k / 32 * 32 + 3 : 0; });
}

TEST(WarpTest, PartialWarpsTakeTheFullMask) {
  expect_lanes(
      run_warps("setp.ge.u32 %p0, %r0, 0;\nvote.sync.ballot.b32 %r1, %p0, 0xffffffff;", 40),
      [](std::uint32_t k) { return k < 32 ? all : 0xFFU; });
}

TEST(WarpTest, Reductions) {
  const auto reduce = [](const std::string& how) {
    return run_warps("redux.sync." + how + " %r1, %r3, 0xffffffff;");
  };
  expect_lanes(reduce("add.u32"), [](std::uint32_t) { return 496U; });
  expect_lanes(reduce("min.u32"), [](std::uint32_t) { return 0U; });
  expect_lanes(reduce("max.s32"), [](std::uint32_t) { return 31U; });
  expect_lanes(reduce("and.b32"), [](std::uint32_t) { return 0U; });
  expect_lanes(reduce("or.b32"), [](std::uint32_t) { return 31U; });
  expect_lanes(reduce("xor.b32"), [](std::uint32_t) { return 0U; });
}

TEST(WarpTest, Matches) {
  expect_lanes(run_warps("and.b32 %r4, %r3, 1;\nmatch.any.sync.b32 %r1, %r4, 0xffffffff;"),
               [](std::uint32_t k) { return k % 2 == 0 ? 0x55555555U : 0xAAAAAAAAU; });
  expect_lanes(run_warps("and.b32 %r4, %r3, 1;\nmatch.all.sync.b32 %r1|%p0, %r4, 0xffffffff;\n"
                         "selp.u32 %r1, 7, %r1, %p0;"),
               [](std::uint32_t) { return 0U; });
  expect_lanes(run_warps("mov.u64 %l1, 5;\nmatch.all.sync.b64 %r1|%p0, %l1, 0xffffffff;\n"
                         "selp.u32 %r1, 7, %r1, %p0;"),
               [](std::uint32_t) { return 7U; });
}

TEST(WarpTest, ElectsTheLowestLane) {
  expect_lanes(run_warps("mov.u32 %r1, 0;\nsetp.lt.u32 %p0, %r3, 4;\n@%p0 bra done;\n"
                         "elect.sync %r4|%p1, 0xfffffff0;\nselp.u32 %r1, %r4, 1, %p1;\ndone:"),
               [](std::uint32_t k) { return k % 32 < 4    ? 0U
                                            : k % 32 == 4 ? 4U
                                                          : 1U; });
}

TEST(WarpTest, BarrierOfAWarp) {
  expect_lanes(run_warps(".shared .align 4 .b8 tile[256];\nmov.u32 %r4, tile;\n"
                         "mad.lo.u32 %r5, %r2, 4, %r4;\nst.shared.u32 [%r5], %r0;\n"
                         "bar.warp.sync 0xffffffff;\nxor.b32 %r5, %r5, 4;\n"
                         "ld.shared.u32 %r1, [%r5];"),
               [](std::uint32_t k) { return 100 + (k ^ 1); });
}

TEST(WarpTest, ActiveMaskIsTheOwnLane) {
  expect_lanes(run_warps("activemask.b32 %r4;\nshfl.sync.idx.b32 %r1, %r0, %r3, 31, %r4;"),
               [](std::uint32_t k) { return 100 + k; });
  expect_lanes(run_warps("activemask.b32 %r1;"), [](std::uint32_t k) { return 1U << k % 32; });
}

TEST(WarpTest, AMaskWithoutTheOwnLaneIsAnError) {
  kernel_launcher launcher(kernel_text("bar.warp.sync 2;"));
  const run_result result = launcher.run("test", std::uint64_t{0}, std::uint64_t{0});
  EXPECT_EQ(result.kind, outcome::trap);
  EXPECT_EQ(result.message,
            "kernel 'test', block (0, 0, 0), thread (0, 0, 0): names other lanes of the warp only "
            "in bar.warp.sync, line 14");
}

}  // namespace
}  // namespace cugraft_sim::ptx
