// SPDX-License-Identifier: Apache-2.0
#include "cugraft/error.hpp"

#include <gtest/gtest.h>

namespace cugraft {
namespace {

TEST(CudaErrorTest, CarriesFactsAndTheSentence) {
  const cuda_error error(901, "cuStreamEndCapture", "the capture is over");
  EXPECT_EQ(error.code(), 901);
  EXPECT_EQ(error.code_name(), "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  EXPECT_EQ(error.function(), "cuStreamEndCapture");
  EXPECT_STREQ(error.what(), "the capture is over");
}

TEST(CudaErrorTest, RecaptureFailureHasItsNameOnEveryDriver) {
  EXPECT_EQ(cuda_error(918, "", "").code_name(), "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE");
}

TEST(CudaErrorTest, UnknownCodeHasNoName) {
  EXPECT_EQ(cuda_error(12345, "", "").code_name(), "unknown");
}

TEST(UnsupportedErrorTest, TooOldADriver) {
  const unsupported_error error("native re-capture", 13030, 13000, "use the engine compare");
  EXPECT_STREQ(error.what(),
               "native re-capture needs a driver of CUDA 13.3 or newer; this one has 13.0: update "
               "the driver, or use the engine compare");
  EXPECT_EQ(error.asked(), "native re-capture");
  EXPECT_EQ(error.instead(), "use the engine compare");
  EXPECT_EQ(error.required_version(), 13030);
  EXPECT_EQ(error.found_version(), 13000);
}

TEST(UnsupportedErrorTest, WithoutAdvice) {
  EXPECT_STREQ(
      unsupported_error("cugraft", 12040, 11080, {}).what(),
      "cugraft needs a driver of CUDA 12.4 or newer; this one has 11.8: update the driver");
}

TEST(UnsupportedErrorTest, NewEnoughADriverThatLacksAFunction) {
  EXPECT_STREQ(
      unsupported_error("native re-capture", 13030, 13050, {}).what(),
      "native re-capture needs a driver of CUDA 13.3 or newer; this one has 13.5 but lacks "
      "it: repair its installation");
}

}  // namespace
}  // namespace cugraft
