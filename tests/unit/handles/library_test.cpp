// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cugraft/error.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/stream.hpp"
#include "driver/table.hpp"
#include "support/kernels.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

class LibraryTest : public testing::SimulatedDriverTest {
 protected:
  context context_ = context::primary(driver());
};

TEST_F(LibraryTest, PtxNeedsNoTerminatingZero) {
  std::string text = testing::kernel_image();
  const std::string_view image(text.data(), text.size());
  text += "this is not PTX";
  EXPECT_EQ(library::from_image(context_, image).get_kernel("scale").name(), "scale");
}

TEST_F(LibraryTest, ImageMayBeBytes) {
  const std::string text = testing::kernel_image();
  const library loaded =
      library::from_image(context_, std::as_bytes(std::span(text.data(), text.size())));
  EXPECT_NE(loaded.get(), nullptr);
}

TEST_F(LibraryTest, ImageMayBeAFile) {
  const std::string file = std::string(CUGRAFT_TEST_DATA) + "/support/kernels/basic.ptx";
  EXPECT_EQ(library::from_file(context_, file).get_kernel("saxpy").parameters().size(), 4U);
}

TEST_F(LibraryTest, MissingFileIsNamed) {
  EXPECT_THROW_MSG(library::from_file(context_, "/nonexistent/kernels.ptx"), cuda_error,
                   "file /nonexistent/kernels.ptx: cuLibraryLoadFromFile failed: 301 "
                   "CUDA_ERROR_FILE_NOT_FOUND (there is no such file)");
}

TEST_F(LibraryTest, MissingKernelIsNamed) {
  const library loaded = testing::load_kernels(context_);
  EXPECT_THROW_MSG(loaded.get_kernel("no_such_kernel"), cuda_error,
                   "kernel \"no_such_kernel\": cuLibraryGetKernel failed for library 0x1: 500 "
                   "CUDA_ERROR_NOT_FOUND (there is nothing of that name)");
}

TEST_F(LibraryTest, WhatTheCompilerSaysIsInTheError) {
  try {
    library::from_image(context_, "this is not PTX");
    FAIL() << "no error";
  } catch (const cuda_error& error) {
    const std::string start =
        fmt::format("cuLibraryLoadData failed: {} {} (", error.code(), error.code_name());
    const std::string text = error.what();
    EXPECT_EQ(text.find(start), 0U) << text;
    EXPECT_NE(text.find("): "), std::string::npos) << "no log: " << text;
  }
}

TEST_F(LibraryTest, UnloadedAfterTheLastCopy) {
  library first = testing::load_kernels(context_);
  {
    const library second = first;
    first = library();
    EXPECT_EQ(simulator().live().libraries, 1U);
  }
  EXPECT_EQ(simulator().live().libraries, 0U);
}

TEST_F(LibraryTest, LoadingAndUnloadingEndNobodysCapture) {
  const stream stream(context_);
  const auto& table = table_of(driver());
  ASSERT_EQ(table.stream_begin_capture(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  (void)testing::load_kernels(context_).get_kernel("scale");
  CUgraph graph = nullptr;
  ASSERT_EQ(table.stream_end_capture(stream.get(), &graph), CUDA_SUCCESS);
  EXPECT_EQ(table.graph_destroy(graph), CUDA_SUCCESS);
}

TEST_F(LibraryTest, NativeHandleIsTakenOver) {
  const std::string image = testing::kernel_image();
  CUlibrary handle = nullptr;
  ASSERT_EQ(table_of(driver()).library_load_data(&handle, image.c_str(), nullptr, nullptr, 0,
                                                 nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(library::from_native_handle(context_, handle).get_kernel("scale").name(), "scale");
  EXPECT_EQ(simulator().live().libraries, 0U);
  EXPECT_THROW_MSG(library::from_native_handle(context_, nullptr), usage_error,
                   "a library cannot be made from a null handle");
}

TEST_F(LibraryTest, FailedLoadLeavesNothing) {
  fail_next("cuLibraryLoadData", 209);
  EXPECT_THROW_MSG(testing::load_kernels(context_), cuda_error,
                   "cuLibraryLoadData failed: 209 CUDA_ERROR_NO_BINARY_FOR_GPU (the image holds no "
                   "kernel for this device)");
  fail_after_next("cuLibraryLoadData", 700);
  EXPECT_THROW(testing::load_kernels(context_), cuda_error);
  EXPECT_EQ(simulator().live().libraries, 0U);
}

TEST_F(LibraryTest, RefusedUnloadIsReportedOnceAndTriedAgain) {
  fail_next("cuLibraryUnload", 900);
  { const library loaded = testing::load_kernels(context_); }
  EXPECT_EQ(take_reports(), std::vector<std::string>{"cuLibraryUnload failed for library 0x1: 900 "
                                                     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"});
  EXPECT_EQ(simulator().live().libraries, 0U);
}

}  // namespace
}  // namespace cugraft
