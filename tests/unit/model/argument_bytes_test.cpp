// SPDX-License-Identifier: Apache-2.0
#include "model/argument_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace cugraft::model {
namespace {

// Sizes that lie in the object, that just do, and that do not.
class ArgumentBytesTest : public testing::TestWithParam<std::size_t> {
 protected:
  static std::vector<std::byte> counted(std::size_t size) {
    std::vector<std::byte> result(size);
    for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::byte>(i + 1);
    return result;
  }
  static std::vector<std::byte> content(const argument_bytes& bytes) {
    return {bytes.begin(), bytes.end()};
  }
};

TEST_P(ArgumentBytesTest, HoldsWhatItIsGiven) {
  const auto given = counted(GetParam());
  EXPECT_EQ(content(argument_bytes(given)), given);
  EXPECT_EQ(content(argument_bytes(GetParam())), std::vector<std::byte>(GetParam()));
  EXPECT_EQ(argument_bytes(given).empty(), GetParam() == 0);
}

TEST_P(ArgumentBytesTest, ACopyIsItsOwn) {
  const argument_bytes first(counted(GetParam()));
  argument_bytes copy = first, assigned(std::size_t{500});
  assigned = first;
  std::fill(copy.begin(), copy.end(), std::byte{0});
  EXPECT_EQ(content(first), counted(GetParam()));
  EXPECT_EQ(content(assigned), counted(GetParam()));
}

TEST_P(ArgumentBytesTest, AMovedFromOneIsEmptyAndUsable) {
  argument_bytes first(counted(GetParam())), into(std::size_t{500});
  argument_bytes second = std::move(first);
  EXPECT_EQ(content(second), counted(GetParam()));
  EXPECT_EQ(first.size(), 0U);  // NOLINT(bugprone-use-after-move): what is tested
  into = std::move(second);
  EXPECT_EQ(content(into), counted(GetParam()));
  second = into;
  EXPECT_EQ(content(second), counted(GetParam()));
}

TEST_P(ArgumentBytesTest, ZerosTakeTheRoomThatIsThere) {
  argument_bytes bytes(counted(200));
  const std::byte* const room = bytes.data();
  bytes.assign_zeros(GetParam());
  EXPECT_EQ(content(bytes), std::vector<std::byte>(GetParam()));
  EXPECT_EQ(bytes.data() == room, GetParam() <= 200);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ArgumentBytesTest, testing::Values(0U, 1U, 47U, 48U, 49U, 201U));

}  // namespace
}  // namespace cugraft::model
