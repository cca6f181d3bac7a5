// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "model/difference.hpp"
#include "unit/model/samples.hpp"

// The text forms that docs/report.md promises.

namespace cugraft::model {
namespace {

// "field: before -> after" of the one difference there is.
template <class Value, class Edit>
std::string described(const Value& value, Edit&& edit) {
  Value other = value;
  edit(other);
  const node_value before = node_of(value);
  const node_value after = node_of(other);
  const auto found = differences(before, after);
  if (found.size() != 1) return std::to_string(found.size()) + " differences";
  const field_change change = describe(before, after, found.front());
  return change.field + ": " + change.before + " -> " + change.after;
}

TEST(DescribeTest, FieldsOfAKernel) {
  const auto text = [](auto edit) { return described(scale_kernel(), edit); };
  EXPECT_EQ(text([](kernel_value& k) { k.grid = dim3(8); }), "grid: (64, 1, 1) -> (8, 1, 1)");
  EXPECT_EQ(text([](kernel_value& k) { k.block = dim3(8, 8, 2); }),
            "block: (128, 1, 1) -> (8, 8, 2)");
  EXPECT_EQ(text([](kernel_value& k) { k.shared_memory_bytes = 1024; }),
            "shared_memory_bytes: 0 -> 1024");
  EXPECT_EQ(text([](kernel_value& k) { k.attributes.cluster = dim3(2); }),
            "cluster: none -> (2, 1, 1)");
  EXPECT_EQ(text([](kernel_value& k) { k.attributes.cooperative = true; }),
            "cooperative: false -> true");
  EXPECT_EQ(text([](kernel_value& k) { k.attributes.priority = -5; }), "priority: 0 -> -5");
  EXPECT_EQ(text([](kernel_value& k) { k.function = handle<CUfunction>(0x52); }),
            "function: scale at 0x51 -> scale at 0x52");
  EXPECT_EQ(text([](kernel_value& k) { k.attributes.others = {attribute_of(10, {1})}; }),
            "attribute[10]: default -> 01 00 00 00");
  EXPECT_EQ(text([](kernel_value& k) {
              k.attributes.others = {attribute_of(1, {1, 0, 0, 0, 0, 0, 2})};
            }),
            "attribute[1]: default -> 01 00 00 00 00 00 02");
}

template <class T>
std::string argument_text(T before, T after) {
  kernel_value kernel = kernel_of(0x51, layout_of("f", {sizeof(T)}));
  set_argument(kernel, 0, before);
  return described(kernel, [&](kernel_value& k) { set_argument(k, 0, after); });
}

TEST(DescribeTest, Arguments) {
  EXPECT_EQ(argument_text<std::int8_t>(-1, 42), "argument[0]: ff (int -1) -> 2a (int 42)");
  EXPECT_EQ(argument_text<std::int16_t>(1, -2), "argument[0]: 01 00 (int 1) -> fe ff (int -2)");
  EXPECT_EQ(argument_text(1.0F, 2.5F),
            "argument[0]: 00 00 80 3f (int 1065353216, float 1) -> "
            "00 00 20 40 (int 1075838976, float 2.5)");
  EXPECT_EQ(argument_text(7, 0),
            "argument[0]: 07 00 00 00 (int 7) -> 00 00 00 00 (int 0, float 0)");
  EXPECT_EQ(argument_text<std::uint64_t>(0x302000000, 0x304000000),
            "argument[0]: 00 00 00 02 03 00 00 00 (0x302000000, int 12918456320) -> "
            "00 00 00 04 03 00 00 00 (0x304000000, int 12952010752)");
  EXPECT_EQ(argument_text(0.5, -1e300),
            "argument[0]: 00 00 00 00 00 00 e0 3f (0x3fe0000000000000, int 4602678819172646912, "
            "double 0.5) -> 9c 75 00 88 3c e4 37 fe (0xfe37e43c8800759c, "
            "int -128383115725867620)");
}

struct three_bytes {
  unsigned char bytes[3];
};

TEST(DescribeTest, ArgumentsOfOtherSizesAreBytes) {
  EXPECT_EQ(argument_text(three_bytes{{1, 2, 3}}, three_bytes{{1, 2, 0xff}}),
            "argument[0]: 01 02 03 -> 01 02 ff");
}

TEST(DescribeTest, OfLargeArgumentsTheBytesFromTheFirstDifferenceOnAreShown) {
  struct large {
    unsigned char bytes[64] = {};
  };
  large early;
  early.bytes[20] = 1;
  large late;
  late.bytes[60] = 2;
  EXPECT_EQ(argument_text(large(), early),
            "argument[0]: bytes 20 to 35 of 64: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 -> "
            "bytes 20 to 35 of 64: 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  EXPECT_EQ(argument_text(large(), late),
            "argument[0]: bytes 48 to 63 of 64: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 -> "
            "bytes 48 to 63 of 64: 00 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00");
}

TEST(DescribeTest, PlaceAndBytesOfAnArgument) {
  kernel_value changed = scale_kernel();
  set_argument(changed, 1, 2.0F);
  const field_change change =
      describe(node_of(scale_kernel()), node_of(changed), {field::argument, 1});
  EXPECT_EQ(change.field, "argument[1]");
  EXPECT_EQ(change.offset, 8U);
  EXPECT_EQ(change.size, 4U);
  using bytes = std::vector<std::byte>;
  EXPECT_EQ(change.before_bytes,
            (bytes{std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}}));
  EXPECT_EQ(change.after_bytes, (bytes{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x40}}));
}

