// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "model/graph.hpp"
#include "unit/model/samples.hpp"

namespace cugraft::model {
namespace {

struct node_plan {
  node_value value;
  std::vector<dependency> dependencies;
};

node_plan kernel_at(std::uintptr_t function, std::vector<dependency> dependencies) {
  kernel_value kernel = scale_kernel();
  kernel.function = handle<CUfunction>(function);
  return {node_of(kernel), std::move(dependencies)};
}

structure_fingerprint fingerprint_of(const std::vector<node_plan>& nodes) {
  graph result;
  for (const node_plan& node : nodes) result.append(node.value, node.dependencies);
  return result.fingerprint();
}

std::vector<node_plan> sample() {
  return {kernel_at(0x51, {}),
          {node_of(row_copy()), {{0}}},
          {node_of(row_fill()), {{0}}},
          kernel_at(0x52, {{1}, {2}})};
}

// C023.
TEST(FingerprintTest, ParametersDoNotCount) {
  std::vector<node_plan> nodes = sample();
  kernel_value other = scale_kernel();
  set_argument(other, 1, 5.0F);
  other.grid = dim3(1);
  other.attributes.priority = 3;
  nodes[0].value = node_of(other);
  copy_value copy = row_copy();
  copy.width_bytes = 8;
  nodes[1].value = node_of(copy);
  EXPECT_EQ(fingerprint_of(nodes), fingerprint_of(sample()));
}

TEST(FingerprintTest, EachPartOfTheStructureCounts) {
  std::vector<structure_fingerprint> found{fingerprint_of({}), fingerprint_of(sample())};
  const auto edited = [&](auto edit) {
    std::vector<node_plan> nodes = sample();
    edit(nodes);
    found.push_back(fingerprint_of(nodes));
  };
  edited([](auto& nodes) { std::swap(nodes[1], nodes[2]); });                 // two kinds
  edited([](auto& nodes) { nodes[0] = kernel_at(0x53, {}); });                // one function
  edited([](auto& nodes) { nodes[2].dependencies = {{1}}; });                 // one edge
  edited([](auto& nodes) { nodes[3].dependencies = {{2}}; });                 // one edge fewer
  edited([](auto& nodes) { nodes[3].dependencies[0].data = programmatic; });  // an edge's data
  edited([](auto& nodes) { nodes.pop_back(); });                              // a node fewer
  edited([](auto& nodes) { nodes.push_back(kernel_at(0x51, {})); });          // a node more
  edited([](auto& nodes) {
    std::swap(nodes[0].value, nodes[3].value);  // two functions
  });
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
  for (const structure_fingerprint& one : found) EXPECT_NE(one.value[0], one.value[1]);
}

RC_GTEST_PROP(FingerprintPropertyTest, EqualExactlyWhereNothingOfTheStructureDiffers, ()) {
  const auto any = [] {
    std::vector<node_plan> nodes;
    const auto count = *rc::gen::inRange<std::uint32_t>(0, 4);
    for (std::uint32_t i = 0; i < count; ++i) {
      nodes.push_back(kernel_at(*rc::gen::inRange<std::uintptr_t>(1, 3), {}));
      if (*rc::gen::arbitrary<bool>()) nodes.back().value = node_of(row_copy());
      if (i > 0 && *rc::gen::arbitrary<bool>()) nodes.back().dependencies = {{i - 1}};
    }
    return nodes;
  };
  const std::vector<node_plan> a = any();
  const std::vector<node_plan> b = any();
  const auto same = [&] {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].value.kind != b[i].value.kind || a[i].dependencies != b[i].dependencies)
        return false;
      const auto* of_a = std::get_if<kernel_value>(&a[i].value.data);
      const auto* of_b = std::get_if<kernel_value>(&b[i].value.data);
      if (of_a != nullptr && of_a->function != of_b->function) return false;
    }
    return true;
  };
  RC_ASSERT((fingerprint_of(a) == fingerprint_of(b)) == same());
}

}  // namespace
}  // namespace cugraft::model
