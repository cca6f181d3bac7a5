// SPDX-License-Identifier: Apache-2.0
#include "model/byte_arena.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace cugraft::model {
namespace {

using bytes = std::vector<std::byte>;

bytes filled(std::size_t size, unsigned char with) { return bytes(size, std::byte{with}); }

bytes content(const byte_arena& arena, std::size_t index) {
  return {arena[index].begin(), arena[index].end()};
}

TEST(ByteArenaTest, BlocksKeepTheirContent) {
  byte_arena arena;
  arena.append(filled(3, 1));
  arena.append({});
  arena.append(filled(5, 2));
  EXPECT_EQ(arena.size(), 3U);
  EXPECT_EQ(content(arena, 0), filled(3, 1));
  EXPECT_EQ(content(arena, 1), bytes());
  EXPECT_EQ(content(arena, 2), filled(5, 2));
}

TEST(ByteArenaTest, ABlockOfTheSameSizeStaysWhereItIs) {
  byte_arena arena;
  arena.append(filled(4, 1));
  arena.append(filled(4, 2));
  const std::byte* place = arena[0].data();
  arena.assign(0, filled(4, 3));
  EXPECT_EQ(arena[0].data(), place);
  EXPECT_EQ(content(arena, 0), filled(4, 3));
  EXPECT_EQ(content(arena, 1), filled(4, 2));
  EXPECT_EQ(arena.bytes_held(), 8U);
}

TEST(ByteArenaTest, ASmallerBlockCanGrowBackInPlace) {
  byte_arena arena;
  arena.append(filled(4, 1));
  arena.append(filled(100, 2));
  arena.assign(0, filled(1, 3));
  arena.assign(0, filled(4, 4));
  EXPECT_EQ(content(arena, 0), filled(4, 4));
  EXPECT_EQ(arena.bytes_held(), 104U);
}

TEST(ByteArenaTest, WhatIsLeftOverStaysBelowWhatIsInUse) {
  byte_arena arena;
  for (int i = 0; i < 10; ++i) arena.append(filled(8, 1));
  for (std::size_t round = 0; round < 1000; ++round)
    arena.assign(round % 10, filled(8 + round % 24, static_cast<unsigned char>(round)));
  std::size_t in_use = 0;
  for (std::size_t i = 0; i < arena.size(); ++i) in_use += arena[i].size();
  EXPECT_LE(arena.bytes_held(), 2 * in_use);
}

RC_GTEST_PROP(ByteArenaPropertyTest, ReadsBackWhatWasLastGiven, ()) {
  byte_arena arena;
  std::vector<bytes> wanted;
  const auto steps = *rc::gen::inRange(0, 60);
  for (int step = 0; step < steps; ++step) {
    const bytes given =
        filled(*rc::gen::inRange<std::size_t>(0, 40), *rc::gen::arbitrary<unsigned char>());
    if (wanted.empty() || *rc::gen::inRange(0, 4) == 0) {
      arena.append(given);
      wanted.push_back(given);
    } else {
      const auto index = *rc::gen::inRange<std::size_t>(0, wanted.size());
      arena.assign(index, given);
      wanted[index] = given;
    }
  }
  RC_ASSERT(arena.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) RC_ASSERT(content(arena, i) == wanted[i]);
}

}  // namespace
}  // namespace cugraft::model
