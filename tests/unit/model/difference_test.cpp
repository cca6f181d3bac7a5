// SPDX-License-Identifier: Apache-2.0
#include "model/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/model/samples.hpp"

namespace cugraft::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The fields that differ after `edit` of `value`; both ways round there are the same.
template <class Value, class Edit>
std::vector<difference> edited(const Value& value, Edit&& edit) {
  Value other = value;
  edit(other);
  const auto result = differences(node_of(value), node_of(other));
  EXPECT_EQ(result, differences(node_of(other), node_of(value)));
  return result;
}

MATCHER_P(Is, which, "") { return arg == difference{which}; }
MATCHER_P2(Is, which, index, "") { return arg == (difference{which, index}); }

TEST(KernelDifferenceTest, EachFieldByItself) {
  const kernel_value kernel = scale_kernel();
  const auto is = [&](field which, auto edit) {
    EXPECT_THAT(edited(kernel, edit), ElementsAre(Is(which)));
  };
  EXPECT_THAT(edited(kernel, [](auto&) {}), IsEmpty());
  is(field::function, [](kernel_value& k) { k.function = handle<CUfunction>(0x52); });
  is(field::grid, [](kernel_value& k) { k.grid = dim3(8); });
  is(field::block, [](kernel_value& k) { k.block = dim3(64); });
  is(field::shared_memory_bytes, [](kernel_value& k) { k.shared_memory_bytes = 1024; });
  is(field::cluster, [](kernel_value& k) { k.attributes.cluster = dim3(2); });
  is(field::cooperative, [](kernel_value& k) { k.attributes.cooperative = true; });
  is(field::priority, [](kernel_value& k) { k.attributes.priority = -2; });
}

TEST(KernelDifferenceTest, ArgumentsByIndex) {
  const kernel_value kernel = kernel_of(0x51, layout_of("f", {8, 4, 1}));
  EXPECT_THAT(edited(kernel, [](kernel_value& k) { set_argument(k, 1, 1); }),
              ElementsAre(Is(field::argument, 1U)));
  EXPECT_THAT(edited(kernel,
                     [](kernel_value& k) {
                       k.grid = dim3(1);
                       set_argument(k, 2, 'x');
                       set_argument(k, 0, 1.0);
                     }),
              ElementsAre(Is(field::argument, 0U), Is(field::argument, 2U), Is(field::grid)));
}

TEST(KernelDifferenceTest, BytesBetweenParametersMeanNothing) {
  const kernel_value kernel = kernel_of(0x51, layout_of("f", {1, 8}));
  EXPECT_THAT(edited(kernel, [](kernel_value& k) { k.arguments.data()[4] = std::byte{0xff}; }),
              IsEmpty());
}

TEST(KernelDifferenceTest, AnotherLayoutIsAnotherFunctionWithOtherArguments) {
  const kernel_value kernel = kernel_of(0x51, layout_of("f", {8, 4}));
  EXPECT_THAT(differences(node_of(kernel), node_of(kernel_of(0x51, layout_of("f", {8, 8, 4})))),
              ElementsAre(Is(field::argument, 1U), Is(field::argument, 2U), Is(field::function)));
  EXPECT_THAT(differences(node_of(kernel), node_of(kernel_of(0x51, layout_of("g", {8, 4})))),
              ElementsAre(Is(field::function)));
}

TEST(KernelDifferenceTest, EqualLayoutsOfTwoReadsAreOne) {
  EXPECT_THAT(differences(node_of(kernel_of(0x51, layout_of("f", {8, 4}))),
                          node_of(kernel_of(0x51, layout_of("f", {8, 4})))),
              IsEmpty());
}

TEST(KernelDifferenceTest, WithoutALayoutAllBytesAreOneArgument) {
  kernel_value bare;
  bare.function = handle<CUfunction>(0x51);
  bare.arguments.assign_zeros(16);
  EXPECT_THAT(edited(bare, [](auto&) {}), IsEmpty());
  EXPECT_THAT(edited(bare, [](kernel_value& k) { k.arguments.data()[9] = std::byte{1}; }),
              ElementsAre(Is(field::argument, 0U)));
  EXPECT_THAT(edited(bare, [](kernel_value& k) { k.arguments.assign_zeros(0); }),
              ElementsAre(Is(field::argument, 0U)));
}

TEST(AttributeDifferenceTest, EachIdByItself) {
  kernel_value kernel = scale_kernel();
  kernel.attributes.others = {attribute_of(1, {1}), attribute_of(10, {1})};
  const auto with = [&](std::vector<launch_attribute> others) {
    return edited(kernel, [&](kernel_value& k) { k.attributes.others = std::move(others); });
  };
  EXPECT_THAT(with({attribute_of(1, {1}), attribute_of(10, {1})}), IsEmpty());
  EXPECT_THAT(with({attribute_of(1, {2}), attribute_of(10, {1})}),
              ElementsAre(Is(field::attribute, 1U)));
  EXPECT_THAT(with({attribute_of(10, {1})}), ElementsAre(Is(field::attribute, 1U)));
  EXPECT_THAT(with({attribute_of(1, {1})}), ElementsAre(Is(field::attribute, 10U)));
  EXPECT_THAT(with({attribute_of(1, {1}), attribute_of(5, {1}), attribute_of(10, {1})}),
              ElementsAre(Is(field::attribute, 5U)));
  EXPECT_THAT(with({}), ElementsAre(Is(field::attribute, 1U), Is(field::attribute, 10U)));
}

