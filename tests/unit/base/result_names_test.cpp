// SPDX-License-Identifier: Apache-2.0
#include "base/result_names.hpp"

#include <gtest/gtest.h>

namespace cugraft {
namespace {

TEST(ResultNamesTest, FindsFirstMiddleAndLast) {
  EXPECT_EQ(find_result_name(0)->name, "CUDA_SUCCESS");
  EXPECT_EQ(find_result_name(400)->name, "CUDA_ERROR_INVALID_HANDLE");
  EXPECT_EQ(find_result_name(999)->name, "CUDA_ERROR_UNKNOWN");
}

TEST(ResultNamesTest, FindsNothingBetweenAndBeyond) {
  EXPECT_EQ(find_result_name(-1), nullptr);
  EXPECT_EQ(find_result_name(399), nullptr);
  EXPECT_EQ(find_result_name(12345), nullptr);
}

TEST(ResultNamesTest, Text) {
  EXPECT_EQ(result_text(918), "918 CUDA_ERROR_GRAPH_RECAPTURE_FAILURE");
  EXPECT_EQ(result_text(12345), "CUresult 12345");
}

TEST(ResultNamesTest, EveryNameHasAMeaningThatFitsIntoASentence) {
  for (int code = 0; code < 1000; ++code) {
    const result_name* known = find_result_name(code);
    if (known == nullptr) continue;
    ASSERT_FALSE(known->meaning.empty()) << code;
    EXPECT_NE(known->meaning.back(), '.') << code;
  }
}

}  // namespace
}  // namespace cugraft
