// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

// The committed kernels, whose results are computed again on the host.
namespace cugraft_sim::ptx {
namespace {

using testing::kernel_launcher;
using testing::read_kernels;

class KernelsTest : public ::testing::Test {
 protected:
  template <class T>
  std::uint64_t allow(std::vector<T>& values) {
    return launcher_.memory().allow(values);
  }

  void set_grid(unsigned grid, unsigned block) {
    launcher_.how().grid.x = grid;
    launcher_.how().block.x = block;
  }

  kernel_launcher launcher_{read_kernels("basic.ptx")};
};

std::vector<float> ramp(std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t k = 0; k < size; ++k) values[k] = 0.1F * static_cast<float>(k) - 3;
  return values;
}

TEST_F(KernelsTest, LayoutsAreThoseOfTheSource) {
  const entry& structure = *launcher_.code().find_entry("struct_argument");
  EXPECT_EQ(structure.parameters, (std::vector<parameter>{{0, 16, 8}, {16, 8, 8}}));
  const entry& mixed = *launcher_.code().find_entry("mixed_arguments");
  EXPECT_EQ(mixed.parameters,
            (std::vector<parameter>{
                {0, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {16, 4, 4}, {24, 8, 8}, {32, 8, 8}}));
  EXPECT_EQ(launcher_.code().find_entry("block_sum")->static_shared_bytes, 1024U);
  EXPECT_TRUE(launcher_.code().find_entry("no_arguments")->parameters.empty());
  EXPECT_TRUE(launcher_.run("no_arguments"));
}

TEST_F(KernelsTest, ElementwiseKernels) {
  std::vector<float> x = ramp(300);
  std::vector<float> expected = x;
  const std::uint64_t device = allow(x);
  set_grid(3, 128);
  ASSERT_TRUE(launcher_.run("add_value", device, 1.5F, 300));
  for (float& value : expected) value += 1.5F;
  EXPECT_EQ(x, expected);
  ASSERT_TRUE(launcher_.run("scale", device, 0.3F, 200));
  for (std::size_t k = 0; k < 200; ++k) expected[k] *= 0.3F;
  EXPECT_EQ(x, expected);
}

TEST_F(KernelsTest, SaxpyStridesOverTheGrid) {
  std::vector<float> x = ramp(1000);
  std::vector<float> y(1000, 2.0F);
  set_grid(2, 64);
  ASSERT_TRUE(launcher_.run("saxpy", allow(y), allow(x), 0.7F, std::uint64_t{1000}));
  for (std::size_t k = 0; k < y.size(); ++k) EXPECT_EQ(y[k], std::fma(0.7F, x[k], 2.0F));
}

TEST_F(KernelsTest, IntegerKernels) {
  std::vector<int> from(100);
  std::iota(from.begin(), from.end(), -50);
  std::vector<int> to(100);
  const std::uint64_t target = allow(to);
  set_grid(1, 128);
  ASSERT_TRUE(launcher_.run("copy_ints", target, allow(from), 100));
  EXPECT_EQ(to, from);
  ASSERT_TRUE(launcher_.run("fill_ints", target, 7, 100));
  EXPECT_EQ(to, std::vector<int>(100, 7));
  ASSERT_TRUE(launcher_.run("increment", target));
  EXPECT_EQ(to[0], 8);
  ASSERT_TRUE(launcher_.run("atomic_increment", target));
  EXPECT_EQ(to[0], 8 + 128);
}

TEST_F(KernelsTest, LogKeepsTheOrder) {
  std::vector<int> log(8);
  const std::uint64_t device = allow(log);
  ASSERT_TRUE(launcher_.run("append", device, 5));
  ASSERT_TRUE(launcher_.run("append", device, 3));
  EXPECT_EQ(log, (std::vector<int>{2, 5, 3, 0, 0, 0, 0, 0}));
}

TEST_F(KernelsTest, SpinLooksUpToItsLimit) {
  std::vector<int> flag{0, 0};
  const std::uint64_t device = allow(flag);
  ASSERT_TRUE(launcher_.run("spin", device, 0, 1000));
  ASSERT_TRUE(launcher_.run("spin", device, 1, 100'000));
  EXPECT_EQ(flag, (std::vector<int>{0, 2}));
}

TEST_F(KernelsTest, LaunchIsSeenByTheKernel) {
  std::vector<int> out(7);
  launcher_.how().grid = {4, 3, 2};
  launcher_.how().block = {8, 2, 1};
  launcher_.how().dynamic_shared_bytes = 96;
  ASSERT_TRUE(launcher_.run("write_launch", allow(out)));
  EXPECT_EQ(out, (std::vector<int>{4, 3, 2, 8, 2, 1, 96}));
}

TEST_F(KernelsTest, ArgumentsArriveWhole) {
  struct padded {
    char c;
    int i;
    double d;
  };
  std::vector<double> out(6);
  const std::uint64_t device = allow(out);
  ASSERT_TRUE(launcher_.run("struct_argument", padded{'A', -7, 2.25}, device));
  EXPECT_EQ(out, (std::vector<double>{65, -7, 2.25, 0, 0, 0}));
  ASSERT_TRUE(launcher_.run("mixed_arguments", static_cast<char>(-3), static_cast<short>(-300),
                            1 << 30, -(1LL << 40), 0.5F, 1e100, device));
  EXPECT_EQ(out, (std::vector<double>{-3, -300, 1 << 30, -0x1p40, 0.5, 1e100}));
}

TEST_F(KernelsTest, SumsByBlocks) {
  std::vector<float> x(500);
  std::iota(x.begin(), x.end(), 1.0F);
  std::vector<float> sums(4);
  set_grid(4, 128);
  ASSERT_TRUE(launcher_.run("block_sum", allow(x), allow(sums), 500));
  EXPECT_EQ(sums, (std::vector<float>{8256, 24640, 41024, 51330}));
}

TEST_F(KernelsTest, ReversesThroughDynamicSharedMemory) {
  std::vector<int> x(64);
  std::iota(x.begin(), x.end(), 0);
  set_grid(2, 32);
  launcher_.how().dynamic_shared_bytes = 128;
  const std::uint64_t device = allow(x);
  ASSERT_TRUE(launcher_.run("reverse_blocks", device));
  EXPECT_EQ(x[0], 31);
  EXPECT_EQ(x[31], 0);
  EXPECT_EQ(x[32], 63);
  launcher_.how().dynamic_shared_bytes = 127;
  EXPECT_EQ(launcher_.run("reverse_blocks", device).kind, outcome::illegal_address);
}

TEST_F(KernelsTest, NullPointerIsAnError) {
  EXPECT_EQ(launcher_.run("write_null").kind, outcome::illegal_address);
}

TEST(ClusterKernelsTest, SizeAndPlace) {
  kernel_launcher launcher(read_kernels("cluster.ptx"));
  launcher.how().grid = {4, 2, 1};
  launcher.how().cluster = {2, 2, 1};
  std::vector<int> size(4);
  ASSERT_TRUE(launcher.run("write_cluster_size", launcher.memory().allow(size)));
  EXPECT_EQ(size, (std::vector<int>{2, 2, 1, 4}));
  std::vector<int> places(32);
  ASSERT_TRUE(launcher.run("write_cluster_position", launcher.memory().allow(places)));
  const std::vector<int> last(places.end() - 4, places.end());
  EXPECT_EQ(last, (std::vector<int>{3, 1, 0, 0}));
  launcher.how().cluster = {1, 1, 1};
  EXPECT_EQ(launcher.run("fixed_cluster", launcher.memory().allow(size)).kind, outcome::bad_launch);
  launcher.how().cluster = {2, 1, 1};
  ASSERT_TRUE(launcher.run("fixed_cluster", launcher.memory().allow(size)));
  EXPECT_EQ(size[0], 2);
}

}  // namespace
}  // namespace cugraft_sim::ptx
