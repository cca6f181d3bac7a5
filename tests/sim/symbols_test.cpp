// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "sim/driver_under_test.hpp"

namespace cugraft_sim {
namespace {

// What cuGetProcAddress answered.
struct answer {
  CUresult result;
  void* address;
  CUdriverProcAddressQueryResult status;
};

answer ask(const driver_under_test& driver, const char* symbol, int version, cuuint64_t flags = 0) {
  answer given{CUDA_SUCCESS, &given, CU_GET_PROC_ADDRESS_SUCCESS};
  given.result = driver->get_proc_address(symbol, &given.address, version, flags, &given.status);
  return given;
}

// Every function of the list that a driver of this version has, and none that is newer.
void expect_functions_of(driver_under_test& driver) {
  const int has = driver.version();
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  EXPECT_EQ(driver->member != nullptr, version <= has) << name << " on a driver " << has;
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
}

TEST_F(Rules, R1_1_1_FunctionsUpToTheDriversVersionAreFound) { expect_functions_of(driver()); }

TEST_F(Rules, R1_1_1_EveryVersionHasItsFunctions) {
  CUGRAFT_NEEDS_SIMULATOR();
  for (const int version : {12040, 12080, 13000, 13020, 13030, 13050}) {
    driver_under_test fresh = driver_under_test::fresh_simulator(version);
    ASSERT_EQ(fresh.version(), version);
    expect_functions_of(fresh);
  }
}

TEST_F(Rules, R1_1_2_VersionAboveDriverIsRefused) {
  EXPECT_EQ(ask(driver(), "cuInit", driver().version() + 10).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask(driver(), "cuInit", 99000).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask(driver(), "cuInit", driver().version()).result, CUDA_SUCCESS);
}

TEST_F(Rules, R1_1_3_UnknownSymbolIsSuccessWithNull) {
  const answer given = ask(driver(), "cuNoSuchFunction", driver().version());
  EXPECT_EQ(given.result, CUDA_SUCCESS);
  EXPECT_EQ(given.address, nullptr);
  EXPECT_EQ(given.status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

TEST_F(Rules, R1_1_3_NameWithItsSuffixIsUnknown) {
  const answer given = ask(driver(), "cuStreamDestroy_v2", driver().version());
  EXPECT_EQ(given.result, CUDA_SUCCESS);
  EXPECT_EQ(given.address, nullptr);
}

TEST_F(Rules, R1_1_3_OldVersionIsNotSufficient) {
  const answer given = ask(driver(), "cuLibraryLoadData", 11000);
  EXPECT_EQ(given.result, CUDA_SUCCESS);
  EXPECT_EQ(given.address, nullptr);
  EXPECT_EQ(given.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

TEST_F(Rules, R1_1_3_FunctionNewerThanTheDriverIsUnknownToIt) {
  CUGRAFT_NEEDS_SIMULATOR();
  const driver_under_test fresh = driver_under_test::fresh_simulator(13000);
  for (const char* const name :
       {"cuStreamBeginRecaptureToGraph", "cuGraphNodeGetParams", "cuGraphNodeGetLocalId"}) {
    const answer given = ask(fresh, name, 13000);
    EXPECT_EQ(given.result, CUDA_SUCCESS) << name;
    EXPECT_EQ(given.address, nullptr) << name;
    EXPECT_EQ(given.status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) << name;
  }
}

TEST_F(Rules, R1_1_3_StatusMayBeNull) {
  void* address = nullptr;
  EXPECT_EQ(cu().get_proc_address("cuInit", &address, 12040, 0, nullptr), CUDA_SUCCESS);
  EXPECT_NE(address, nullptr);
}

TEST_F(Rules, R1_1_4_PerThreadFallsBackToTheOnlyForm) {
  const answer legacy = ask(driver(), "cuInit", 12040, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  const answer per_thread =
      ask(driver(), "cuInit", 12040, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  EXPECT_NE(legacy.address, nullptr);
  EXPECT_EQ(legacy.address, per_thread.address);
}

// Names that stand for another signature at a later version.
struct changed_form {
  const char* name;
  int before;
  int from;
};

constexpr std::array changed_forms{
    changed_form{"cuCtxSynchronize", 12040, 13000}, changed_form{"cuCtxGetDevice", 12040, 13000},
    changed_form{"cuLaunchHostFunc", 12040, 13020}, changed_form{"cuStreamGetCtx", 12040, 12050}};

TEST_F(Rules, R1_1_6_HighVersionChangesTheForm) {
  for (const changed_form& form : changed_forms) {
    if (driver().version() < form.from) continue;
    const answer before = ask(driver(), form.name, form.before);
    const answer later = ask(driver(), form.name, form.from);
    EXPECT_NE(before.address, nullptr) << form.name;
    EXPECT_NE(later.address, nullptr) << form.name;
    EXPECT_NE(before.address, later.address) << form.name;
  }
}

TEST_F(Rules, R1_1_6_CtxSynchronizeTakesAContextFrom13000) {
  if (driver().version() < 13000) GTEST_SKIP() << "the form came with 13.0";
  using form = CUresult (*)(CUcontext);
  const auto synchronize = reinterpret_cast<form>(ask(driver(), "cuCtxSynchronize", 13000).address);
  ASSERT_NE(synchronize, nullptr);
  EXPECT_EQ(synchronize(context_), CUDA_SUCCESS);
}

TEST_F(Rules, R1_1_6_LaunchHostFuncTakesAModeFrom13020) {
  if (driver().version() < 13020) GTEST_SKIP() << "the form came with 13.2";
  using form = CUresult (*)(CUstream, CUhostFn, void*, unsigned);
  const auto launch = reinterpret_cast<form>(ask(driver(), "cuLaunchHostFunc", 13020).address);
  ASSERT_NE(launch, nullptr);
  const CUstream stream = make_stream();
  int runs = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  EXPECT_EQ(launch(stream, count, &runs, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(stream, count, &runs, 77), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_1_ArgumentsAreChecked) {
  CUGRAFT_NEEDS_SIMULATOR();  // a real driver reads through a null name
  void* address = nullptr;
  EXPECT_EQ(cu().get_proc_address(nullptr, &address, 12040, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().get_proc_address("cuInit", nullptr, 12040, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().get_proc_address("cuInit", &address, 12040, 64, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Rules, R0_1_ErrorsHaveNamesAndTexts) {
  const char* name = nullptr;
  const char* text = nullptr;
  EXPECT_EQ(cu().get_error_name(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  EXPECT_EQ(cu().get_error_string(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "operation failed due to a previous error during capture");
  EXPECT_EQ(cu().get_error_name(CUDA_ERROR_CAPTURED_EVENT, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_CAPTURED_EVENT");
}

TEST_F(Rules, R3_1_R12_TheFailureOfARecaptureHasItsOwnName) {
  if (driver().version() < 13030) GTEST_SKIP() << "the error came with 13.3";
  const char* name = nullptr;
  EXPECT_EQ(cu().get_error_name(cugraft::newer::error_graph_recapture_failure, &name),
            CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE");
}

TEST_F(Rules, R0_1_UnknownErrorHasNoName) {
  const char* name = "before";
  EXPECT_EQ(cu().get_error_name(static_cast<CUresult>(12345), &name), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(name, nullptr);
}

}  // namespace
}  // namespace cugraft_sim
