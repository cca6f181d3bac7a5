// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// Which nodes read memory of the host, and of what kind it is.

namespace cugraft::testing {
namespace {

TEST_P(EngineSuite, C031_C032_CopiesFromTheHostAreListedByTheKindOfMemory) {
  std::array<std::byte, 64> pageable{};
  const foreign_calls calls(driver());
  const auto target = reinterpret_cast<CUdeviceptr>(y_.data());
  graph g = capture(stream_, [&](graph_builder& gb) {
    copy_async(gb, x_.data(), pageable.data(), 32);
    copy_async(gb, x_.data(), host_.data(), 16);
    copy_async(gb, y_.data(), x_.data(), 16);
    copy_async(gb, host_.data(), x_.data(), 16);
    fill_async(gb, y_.data(), 0, 4);
    copy_2d_async(gb, x_.data(), 16, pageable.data() + 8, 16, 8, 3);
    EXPECT_EQ(calls.memcpy_h2d(target, pageable.data() + 1, 4, gb.stream().get()), 0);
  });
  const std::vector<host_source> found = g.host_sources();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(to_string(found[0].path), "0");
  EXPECT_EQ(found[0].pointer, pageable.data());
  EXPECT_EQ(found[0].width_bytes, 32U);
  EXPECT_EQ(found[0].rows, 1U);
  EXPECT_FALSE(found[0].is_pinned);
  EXPECT_EQ(to_string(found[1].path), "1");
  EXPECT_EQ(found[1].pointer, host_.data());
  EXPECT_TRUE(found[1].is_pinned);
  EXPECT_EQ(to_string(found[2].path), "5");
  EXPECT_EQ(found[2].pointer, pageable.data() + 8);
  EXPECT_EQ(found[2].rows, 3U);
  EXPECT_EQ(found[3].pointer, pageable.data() + 1);
  EXPECT_FALSE(found[3].is_pinned);

  fail_next("cuPointerGetAttribute", 999);
  EXPECT_THROW(g.host_sources(), cuda_error);
  EXPECT_TRUE(graph(driver()).host_sources().empty());
}

}  // namespace
}  // namespace cugraft::testing
