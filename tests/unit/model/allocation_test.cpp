// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "model/difference.hpp"
#include "model/graph.hpp"
#include "unit/model/samples.hpp"

namespace {

std::atomic<std::size_t> allocations = 0;

}  // namespace

// Not inlined: g++ would see malloc beside delete, and warn of the pair.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace cugraft::model {
namespace {

template <class Work>
std::size_t allocations_of(Work&& work) {
  const std::size_t before = allocations;
  work();
  return allocations - before;
}

TEST(AllocationTest, TheCounterCounts) {
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(1)); }), 1U);
}

TEST(AllocationTest, ComparingTakesNone) {
  kernel_value launch = scale_kernel();
  launch.attributes.others = {attribute_of(5, {1}), attribute_of(10, {1})};
  kernel_value changed = launch;
  set_argument(changed, 1, 2.0F);
  const node_value node = node_of(launch);
  graph nodes;
  nodes.append(node, {});
  nodes.append(node_of(block_copy()), {});
  nodes.append(node_of(block_fill()), {});
  nodes.append(node_of(host_value{1, 2}), {});
  nodes.append(node_of(event_value{}), {});

  std::size_t same = 0;
  EXPECT_EQ(allocations_of([&] {
              same += nodes.same(0, view_of(launch)) + nodes.same(0, view_of(changed));
              same += nodes.same(0, node) + nodes.same(1, block_copy());
              same += nodes.same(2, block_fill()) + nodes.same(3, host_value{1, 2});
              same += nodes.same(4, event_value{});
            }),
            0U);
  EXPECT_EQ(same, 6U);
}

TEST(AllocationTest, AssigningTakesNoneWhereThereIsRoom) {
  const kernel_value small = kernel_of(0x51, layout_of("k", {8}));
  const kernel_value large = kernel_of(0x52, layout_of("l", {8, 8, 8, 8}));
  graph nodes;
  for (int i = 0; i < 3; ++i) nodes.append(node_of(small), {});
  std::vector<node_value> values(3, node_of(large));
  nodes.reserve_arguments(3 * large.arguments.size());
  EXPECT_EQ(allocations_of([&] {
              for (std::size_t i = 0; i < 3; ++i) nodes.assign(i, std::move(values[i]));
            }),
            0U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(nodes.same(i, view_of(large)));
}

// A foreign kernel's layout is read anew in each session: equal ones of two sessions are compared.
TEST(AllocationTest, ComparingEqualLayoutsTakesNone) {
  const kernel_value launch =
      kernel_of(0x51, layout_of("a_name_too_long_to_be_stored_inline", {8}));
  const kernel_value again = kernel_of(0x51, layout_of("a_name_too_long_to_be_stored_inline", {8}));
  graph nodes;
  nodes.append(node_of(launch), {});
  bool same = false;
  EXPECT_EQ(allocations_of([&] { same = nodes.same(0, view_of(again)); }), 0U);
  EXPECT_TRUE(same);
}

TEST(AllocationTest, JudgingTakesNone) {
  const node_value before = node_of(scale_kernel());
  kernel_value launch = scale_kernel();
  set_argument(launch, 1, 2.0F);
  const node_value after = node_of(launch);
  verdict effect{};
  EXPECT_EQ(allocations_of([&] { effect = judge(before, after).effect; }), 0U);
  EXPECT_EQ(effect, verdict::patchable);
}

TEST(AllocationTest, ComparingEqualStructuresTakesNone) {
  const structure nodes = structure_of({{node_kind::kernel, {}}, {node_kind::copy, {{0}}}});
  const structure again = structure_of({{node_kind::kernel, {}}, {node_kind::copy, {{0}}}});
  bool differs = true;
  EXPECT_EQ(allocations_of([&] { differs = first_mismatch(nodes, again).has_value(); }), 0U);
  EXPECT_FALSE(differs);
}

}  // namespace
}  // namespace cugraft::model
