// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/driver_under_test.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {
namespace {

// What loading an image came to, with the text for the program's log buffer.
struct load_result {
  CUresult code;
  std::string log;
};

load_result try_to_load(const driver_functions& cu, const void* image) {
  char log[512] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlibrary library = nullptr;
  const CUresult code =
      cu.library_load_data(&library, image, options, values, 2, nullptr, nullptr, 0);
  EXPECT_EQ(code == CUDA_SUCCESS, library != nullptr);
  return {code, log};
}

TEST_F(Rules, R1_2I_KernelsAreFoundByName) {
  const CUlibrary library = load(rules_ptx);
  CUkernel kernel = nullptr;
  EXPECT_EQ(cu().library_get_kernel(&kernel, library, "add"), CUDA_SUCCESS);
  EXPECT_NE(kernel, nullptr);
  EXPECT_EQ(cu().library_get_kernel(&kernel, library, "subtract"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2I_LibraryComesFromAFile) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("cugraft_rules_" + std::to_string(::getpid()) + ".ptx");
  std::ofstream(path) << rules_ptx;
  CUlibrary library = nullptr;
  EXPECT_EQ(
      cu().library_load_from_file(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  std::filesystem::remove(path);
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
  EXPECT_EQ(
      cu().library_load_from_file(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(Rules, R1_3_R8_KernelsDieWithTheirLibrary) {
  CUGRAFT_NEEDS_SIMULATOR();  // a real driver may crash
  const CUlibrary library = load(rules_ptx);
  const CUfunction function = find(library, "nothing");
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
  const char* name = nullptr;
  EXPECT_EQ(cu().func_get_name(&name, function), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().library_unload(library), CUDA_ERROR_INVALID_HANDLE);
}

// A real driver may compile only when a kernel is asked for.
TEST_F(Rules, R1_2I_TextThatIsNoPtxIsRefused) {
  CUGRAFT_NEEDS_SIMULATOR();
  const load_result result = try_to_load(cu(), ".version 7.8\n.target sm_75\nnonsense\n");
  EXPECT_EQ(result.code, CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(result.log, "");
}

TEST_F(Rules, R1_2I_MissingInstructionIsNamedWithItsLine) {
  CUGRAFT_NEEDS_SIMULATOR();
  const load_result result = try_to_load(cu(),
                                         ".version 7.8\n"
                                         ".target sm_75\n"
                                         ".address_size 64\n"
                                         ".visible .entry k() {\n"
                                         "  frobnicate.u32 %r1, %r2;\n"
                                         "  ret;\n"
                                         "}\n");
  EXPECT_EQ(result.code, CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(result.log.find("line 5"), std::string::npos) << result.log;
  EXPECT_NE(result.log.find("frobnicate"), std::string::npos) << result.log;
}

TEST_F(Rules, R1_2I_BinaryImageHasNoCodeForTheSimulatedDevice) {
  CUGRAFT_NEEDS_SIMULATOR();
  const unsigned char cubin[64] = {0x7f, 'E', 'L', 'F'};
  const unsigned char fatbin[64] = {0x50, 0xed, 0x55, 0xba};
  const load_result binary = try_to_load(cu(), cubin);
  EXPECT_EQ(binary.code, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(binary.log, "a binary image cannot be run here, only PTX can");
  const load_result container = try_to_load(cu(), fatbin);
  EXPECT_EQ(container.code, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(container.log, "containers of several images are not read yet, only PTX text is");
}

TEST_F(Rules, R1_2I_AnythingElseIsNoImage) {
  CUGRAFT_NEEDS_SIMULATOR();
  EXPECT_EQ(try_to_load(cu(), "").code, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(try_to_load(cu(), "hello").code, CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(Rules, R1_2I_PtxForANewerDeviceHasNoCode) {
  CUGRAFT_NEEDS_SIMULATOR();
  const load_result result =
      try_to_load(cu(), ".version 8.7\n.target sm_100\n.address_size 64\n.entry k() { ret; }\n");
  EXPECT_EQ(result.code, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(result.log, "the image is for sm_100, the device is sm_90");
}

}  // namespace
}  // namespace cugraft_sim
