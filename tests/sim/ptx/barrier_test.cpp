// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::kernel_launcher;
using testing::kernel_text;

constexpr unsigned block = 96;

/// Runs a block of three warps; each thread has its number in %r0 and its word at %l0.
struct words_and_result {
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(block);
  run_result result;
};

words_and_result run_block(const std::string& body) {
  words_and_result made;
  kernel_launcher launcher(kernel_text(
      ".shared .align 4 .b8 tile[512];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %l0, %r0, 4, %b;\n" +
      body));
  launcher.how().block.x = block;
  made.result = launcher.run("test", std::uint64_t{0}, launcher.memory().allow(made.words));
  return made;
}

void expect_words(const words_and_result& made, std::uint32_t (*expected)(std::uint32_t)) {
  ASSERT_TRUE(made.result) << made.result.message;
  for (std::uint32_t k = 0; k < block; ++k) ASSERT_EQ(made.words[k], expected(k)) << "thread " << k;
}

/// Writes the own number, waits, and reads that of the opposite thread.
std::string exchange(const std::string& barrier) {
  return "shl.b32 %r1, %r0, 2;\nmov.u32 %r2, tile;\nadd.u32 %r3, %r2, %r1;\n"
         "st.shared.u32 [%r3], %r0;\n" +
         barrier +
         "\nsub.u32 %r4, 380, %r1;\nadd.u32 %r4, %r2, %r4;\nld.shared.u32 %r5, [%r4];\n"
         "st.global.u32 [%l0], %r5;";
}

TEST(BarrierTest, ThreadsSeeWhatOthersWroteBefore) {
  for (const std::string barrier :
       {"bar.sync 0;", "barrier.sync 3;", "barrier.cta.sync.aligned 0;", "bar.sync 1, 96;"})
    expect_words(run_block(exchange(barrier)), [](std::uint32_t k) { return 95 - k; });
}

TEST(BarrierTest, ThreadsThatHaveExitedAreNotWaitedFor) {
  const auto made =
      run_block("setp.lt.u32 %p0, %r0, 40;\n@%p0 exit;\nbar.sync 0;\nst.global.u32 [%l0], 1;");
  expect_words(made, [](std::uint32_t k) { return k < 40 ? 0U : 1U; });
}

TEST(BarrierTest, ReductionsOverTheBlock) {
  const std::string before = "setp.lt.u32 %p0, %r0, 40;\n";
  const std::string after = "\nst.global.u32 [%l0], %r1;";
  expect_words(run_block(before + "bar.red.popc.u32 %r1, 0, %p0;" + after),
               [](std::uint32_t) { return 40U; });
  expect_words(run_block(before + "barrier.red.popc.aligned.u32 %r1, 0, !%p0;" + after),
               [](std::uint32_t) { return 56U; });
  expect_words(
      run_block(before + "bar.red.and.pred %p1, 0, %p0;\nselp.u32 %r1, 1, 0, %p1;" + after),
      [](std::uint32_t) { return 0U; });
  expect_words(
      run_block(before + "bar.red.or.pred %p1, 0, 96, %p0;\nselp.u32 %r1, 1, 0, %p1;" + after),
      [](std::uint32_t) { return 1U; });
}

TEST(BarrierTest, ProducersArriveAndConsumersWait) {
  const auto made = run_block(
      "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra consume;\n"
      "shl.b32 %r1, %r0, 2;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\nst.shared.u32 [%r2], 5;\n"
      "bar.arrive 2, 96;\nexit;\n"
      "consume:\nbar.sync 2, 96;\nld.shared.u32 %r1, [tile+380];\nst.global.u32 [%l0], %r1;");
  expect_words(made, [](std::uint32_t k) { return k < 32 ? 5U : 0U; });
}

TEST(BarrierTest, WaitingForWhatNeverComesIsAnError) {
  const auto made = run_block(
      "setp.lt.u32 %p0, %r0, 40;\n@%p0 bra other;\nbar.sync 0;\nexit;\nother:\nbar.sync 1;");
  EXPECT_EQ(made.result.kind, outcome::barrier);
  EXPECT_EQ(made.result.message,
            "kernel 'test', block (0, 0, 0), thread (0, 0, 0): waits for threads that never come "
            "in bar.sync, line 22");
}

TEST(BarrierTest, ThereAreSixteen) {
  EXPECT_TRUE(run_block("mov.u32 %r1, 15;\nbar.sync %r1;").result);
  const auto made = run_block("mov.u32 %r1, 16;\nbar.sync %r1;");
  EXPECT_EQ(made.result.kind, outcome::barrier);
}

TEST(BarrierTest, ThreadsThatSpinLetOthersRun) {
  // Thread 0 waits for thread 95 through shared memory.
  const auto made = run_block(
      "setp.ne.u32 %p0, %r0, 0;\n@!%p0 st.shared.u32 [tile], 0;\nbar.sync 0;\n"
      "setp.eq.u32 %p1, %r0, 95;\n@%p1 st.volatile.shared.u32 [tile], 1;\n@%p0 exit;\n"
      "again:\nld.volatile.shared.u32 %r1, [tile];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra again;\n"
      "st.global.u32 [%l0], 9;");
  expect_words(made, [](std::uint32_t k) { return k == 0 ? 9U : 0U; });
}

}  // namespace
}  // namespace cugraft_sim::ptx
