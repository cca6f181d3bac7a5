// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace cugraft {
namespace {

TEST(EnvironmentTest, DriverPath) {
  ASSERT_EQ(setenv("CUGRAFT_DRIVER", "/opt/libcuda.so.1", 1), 0);
  EXPECT_EQ(driver_from_environment(), "/opt/libcuda.so.1");
  ASSERT_EQ(setenv("CUGRAFT_DRIVER", "", 1), 0);
  EXPECT_EQ(driver_from_environment(), std::nullopt);
  ASSERT_EQ(unsetenv("CUGRAFT_DRIVER"), 0);
  EXPECT_EQ(driver_from_environment(), std::nullopt);
}

}  // namespace
}  // namespace cugraft