TEST(AttributeDifferenceTest, DefaultAndAbsentAreTheSame) {
  EXPECT_THAT(edited(scale_kernel(),
                     [](kernel_value& k) {
                       k.attributes.others = {attribute_of(5, {0}), attribute_of(9, {0, 1}),
                                              attribute_of(14, {0xff, 0xff, 0xff, 0xff})};
                     }),
              IsEmpty());
  EXPECT_THAT(edited(scale_kernel(),
                     [](kernel_value& k) {
                       k.attributes.others = {attribute_of(9, {0, 0}), attribute_of(14, {0})};
                     }),
              ElementsAre(Is(field::attribute, 9U), Is(field::attribute, 14U)));
}

TEST(AttributeDifferenceTest, NoClusterMayBeReadBackAsZeros) {
  EXPECT_THAT(edited(scale_kernel(),
                     [](kernel_value& k) {
                       k.attributes.cluster.emplace();
                       k.attributes.cluster->x = 0;
                     }),
              IsEmpty());
  EXPECT_THAT(edited(scale_kernel(), [](kernel_value& k) { k.attributes.cluster = dim3(1); }),
              ElementsAre(Is(field::cluster)));
}

TEST(AttributeDifferenceTest, CountAsFarAsBothSidesKnowThem) {
  const auto with = [](known known_to) {
    return edited(scale_kernel(), [&](kernel_value& k) {
      k.attributes = {known_to, dim3(2), true, 1, {attribute_of(5, {1})}};
    });
  };
  EXPECT_THAT(with(known::everything), ElementsAre(Is(field::cluster), Is(field::cooperative),
                                                   Is(field::priority), Is(field::attribute, 5U)));
  EXPECT_THAT(with(known::semantic),
              ElementsAre(Is(field::cluster), Is(field::cooperative), Is(field::priority)));
  EXPECT_THAT(with(known::nothing), IsEmpty());
}

// What the driver did not let read is in no list, and not guessed.
TEST(AttributeDifferenceTest, ReadOnesCountAsFarAsTheyWereRead) {
  const auto between = [](attributes before, attributes after) {
    kernel_value a = scale_kernel(), b = scale_kernel();
    a.attributes = std::move(before);
    b.attributes = std::move(after);
    return differences({node_kind::kernel, std::move(a)}, {node_kind::kernel, std::move(b)});
  };
  const auto read = [](std::vector<launch_attribute> others) {
    return attributes{known::readable, std::nullopt, false, 0, std::move(others)};
  };
  const auto launched = [](std::vector<launch_attribute> others) {
    return attributes{known::everything, std::nullopt, false, 0, std::move(others)};
  };
  EXPECT_THAT(between(read({attribute_of(10, {1})}), read({attribute_of(10, {0})})),
              ElementsAre(Is(field::attribute, 10U)));
  EXPECT_THAT(between(read({attribute_of(10, {1})}), read({})), IsEmpty());
  EXPECT_THAT(between(read({}), launched({attribute_of(16, {1})})), IsEmpty());
  EXPECT_THAT(between(launched({}), read({attribute_of(10, {1})})),
              ElementsAre(Is(field::attribute, 10U)));
  EXPECT_THAT(between(launched({attribute_of(10, {1})}), read({attribute_of(10, {1})})), IsEmpty());
  // As an H200 tells of a node that nobody gave any.
  EXPECT_THAT(between(launched({}), read({attribute_of(5, {1}), attribute_of(9, {0, 1}),
                                          attribute_of(10, {0}), attribute_of(14, {0})})),
              IsEmpty());
}

// All fields of the driver's descriptor (C096).
TEST(CopyDifferenceTest, EachFieldByItself) {
  copy_value copy = block_copy();
  copy.depth = 2;
  copy.source.memory_kind = copy.destination.memory_kind = memory_kind_array;
  const auto is = [&](field which, auto edit) {
    EXPECT_THAT(edited(copy, edit), ElementsAre(Is(which)));
  };
  is(field::source, [](copy_value& c) { c.source.address++; });
  is(field::destination, [](copy_value& c) { c.destination.address++; });
  is(field::source_offset, [](copy_value& c) { c.source.x = 1; });
  is(field::source_offset, [](copy_value& c) { c.source.y = 1; });
  is(field::source_offset, [](copy_value& c) { c.source.z = 1; });
  is(field::destination_offset, [](copy_value& c) { c.destination.level = 1; });
  is(field::width, [](copy_value& c) { c.width_bytes++; });
  is(field::height, [](copy_value& c) { c.height++; });
  is(field::depth, [](copy_value& c) { c.depth++; });

  copy.source.memory_kind = copy.destination.memory_kind = memory_kind_device;
  is(field::source_pitch, [](copy_value& c) { c.source.pitch++; });
  is(field::destination_pitch, [](copy_value& c) { c.destination.pitch++; });
  is(field::source_height, [](copy_value& c) { c.source.height++; });
  is(field::destination_height, [](copy_value& c) { c.destination.height++; });
  is(field::source_kind, [](copy_value& c) { c.source.memory_kind = memory_kind_host; });
  is(field::destination_kind, [](copy_value& c) { c.destination.memory_kind = memory_kind_host; });
}

