// SPDX-License-Identifier: Apache-2.0
#include "cugraft/kernel.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "cugraft/error.hpp"
#include "driver/table.hpp"
#include "support/kernels.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

class KernelTest : public testing::SimulatedDriverTest {
 protected:
  std::vector<std::size_t> offsets(const kernel& kernel) const {
    std::vector<std::size_t> result;
    for (const kernel_parameter& parameter : kernel.parameters())
      result.push_back(parameter.offset);
    return result;
  }

  std::vector<std::size_t> sizes(const kernel& kernel) const {
    std::vector<std::size_t> result;
    for (const kernel_parameter& parameter : kernel.parameters()) result.push_back(parameter.size);
    return result;
  }

  context context_ = context::primary(driver());
  library library_ = testing::load_kernels(context_);
};

using list = std::vector<std::size_t>;

TEST_F(KernelTest, KnowsNameAndLayout) {
  const kernel kernel = library_.get_kernel("mixed_arguments");
  EXPECT_EQ(kernel.name(), "mixed_arguments");
  EXPECT_EQ(sizes(kernel), (list{1, 2, 4, 8, 4, 8, 8}));
  EXPECT_EQ(offsets(kernel), (list{0, 2, 4, 8, 16, 24, 32}));
}

TEST_F(KernelTest, StructIsOneParameterWithItsPadding) {
  EXPECT_EQ(sizes(library_.get_kernel("struct_argument")), (list{16, 8}));
}

TEST_F(KernelTest, WithoutParameters) {
  EXPECT_TRUE(library_.get_kernel("no_arguments").parameters().empty());
}

TEST_F(KernelTest, SameFunctionIsTheSameKernel) {
  const kernel scale = library_.get_kernel("scale");
  EXPECT_EQ(scale, library_.get_kernel("scale"));
  EXPECT_NE(scale, library_.get_kernel("saxpy"));
  EXPECT_EQ(scale, kernel::from_native_handle(driver(), scale.get()));
  EXPECT_NE(scale, kernel());
}

TEST_F(KernelTest, KeepsItsLibrary) {
  const kernel scale = library_.get_kernel("scale");
  library_ = library();
  EXPECT_EQ(simulator().live().libraries, 1U);
  EXPECT_EQ(scale.name(), "scale");
}

TEST_F(KernelTest, NativeHandlesAreNotOwned) {
  const auto& table = table_of(driver());
  CUkernel handle = nullptr;
  ASSERT_EQ(table.library_get_kernel(&handle, library_.get(), "scale"), CUDA_SUCCESS);
  const kernel foreign = kernel::from_native_handle(context_, handle);
  EXPECT_EQ(foreign, library_.get_kernel("scale"));
  library_ = library();
  EXPECT_EQ(simulator().live().libraries, 0U);
}

TEST_F(KernelTest, NullHandlesAreRefused) {
  EXPECT_THROW_MSG(kernel::from_native_handle(driver(), nullptr), usage_error,
                   "a kernel cannot be made from a null function");
  EXPECT_THROW_MSG(kernel::from_native_handle(context_, nullptr), usage_error,
                   "a kernel cannot be made from a null kernel");
}

TEST_F(KernelTest, SizesAreCheckedAgainstTheLayout) {
  const kernel scale = library_.get_kernel("scale");
  EXPECT_NO_THROW(scale.require_sizes(list{8, 4, 4}));
  EXPECT_THROW_MSG(scale.require_sizes(list{8, 4}), usage_error,
                   "kernel \"scale\" takes 3 arguments, but 2 were given");
  EXPECT_THROW_MSG(scale.require_sizes(list{8, 8, 4}), usage_error,
                   "argument 1 of kernel \"scale\" has 4 bytes, but 8 were given");
}

TEST_F(KernelTest, TypedKernelIsCheckedOnce) {
  EXPECT_EQ(library_.get_kernel<void(float*, float, int)>("scale").untyped().name(), "scale");
  EXPECT_THROW_MSG(library_.get_kernel<void(float*, double, int)>("scale"), usage_error,
                   "argument 1 of kernel \"scale\" has 4 bytes, but 8 were given");
}

TEST_F(KernelTest, SharedMemoryLimitReachesTheDriver) {
  const kernel reverse = library_.get_kernel("reverse_blocks");
  reverse.allow_shared_memory(64 * 1024);
  int limit = 0;
  ASSERT_EQ(table_of(driver()).func_get_attribute(
                &limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, reverse.get()),
            CUDA_SUCCESS);
  EXPECT_EQ(limit, 64 * 1024);
  EXPECT_THROW_MSG(reverse.allow_shared_memory(std::size_t{1} << 40), usage_error,
                   "kernel \"reverse_blocks\" cannot have 1099511627776 bytes of shared memory");
}

TEST_F(KernelTest, FunctionIsLoadedAtGetKernel) {
  const auto before = simulator().calls("cuFuncLoad");
  (void)library_.get_kernel("scale");
  EXPECT_EQ(simulator().calls("cuFuncLoad"), before + 1);
}

TEST_F(KernelTest, EveryCallThatFailsIsNamed) {
  for (const char* function : {"cuLibraryGetKernel", "cuKernelGetFunction", "cuFuncLoad",
                               "cuFuncGetName", "cuFuncGetParamInfo"}) {
    fail_next(function, 999);
    try {
      (void)library_.get_kernel("scale");
      ADD_FAILURE() << "no error from " << function;
    } catch (const cuda_error& error) {
      EXPECT_EQ(error.function(), function);
      EXPECT_EQ(error.code(), 999);
    }
  }
}

}  // namespace
}  // namespace cugraft
