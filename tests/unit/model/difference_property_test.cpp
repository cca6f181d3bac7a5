// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "model/difference.hpp"
#include "model/graph.hpp"
#include "unit/model/samples.hpp"

namespace cugraft::model {
namespace {

// Few values of each field, so that two random nodes agree in most.
template <class T>
T any_of(T a, T b) {
  return *rc::gen::arbitrary<bool>() ? a : b;
}

kernel_value any_kernel() {
  kernel_value result =
      kernel_of(any_of(0x51, 0x52), any_of(layout_of("f", {8, 4, 1}), layout_of("g", {1, 8})));
  for (std::byte& byte : result.arguments) byte = any_of(std::byte{0}, std::byte{1});
  result.grid = any_of(dim3(1), dim3(2));
  result.block = any_of(dim3(1), dim3(2));
  result.shared_memory_bytes = any_of(0U, 16U);
  attributes& all = result.attributes;
  all.known_to =
      *rc::gen::element(known::nothing, known::semantic, known::readable, known::everything);
  all.cluster = any_of(std::optional<dim3>(), std::optional<dim3>(dim3(2)));
  all.cooperative = any_of(false, true);
  all.priority = any_of(0, -1);
  for (const unsigned id : {5U, 9U, 14U})
    if (any_of(false, true)) all.others.push_back(attribute_of(id, {any_of<unsigned char>(0, 1)}));
  return result;
}

copy_operand any_operand() {
  copy_operand result;
  result.memory_kind = *rc::gen::element(memory_kind_host, memory_kind_device, memory_kind_array,
                                         memory_kind_unified);
  result.address = any_of<std::uintptr_t>(0x1000, 0x1010);
  for (std::size_t* extent :
       {&result.x, &result.y, &result.z, &result.level, &result.pitch, &result.height})
    *extent = any_of<std::size_t>(0, 16);
  return result;
}

copy_value any_copy() {
  return {any_operand(), any_operand(), any_of<std::size_t>(8, 16), any_of<std::size_t>(1, 2),
          any_of<std::size_t>(1, 2)};
}

fill_value any_fill() {
  return {any_of<std::uintptr_t>(0x1000, 0x1010),
          any_of(0x100U, 0x101U),
          *rc::gen::element(1U, 2U, 4U),
          any_of<std::size_t>(8, 16),
          any_of<std::size_t>(1, 2),
          any_of<std::size_t>(0, 16)};
}

host_value any_host() { return {any_of<std::uintptr_t>(1, 2), any_of<std::uintptr_t>(1, 2)}; }

node_value any_node(int kind) {
  switch (kind) {
    case 0:
      return node_of(any_kernel());
    case 1:
      return node_of(any_copy());
    case 2:
      return node_of(any_fill());
    case 3:
      return node_of(any_host());
    default:
      return node_of(event_value{handle<CUevent>(any_of<std::uintptr_t>(1, 2))});
  }
}

int any_kind() { return *rc::gen::inRange(0, 5); }

graph graph_of(const node_value& value) {
  graph result;
  result.append(value, {});
  return result;
}

RC_GTEST_PROP(DifferencePropertyTest, NoneFromItself, ()) {
  const node_value node = any_node(any_kind());
  RC_ASSERT(differences(node, node).empty());
  RC_ASSERT(judge(node, node).effect == verdict::unchanged);
  RC_ASSERT(judge(node, node).rule == nullptr);
}

RC_GTEST_PROP(DifferencePropertyTest, TheSameBothWaysAndInOrder, ()) {
  const int kind = any_kind();
  const node_value a = any_node(kind);
  const node_value b = any_node(kind);
  const auto found = differences(a, b);
  RC_ASSERT(found == differences(b, a));
  RC_ASSERT(std::ranges::is_sorted(
      found, {}, [](const difference& d) { return std::pair(d.which, d.index); }));
  RC_ASSERT(std::ranges::adjacent_find(found) == found.end());
}

RC_GTEST_PROP(DifferencePropertyTest, ThereIsOneExactlyWhereTheGraphSaysNotTheSame, ()) {
  const int kind = any_kind();
  const node_value a = any_node(kind);
  const node_value b = any_node(kind);
  RC_ASSERT(graph_of(a).same(0, b) == differences(a, b).empty());
}

RC_GTEST_PROP(DifferencePropertyTest, EachHasARuleAndADescription, ()) {
  const int kind = any_kind();
  const node_value a = any_node(kind);
  const node_value b = any_node(kind);
  const auto found = differences(a, b);
  const judgement result = judge(a, b);
  RC_ASSERT((result.rule == nullptr) == found.empty());
  if (result.rule != nullptr) RC_ASSERT(result.effect == result.rule->effect);
  for (const difference& what : found) {
    const field_change change = describe(a, b, what);
    RC_ASSERT(!change.field.empty());
    RC_ASSERT(!change.before.empty());
    RC_ASSERT(!change.after.empty());
    // Another layout or name behind one handle is a difference that the handle does not show.
    if (what.which != field::function) RC_ASSERT(change.before != change.after);
  }
}

RC_GTEST_PROP(ModelGraphPropertyTest, AssignedValuesComeBack, ()) {
  graph nodes;
  std::vector<node_value> wanted;
  for (int kind = 0; kind < 5; ++kind)
    for (int i = 0; i < 3; ++i) {
      wanted.push_back(any_node(kind));
      nodes.append(wanted.back(), {});
    }
  for (int round = 0; round < 20; ++round) {
    const auto node = *rc::gen::inRange<std::size_t>(0, wanted.size());
    wanted[node] = any_node(static_cast<int>(node / 3));
    nodes.assign(node, wanted[node]);
  }
  for (std::size_t node = 0; node < wanted.size(); ++node) {
    RC_ASSERT(nodes.same(node, wanted[node]));
    RC_ASSERT(differences(nodes.value(node), wanted[node]).empty());
  }
}

}  // namespace
}  // namespace cugraft::model