// C095.
TEST(CopyDifferenceTest, AnotherDestination) {
  EXPECT_THAT(edited(row_copy(), [](copy_value& c) { c.destination.address += 64; }),
              ElementsAre(Is(field::destination)));
}

TEST(CopyDifferenceTest, PitchAndHeightOfOneRowMeanNothing) {
  EXPECT_THAT(edited(row_copy(),
                     [](copy_value& c) {
                       c.source.pitch = 64;
                       c.source.height = 3;
                       c.destination.pitch = 128;
                       c.height = 0;
                       c.depth = 0;
                     }),
              IsEmpty());
  EXPECT_THAT(edited(block_copy(), [](copy_value& c) { c.source.height = 100; }), IsEmpty());
}

TEST(CopyDifferenceTest, PitchOfAnArrayMeansNothing) {
  copy_value copy = block_copy();
  copy.source.memory_kind = memory_kind_array;
  EXPECT_THAT(edited(copy, [](copy_value& c) { c.source.pitch = 1; }), IsEmpty());
}

TEST(CopyDifferenceTest, UnifiedSaysTheSameAsEitherKind) {
  EXPECT_THAT(edited(row_copy(),
                     [](copy_value& c) {
                       c.source.memory_kind = memory_kind_unified;
                       c.destination.memory_kind = memory_kind_unified;
                     }),
              IsEmpty());
  EXPECT_THAT(edited(row_copy(), [](copy_value& c) { c.source.memory_kind = memory_kind_array; }),
              ElementsAre(Is(field::source_kind)));
}

TEST(CopyDifferenceTest, OffsetsInLinearMemoryOnlyMoveTheAddress) {
  copy_value moved = block_copy();
  moved.source.address -= 16 + 2 * moved.source.pitch;
  moved.source.x = 16;
  moved.source.y = 2;
  EXPECT_THAT(differences(node_of(block_copy()), node_of(moved)), IsEmpty());
  EXPECT_THAT(edited(moved, [](copy_value& c) { c.source.y = 3; }),
              ElementsAre(Is(field::source_offset)));
}

TEST(CopyDifferenceTest, APitchThatMovesTheOneRowCounts) {
  copy_value copy = row_copy();
  copy.source.y = 2;
  copy.source.pitch = 64;
  EXPECT_THAT(edited(copy, [](copy_value& c) { c.source.pitch = 128; }),
              ElementsAre(Is(field::source_pitch)));
}

TEST(FillDifferenceTest, EachFieldByItself) {
  const auto is = [&](field which, auto edit) {
    EXPECT_THAT(edited(block_fill(), edit), ElementsAre(Is(which)));
  };
  is(field::destination, [](fill_value& f) { f.destination++; });
  is(field::value, [](fill_value& f) { f.value++; });
  is(field::element_size, [](fill_value& f) { f.element_size = 2; });
  is(field::width, [](fill_value& f) { f.width++; });
  is(field::height, [](fill_value& f) { f.height++; });
  is(field::pitch, [](fill_value& f) { f.pitch++; });
}

TEST(FillDifferenceTest, WhatMeansNothingDoesNotCount) {
  EXPECT_THAT(edited(row_fill(),
                     [](fill_value& f) {
                       f.pitch = 1000;
                       f.height = 0;
                     }),
              IsEmpty());
  EXPECT_THAT(edited(block_fill(), [](fill_value& f) { f.value |= 0x100; }), IsEmpty());
}

TEST(OtherDifferenceTest, HostFunctionsAndEvents) {
  const host_value host{0x1000, 0x2000};
  EXPECT_THAT(edited(host, [](host_value& h) { h.function++; }),
              ElementsAre(Is(field::host_function)));
  EXPECT_THAT(edited(host, [](host_value& h) { h.user_data++; }),
              ElementsAre(Is(field::user_data)));
  const event_value event{handle<CUevent>(0x1)};
  EXPECT_THAT(edited(event, [](event_value& e) { e.event = handle<CUevent>(0x2); }),
              ElementsAre(Is(field::event)));
}

TEST(OtherDifferenceTest, UnreadParameters) {
  const node_value unread{node_kind::kernel, opaque_value{}, {}};
  EXPECT_THAT(differences(unread, unread), IsEmpty());
  EXPECT_THAT(differences(node_of(scale_kernel()), unread), ElementsAre(Is(field::parameters)));
}

}  // namespace
}  // namespace cugraft::model
