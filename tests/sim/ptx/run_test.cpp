// SPDX-License-Identifier: Apache-2.0
#include "ptx/run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::device_memory;
using testing::kernel_launcher;
using testing::kernel_text;

/// Runs one kernel that stores `name` of each thread, for a grid in three dimensions.
std::vector<std::uint32_t> read_special(const std::string& name, const dimensions& grid,
                                        const dimensions& block, const dimensions& cluster = {}) {
  kernel_launcher launcher(kernel_text(
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %ctaid.z;\n"
      "mov.u32 %r3, %nctaid.x;\nmov.u32 %r4, %nctaid.y;\n"
      "mad.lo.u32 %r1, %r2, %r4, %r1;\nmad.lo.u32 %r0, %r1, %r3, %r0;\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
      "mov.u32 %r4, %ntid.x;\nmov.u32 %r5, %ntid.y;\nmov.u32 %r6, %ntid.z;\n"
      "mad.lo.u32 %r2, %r3, %r5, %r2;\nmad.lo.u32 %r1, %r2, %r4, %r1;\n"
      "mul.lo.u32 %r4, %r4, %r5;\nmul.lo.u32 %r4, %r4, %r6;\nmad.lo.u32 %r0, %r0, %r4, %r1;\n"
      "mad.wide.u32 %l0, %r0, 4, %b;\nmov.u32 %r7, " +
      name + ";\nst.global.u32 [%l0], %r7;"));
  launcher.how().grid = grid;
  launcher.how().block = block;
  launcher.how().cluster = cluster;
  launcher.how().dynamic_shared_bytes = 48;
  std::vector<std::uint32_t> words(std::size_t{grid.x} * grid.y * grid.z * block.x * block.y *
                                   block.z);
  const run_result result = launcher.run("test", std::uint64_t{0}, launcher.memory().allow(words));
  EXPECT_TRUE(result) << result.message;
  return words;
}

using words = std::vector<std::uint32_t>;