TEST(DescribeTest, OtherFieldsHaveNoPlace) {
  kernel_value changed = scale_kernel();
  changed.grid = dim3(8);
  const field_change change = describe(node_of(scale_kernel()), node_of(changed), {field::grid});
  EXPECT_EQ(change.offset, 0U);
  EXPECT_EQ(change.size, 0U);
  EXPECT_TRUE(change.before_bytes.empty());
  EXPECT_TRUE(change.after_bytes.empty());
}

TEST(DescribeTest, ArgumentsThatOneSideLacks) {
  const node_value one = node_of(kernel_of(0x51, layout_of("f", {4})));
  const node_value two = node_of(kernel_of(0x52, layout_of("g", {4, 8})));
  const field_change added = describe(one, two, {field::argument, 1});
  EXPECT_EQ(added.before, "none");
  EXPECT_EQ(added.after, "00 00 00 00 00 00 00 00 (0x0, int 0, double 0)");
  EXPECT_EQ(added.offset, 8U);
  EXPECT_EQ(added.size, 8U);
  EXPECT_TRUE(added.before_bytes.empty());
  EXPECT_EQ(added.after_bytes.size(), 8U);
  const field_change removed = describe(two, one, {field::argument, 1});
  EXPECT_EQ(removed.after, "none");
  EXPECT_EQ(removed.offset, 8U);
  EXPECT_EQ(removed.size, 8U);
}

TEST(DescribeTest, FieldsOfACopy) {
  const auto text = [](auto edit) {
    copy_value copy = block_copy();
    copy.depth = 2;
    return described(copy, edit);
  };
  EXPECT_EQ(text([](copy_value& c) { c.source.address = 0x302000040; }),
            "source: 0x7f0000001000 -> 0x302000040");
  EXPECT_EQ(text([](copy_value& c) { c.destination.address = 0x302000040; }),
            "destination: 0x302000000 -> 0x302000040");
  EXPECT_EQ(text([](copy_value& c) { c.source.memory_kind = memory_kind_host; }),
            "source_kind: device -> host");
  EXPECT_EQ(text([](copy_value& c) { c.destination.memory_kind = memory_kind_array; }),
            "destination_kind: device -> array");
  EXPECT_EQ(text([](copy_value& c) { c.destination.memory_kind = 7; }),
            "destination_kind: device -> memory kind 7");
  EXPECT_EQ(text([](copy_value& c) { c.source.x = 16; }),
            "source_offset: (0, 0, 0, level 0) -> (16, 0, 0, level 0)");
  EXPECT_EQ(text([](copy_value& c) { c.destination.level = 2; }),
            "destination_offset: (0, 0, 0, level 0) -> (0, 0, 0, level 2)");
  EXPECT_EQ(text([](copy_value& c) { c.source.pitch = 512; }), "source_pitch: 256 -> 512");
  EXPECT_EQ(text([](copy_value& c) { c.destination.pitch = 512; }),
            "destination_pitch: 128 -> 512");
  EXPECT_EQ(text([](copy_value& c) { c.source.height = 16; }), "source_height: 0 -> 16");
  EXPECT_EQ(text([](copy_value& c) { c.destination.height = 16; }), "destination_height: 0 -> 16");
  EXPECT_EQ(text([](copy_value& c) { c.width_bytes = 32; }), "width: 64 -> 32");
  EXPECT_EQ(text([](copy_value& c) { c.height = 8; }), "height: 16 -> 8");
  EXPECT_EQ(text([](copy_value& c) { c.depth = 3; }), "depth: 2 -> 3");
}

TEST(DescribeTest, FieldsOfAFill) {
  const auto text = [](auto edit) { return described(block_fill(), edit); };
  EXPECT_EQ(text([](fill_value& f) { f.value = 0xff; }), "value: 0x07 -> 0xff");
  EXPECT_EQ(text([](fill_value& f) { f.destination = 0x302000100; }),
            "destination: 0x302000000 -> 0x302000100");
  EXPECT_EQ(text([](fill_value& f) { f.element_size = 2; }), "element_size: 1 -> 2");
  EXPECT_EQ(text([](fill_value& f) { f.width = 50; }), "width: 100 -> 50");
  EXPECT_EQ(text([](fill_value& f) { f.height = 4; }), "height: 8 -> 4");
  EXPECT_EQ(text([](fill_value& f) { f.pitch = 512; }), "pitch: 256 -> 512");
  EXPECT_EQ(described(row_fill(), [](fill_value& f) { f.value = 0x3f800000; }),
            "value: 0x00000000 (int 0, float 0) -> 0x3f800000 (int 1065353216, float 1)");
}

TEST(DescribeTest, HostFunctionsEventsAndUnreadParameters) {
  EXPECT_EQ(described(host_value{0x1000, 0x2000}, [](host_value& h) { h.function = 0x1008; }),
            "host_function: 0x1000 -> 0x1008");
  EXPECT_EQ(described(host_value{0x1000, 0x2000}, [](host_value& h) { h.user_data = 0; }),
            "user_data: 0x2000 -> 0x0");
  EXPECT_EQ(described(event_value{handle<CUevent>(1)},
                      [](event_value& e) { e.event = handle<CUevent>(2); }),
            "event: 0x1 -> 0x2");
  const field_change unread = describe(
      node_of(scale_kernel()), {node_kind::kernel, opaque_value{}, {}}, {field::parameters});
  EXPECT_EQ(unread.field, "parameters");
  EXPECT_EQ(unread.before, "read");
  EXPECT_EQ(unread.after, "not read");
}

}  // namespace
}  // namespace cugraft::model
