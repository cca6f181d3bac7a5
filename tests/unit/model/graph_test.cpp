// SPDX-License-Identifier: Apache-2.0
#include "model/graph.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "model/difference.hpp"
#include "unit/model/samples.hpp"

namespace cugraft::model {
namespace {

bool equal(const node_value& a, const node_value& b) {
  return a.kind == b.kind && a.owner == b.owner && differences(a, b).empty();
}

std::vector<node_value> one_of_each() {
  return {node_of(scale_kernel()),
          node_of(row_copy()),
          node_of(block_fill()),
          node_of(host_value{0x1000, 0x2000}),
          node_of(event_value{handle<CUevent>(0x3)}),
          node_of(opaque_value{}, node_kind{18})};
}

graph graph_of(const std::vector<node_value>& values) {
  graph result;
  for (const node_value& value : values) result.append(value, {});
  return result;
}

TEST(ModelGraphTest, GivesBackWhatWasAppended) {
  std::vector<node_value> values = one_of_each();
  values[0].owner = std::make_shared<int>(1);
  const graph nodes = graph_of(values);
  ASSERT_EQ(nodes.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(nodes.kind(i), values[i].kind);
    EXPECT_TRUE(equal(nodes.value(i), values[i])) << i;
    EXPECT_TRUE(nodes.same(i, values[i])) << i;
    EXPECT_EQ(nodes.owner(i), values[i].owner);
  }
}

TEST(ModelGraphTest, NamesAreThoseOfKernels) {
  const graph nodes = graph_of(one_of_each());
  EXPECT_EQ(nodes.name(0), "scale");
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_EQ(nodes.name(i), "");
}

TEST(ModelGraphTest, ALayoutMayBeUnknown) {
  kernel_value bare;
  bare.function = handle<CUfunction>(0x51);
  const graph nodes = graph_of({node_of(bare)});
  EXPECT_EQ(nodes.name(0), "");
  EXPECT_EQ(nodes.layout(0), nullptr);
}

TEST(ModelGraphTest, TagsCanBeSet) {
  graph nodes;
  nodes.append(node_of(row_copy()), {}, "load");
  nodes.append(node_of(row_copy()), {});
  EXPECT_EQ(nodes.tag(0), "load");
  EXPECT_EQ(nodes.tag(1), "");
  nodes.set_tag(1, "store");
  EXPECT_EQ(nodes.tag(1), "store");
}

TEST(ModelGraphTest, KeepsTheStructure) {
  graph nodes;
  nodes.append(node_of(scale_kernel()), {});
  const std::vector<dependency> edges{{0, programmatic}};
  nodes.append(node_of(scale_kernel()), edges);
  EXPECT_FALSE(first_mismatch(nodes.structure(),
                              structure_of({{node_kind::kernel, {}}, {node_kind::kernel, edges}})));
}

TEST(ModelGraphTest, AssignReplacesEverythingButTheTag) {
  graph nodes;
  nodes.append(node_of(scale_kernel()), {}, "first");
  nodes.append(node_of(scale_kernel()), {}, "second");

  kernel_value other = kernel_of(0x52, layout_of("add", {8, 8, 8}));
  other.grid = dim3(8, 2);
  other.attributes.cluster = dim3(2);
  node_value replaced = node_of(other);
  replaced.owner = std::make_shared<int>(2);
  nodes.assign(0, replaced);

  EXPECT_TRUE(equal(nodes.value(0), replaced));
  EXPECT_EQ(nodes.name(0), "add");
  EXPECT_EQ(nodes.tag(0), "first");
  EXPECT_TRUE(equal(nodes.value(1), node_of(scale_kernel())));
}

TEST(ModelGraphTest, AssignReachesEveryKind) {
  graph nodes = graph_of(one_of_each());
  copy_value copy = row_copy();
  copy.width_bytes = 32;
  fill_value fill = block_fill();
  fill.value = 9;
  const std::vector<node_value> others{node_of(scale_kernel()),
                                       node_of(copy),
                                       node_of(fill),
                                       node_of(host_value{0x1000, 0x2001}),
                                       node_of(event_value{handle<CUevent>(0x4)}),
                                       node_of(opaque_value{}, node_kind{18})};
  for (std::size_t i = 0; i < others.size(); ++i) {
    nodes.assign(i, others[i]);
    EXPECT_TRUE(equal(nodes.value(i), others[i])) << i;
  }
}

TEST(ModelGraphTest, KernelIsAViewOfTheNode) {
  const graph nodes = graph_of({node_of(scale_kernel())});
  const kernel_view view = nodes.kernel(0);
  EXPECT_EQ(view.function, handle<CUfunction>(0x51));
  EXPECT_EQ(view.layout, nodes.layout(0).get());
  EXPECT_EQ(view.grid, dim3(64));
  EXPECT_EQ(view.block, dim3(128));
  EXPECT_EQ(view.arguments.size(), 12U);
  ASSERT_NE(view.attributes, nullptr);
  EXPECT_EQ(view.attributes->known_to, known::everything);
}

TEST(ModelGraphTest, SameSeesEachFieldOfALaunch) {
  const graph nodes = graph_of({node_of(scale_kernel())});
  const auto differs = [&](auto edit) {
    kernel_value launch = scale_kernel();
    edit(launch);
    return !nodes.same(0, view_of(launch)) && !nodes.same(0, node_of(launch));
  };
  EXPECT_FALSE(differs([](kernel_value&) {}));
  EXPECT_TRUE(differs([](kernel_value& k) { k.function = handle<CUfunction>(0x52); }));
  EXPECT_TRUE(differs([](kernel_value& k) { k.grid.z = 2; }));
  EXPECT_TRUE(differs([](kernel_value& k) { k.block.y = 2; }));
  EXPECT_TRUE(differs([](kernel_value& k) { k.shared_memory_bytes = 1; }));
  EXPECT_TRUE(differs([](kernel_value& k) { k.attributes.cluster = dim3(2); }));
  EXPECT_TRUE(differs([](kernel_value& k) { k.attributes.cooperative = true; }));
  EXPECT_TRUE(differs([](kernel_value& k) { k.attributes.priority = -1; }));
  EXPECT_TRUE(differs([](kernel_value& k) { k.attributes.others = {attribute_of(5, {1})}; }));
  EXPECT_TRUE(differs([](kernel_value& k) { set_argument(k, 1, 2.0F); }));
}

TEST(ModelGraphTest, AViewWithoutAttributesHasTheDefaults) {
  const graph nodes = graph_of({node_of(scale_kernel())});
  const kernel_value launch = scale_kernel();
  kernel_view view = view_of(launch);
  view.attributes = nullptr;
  EXPECT_TRUE(nodes.same(0, view));
}

TEST(ModelGraphTest, SameOfTheOtherKinds) {
  const graph nodes = graph_of(one_of_each());
  EXPECT_TRUE(nodes.same(1, row_copy()));
  EXPECT_FALSE(nodes.same(1, block_copy()));
  EXPECT_TRUE(nodes.same(2, block_fill()));
  EXPECT_FALSE(nodes.same(2, row_fill()));
  EXPECT_TRUE(nodes.same(3, host_value{0x1000, 0x2000}));
  EXPECT_FALSE(nodes.same(3, host_value{0x1001, 0x2000}));
  EXPECT_TRUE(nodes.same(4, event_value{handle<CUevent>(0x3)}));
  EXPECT_FALSE(nodes.same(4, event_value{handle<CUevent>(0x4)}));
}

TEST(ModelGraphTest, ReadAndUnreadParametersAreNotTheSame) {
  const graph nodes = graph_of({node_of(scale_kernel())});
  EXPECT_FALSE(nodes.same(0, node_value{node_kind::kernel, opaque_value{}, {}}));
}

TEST(PackArgumentsTest, PutsEachAtItsOffsetAndClearsThePadding) {
  const auto layout = layout_of("f", {1, 8, 2});
  const std::uint8_t first = 0x11;
  const std::uint64_t second = 0x2222222222222222;
  const std::uint16_t third = 0x3333;
  void* arguments[] = {const_cast<std::uint8_t*>(&first), const_cast<std::uint64_t*>(&second),
                       const_cast<std::uint16_t*>(&third)};
  std::vector<std::byte> packed(layout->bytes, std::byte{0xff});
  pack_arguments(*layout, arguments, packed.data());
  std::vector<std::byte> wanted(18);
  std::memset(wanted.data(), 0x11, 1);
  std::memset(wanted.data() + 8, 0x22, 8);
  std::memset(wanted.data() + 16, 0x33, 2);
  EXPECT_EQ(packed, wanted);
}

TEST(PackArgumentsTest, OfAKernelWithoutParametersWritesNothing) {
  pack_arguments(*layout_of("f", {}), nullptr, nullptr);
}

}  // namespace
}  // namespace cugraft::model