TEST(RunTest, PlacesOfThreadsAndBlocks) {
  EXPECT_EQ(read_special("%tid.x", {1, 1, 1}, {3, 2, 1}), (words{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(read_special("%tid.y", {1, 1, 1}, {3, 2, 1}), (words{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(read_special("%tid.z", {1, 1, 1}, {1, 2, 2}), (words{0, 0, 1, 1}));
  EXPECT_EQ(read_special("%ctaid.x", {2, 2, 1}, {1, 1, 1}), (words{0, 1, 0, 1}));
  EXPECT_EQ(read_special("%ctaid.y", {2, 2, 1}, {1, 1, 1}), (words{0, 0, 1, 1}));
  EXPECT_EQ(read_special("%ctaid.z", {2, 1, 2}, {1, 1, 1}), (words{0, 0, 1, 1}));
  EXPECT_EQ(read_special("%nctaid.z", {2, 1, 2}, {1, 1, 1}), (words{2, 2, 2, 2}));
  EXPECT_EQ(read_special("%ntid.y", {1, 1, 1}, {1, 3, 1}), (words{3, 3, 3}));
}

TEST(RunTest, PlacesInWarps) {
  const words lanes = read_special("%laneid", {1, 1, 1}, {5, 10, 1});
  EXPECT_EQ(lanes[31], 31U);
  EXPECT_EQ(lanes[32], 0U);
  EXPECT_EQ(read_special("%warpid", {1, 1, 1}, {5, 10, 1})[32], 1U);
  EXPECT_EQ(read_special("%nwarpid", {1, 1, 1}, {5, 10, 1})[0], 2U);
  EXPECT_EQ(read_special("%lanemask_lt", {1, 1, 1}, {3, 1, 1}), (words{0, 1, 3}));
  EXPECT_EQ(read_special("%lanemask_le", {1, 1, 1}, {3, 1, 1}), (words{1, 3, 7}));
  EXPECT_EQ(read_special("%lanemask_eq", {1, 1, 1}, {3, 1, 1}), (words{1, 2, 4}));
  EXPECT_EQ(read_special("%lanemask_ge", {1, 1, 1}, {2, 1, 1}), (words{0xFFFFFFFF, 0xFFFFFFFE}));
  EXPECT_EQ(read_special("%lanemask_gt", {1, 1, 1}, {2, 1, 1}), (words{0xFFFFFFFE, 0xFFFFFFFC}));
}

TEST(RunTest, PlacesInClusters) {
  const dimensions grid{4, 2, 1};
  const dimensions one{1, 1, 1};
  const dimensions cluster{2, 2, 1};
  EXPECT_EQ(read_special("%clusterid.x", grid, one, cluster), (words{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(read_special("%nclusterid.x", grid, one, cluster), words(8, 2));
  EXPECT_EQ(read_special("%nclusterid.y", grid, one, cluster), words(8, 1));
  EXPECT_EQ(read_special("%cluster_ctaid.x", grid, one, cluster), (words{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(read_special("%cluster_ctaid.y", grid, one, cluster), (words{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(read_special("%cluster_nctaid.x", grid, one, cluster), words(8, 2));
  EXPECT_EQ(read_special("%cluster_ctarank", grid, one, cluster), (words{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(read_special("%cluster_nctarank", grid, one, cluster), words(8, 4));
}

TEST(RunTest, SharedMemorySizes) {
  EXPECT_EQ(read_special("%dynamic_smem_size", {1, 1, 1}, {1, 1, 1}), (words{48}));
  EXPECT_EQ(read_special("%total_smem_size", {1, 1, 1}, {1, 1, 1}), (words{48}));
}

class BadLaunchTest : public ::testing::Test {
 protected:
  static run_result run_with(const std::string& tuning, const launch& how) {
    const std::string text = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(" +
                             std::string(".param .u64 p)\n") + tuning + "\n{\ntrap;\n}\n";
    const auto code = ptx_module::load(text);
    launch full = how;
    const std::vector<std::byte> parameters(8);
    if (full.parameters.empty()) full.parameters = parameters;
    device_memory none;
    return run(*code, code->entries().front(), full, none);
  }

  static void expect_refused(const std::string& tuning, const launch& how,
                             const std::string& message) {
    const run_result result = run_with(tuning, how);
    EXPECT_EQ(result.kind, outcome::bad_launch);
    EXPECT_EQ(result.message, message);
  }
};

TEST_F(BadLaunchTest, Dimensions) {
  launch how;
  how.grid.y = 0;
  expect_refused("", how,
                 "kernel 'k': a dimension is zero: grid (1, 0, 1), block (1, 1, 1), cluster (1, 1, "
                 "1)");
  how = {};
  how.block = {1024, 2, 1};
  expect_refused("", how, "kernel 'k': block (1024, 2, 1) has more than 1024 threads");
  how = {};
  how.grid = {3, 1, 1};
  how.cluster = {2, 1, 1};
  expect_refused("", how, "kernel 'k': grid (3, 1, 1) does not divide into clusters of (2, 1, 1)");
}

TEST_F(BadLaunchTest, BoundsOfTheKernel) {
  launch how;
  how.block = {65, 1, 1};
  expect_refused(".maxntid 8, 8, 1", how,
                 "kernel 'k': block (65, 1, 1) has more threads than .maxntid says");
  expect_refused(".reqntid 64", how, "kernel 'k': block (65, 1, 1) is not the .reqntid (64, 1, 1)");
  expect_refused(".explicitcluster\n.reqnctapercluster 2, 1, 1", how,
                 "kernel 'k': cluster (1, 1, 1) is not the .reqnctapercluster (2, 1, 1)");
  how.block = {64, 1, 1};
  EXPECT_EQ(run_with(".maxntid 8, 8, 1", how).kind, outcome::trap);  // the product is the limit
}

TEST_F(BadLaunchTest, ParametersAndSharedMemory) {
  launch how;
  const std::vector<std::byte> few(7);
  how.parameters = few;
  expect_refused("", how, "kernel 'k': 7 bytes of parameters, of 8");
  how = {};
  how.dynamic_shared_bytes = (1U << 20) + 1;
  expect_refused("", how, "kernel 'k': more than 1 MiB of shared memory");
}

const char* const wait_for_flag =
    "again:\nld.volatile.global.u32 %r0, [%b];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra again;";

TEST(RunTest, CancelledLaunchesEnd) {
  kernel_launcher launcher(kernel_text(wait_for_flag));
  std::vector<std::uint32_t> flag(1);
  std::atomic<bool> cancelled = true;
  launcher.how().cancelled = &cancelled;
  const run_result result = launcher.run("test", std::uint64_t{0}, launcher.memory().allow(flag));
  EXPECT_EQ(result.kind, outcome::cancelled);
  EXPECT_EQ(result.message, "kernel 'test' was cancelled");
}

TEST(RunTest, LaunchesOfOneModuleSeeEachOther) {
  const auto waiting = ptx_module::load(kernel_text(wait_for_flag));
  std::vector<std::uint32_t> flag(1);
  device_memory memory;
  std::vector<std::uint64_t> parameters{0, memory.allow(flag)};
  launch how;
  how.parameters = std::as_bytes(std::span(parameters));
  run_result first;
  std::thread waits([&] { first = run(*waiting, waiting->entries().front(), how, memory); });
  std::atomic_ref(flag.front()).store(1);
  waits.join();
  EXPECT_TRUE(first) << first.message;
}

TEST(RunTest, AtomicsOfConcurrentLaunchesLoseNothing) {
  const auto code = ptx_module::load(kernel_text("red.global.add.u32 [%b], 1;"));
  std::vector<std::uint32_t> sum(1);
  device_memory memory;
  std::vector<std::uint64_t> parameters{0, memory.allow(sum)};
  const auto launch_one = [&] {
    launch how;
    how.parameters = std::as_bytes(std::span(parameters));
    how.grid.x = 50;
    how.block.x = 128;
    device_memory own = memory;
    EXPECT_TRUE(run(*code, code->entries().front(), how, own));
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back(launch_one);
  for (std::thread& next : threads) next.join();
  EXPECT_EQ(sum.front(), 4U * 50 * 128);
}

}  // namespace
}  // namespace cugraft_sim::ptx
