// SPDX-License-Identifier: Apache-2.0
#include "driver/call.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cugraft/error.hpp"
#include "support/expect.hpp"

namespace cugraft {
namespace {

int calls = 0;

CUresult refuse(CUgraphExec, CUstream) {
  ++calls;
  return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult accept(CUgraphExec, CUstream) {
  ++calls;
  return CUDA_SUCCESS;
}

const auto exec = reinterpret_cast<CUgraphExec>(std::uintptr_t{1});
const auto stream_handle = reinterpret_cast<CUstream>(std::uintptr_t{0x10});

TEST(CallTest, NamesFunctionHandlesCodeAndMeaning) {
  driver_table table;
  table.graph_launch = refuse;
  EXPECT_THROW_MSG(call(driver_of(table), &driver_table::graph_launch, exec, stream_handle),
                   cuda_error,
                   "cuGraphLaunch failed for executable graph 0x1, stream 0x10: 901 "
                   "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (an earlier error ended this stream "
                   "capture)");
}

TEST(CallTest, MakesItsCallOnce) {
  driver_table table;
  calls = 0;
  table.graph_launch = accept;
  call(driver_of(table), &driver_table::graph_launch, exec, stream_handle);
  EXPECT_EQ(calls, 1);
  table.graph_launch = refuse;
  EXPECT_THROW(call(driver_of(table), &driver_table::graph_launch, exec, stream_handle),
               cuda_error);
  EXPECT_EQ(calls, 2);
}

TEST(CallTest, AbsentFunctionIsAnErrorAndNoJumpToNull) {
  const driver_table empty;
  EXPECT_THROW_MSG(
      call(driver_of(empty), &driver_table::graph_destroy, nullptr), cuda_error,
      "cuGraphDestroy failed: 36 CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER (the call needs "
      "a newer driver)");
}

TEST(CheckTest, CodeWithoutANameHasNoMeaning) {
  EXPECT_THROW_MSG(check(static_cast<CUresult>(12345), "cuEventQuery",
                         reinterpret_cast<CUevent>(std::uintptr_t{1})),
                   cuda_error, "cuEventQuery failed for event 0x1: CUresult 12345");
}

struct row {
  const char* member;
  std::string_view name;
  int version;
  bool required;
  int feature_version;
  std::string_view symbol;
};

enum class required_tag { required };

int version_of(required_tag) { return 0; }
int version_of(feature which) { return required_version(which); }

std::vector<row> list() {
  using enum feature;
  using enum required_tag;
  return {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, parameters) \
  {#member, name, version, version_of(need) == 0, version_of(need), symbol},
#include "driver/functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  };
}

TEST(FunctionListTest, RequiredFunctionsAreNoNewerThanTheOldestDriver) {
  for (const row& each : list())
    EXPECT_TRUE(!each.required || each.version <= minimum_version) << each.name;
}

TEST(FunctionListTest, FeatureIsAsNewAsTheNewestOfItsFunctions) {
  for (const row& each : list())
    EXPECT_TRUE(each.required || each.version <= each.feature_version) << each.name;
}

TEST(FunctionListTest, NamesAreUniqueAndFitTheirMembersAndSymbols) {
  std::set<std::string_view> names;
  for (const row& each : list()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_EQ(each.symbol.find(each.name), 0U) << each.name;
    std::string member = "cu";
    bool upper = true;
    for (const char c : std::string_view(each.member)) {
      if (c != '_') member += upper ? static_cast<char>(std::toupper(c)) : c;
      upper = c == '_' || std::isdigit(c) != 0;  // memcpy_2d: cuMemcpy2D
    }
    EXPECT_EQ(member, each.name);
  }
}

TEST(FunctionListTest, EverySlotKnowsItsName) {
  const driver_table table;
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, parameters) \
  EXPECT_STREQ(function_name(table, &table.member), name);
#include "driver/functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
}

}  // namespace
}  // namespace cugraft
