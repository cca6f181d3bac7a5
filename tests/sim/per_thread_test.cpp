// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <type_traits>

#include "sim/gate.hpp"
#include "sim/graph_fixture.hpp"

// Twins of functions for which stream 0 is the stream of the thread.

namespace cugraft_sim {
namespace {

class TwinRules : public GraphTest {
 protected:
  template <class Function>
  Function twin(const char* name, int version = 12040) {
    return reinterpret_cast<Function>(
        find(name, version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
  }

  void* find(const char* name, int version, cuuint64_t flags) {
    void* address = nullptr;
    EXPECT_EQ(cu().get_proc_address(name, &address, version, flags, nullptr), CUDA_SUCCESS);
    EXPECT_NE(address, nullptr) << name;
    return address;
  }

  bool has_twin(const char* name, int version) {
    return find(name, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM) !=
           find(name, version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  }
};

template <class... Types>
constexpr bool takes_stream(CUresult (*)(Types...)) {
  return (std::is_same_v<Types, CUstream> || ...) ||
         (std::is_same_v<Types, const CUlaunchConfig*> || ...) ||
         (std::is_same_v<Types, CUDA_GRAPH_INSTANTIATE_PARAMS*> || ...);
}

TEST_F(TwinRules, R1_1_7_WhatTakesAStreamHasATwin) {
  const int has = driver().version();
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, exported, types)         \
  if (version <= has) {                                                               \
    const bool expected = takes_stream(static_cast<CUresult(*) types>(nullptr)) &&    \
                          std::string(name) != "cuStreamDestroy"; /* there is none */ \
    EXPECT_EQ(has_twin(name, std::max(version, 7000)), expected) << name;             \
    EXPECT_EQ(driver().symbol<void*>(exported "_ptsz") != nullptr, expected) << name; \
  }
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
}

TEST_F(TwinRules, R1_1_7_OlderAndLaterFormsHaveTwinsToo) {
  for (const char* const symbol :
       {"cuStreamBeginCapture_ptsz", "cuStreamGetCaptureInfo_ptsz",
        "cuStreamGetCaptureInfo_v2_ptsz", "cuStreamUpdateCaptureDependencies_ptsz",
        "cuStreamGetCtx_v2_ptsz"})
    EXPECT_NE(driver().symbol<void*>(symbol), nullptr) << symbol;
  EXPECT_TRUE(has_twin("cuStreamGetCaptureInfo", 10010));
  EXPECT_TRUE(has_twin("cuStreamGetCaptureInfo", 11030));
}

TEST_F(TwinRules, R1_1_7_TheModeOfAThreadHasNoTwin) {
  EXPECT_FALSE(has_twin("cuThreadExchangeStreamCaptureMode", 12040));
}

TEST_F(TwinRules, R1_1_4_StreamZeroIsTheThreads) {
  gate held;
  const auto launch_host = twin<decltype(cu().launch_host_func)>("cuLaunchHostFunc");
  const auto query = twin<decltype(cu().stream_query)>("cuStreamQuery");
  const auto synchronize = twin<decltype(cu().stream_synchronize)>("cuStreamSynchronize");
  ASSERT_EQ(launch_host(nullptr, gate::wait, &held), CUDA_SUCCESS);
  EXPECT_EQ(query(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cu().stream_query(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  on_another_thread([&] {
    EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
    EXPECT_EQ(query(nullptr), CUDA_SUCCESS) << "another thread has another stream";
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
  });
  held.open();
  EXPECT_EQ(synchronize(nullptr), CUDA_SUCCESS);
}

TEST_F(TwinRules, R1_1_4_OtherStreamsAreTheSame) {
  const auto fill = twin<decltype(cu().memset_d32_async)>("cuMemsetD32Async");
  const auto synchronize = twin<decltype(cu().stream_synchronize)>("cuStreamSynchronize");
  ASSERT_EQ(fill(address(0), 5, 1, first()), CUDA_SUCCESS);
  ASSERT_EQ(synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 5U);
  const auto begin = twin<decltype(cu().stream_begin_capture)>("cuStreamBeginCapture");
  EXPECT_EQ(begin(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(TwinRules, R2_5_StreamZeroOfAThreadCanCapture) {
  const auto begin = twin<decltype(cu().stream_begin_capture)>("cuStreamBeginCapture");
  const auto end = twin<decltype(cu().stream_end_capture)>("cuStreamEndCapture");
  const auto is_capturing = twin<decltype(cu().stream_is_capturing)>("cuStreamIsCapturing");
  const auto launch_on = twin<decltype(cu().launch_kernel_ex)>("cuLaunchKernelEx");
  ASSERT_EQ(begin(nullptr, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  CUstreamCaptureStatus status{};
  EXPECT_EQ(is_capturing(nullptr, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  const CUlaunchConfig config = one_block(nullptr, 1);
  EXPECT_EQ(launch_on(&config, nothing_, nullptr, nullptr), CUDA_SUCCESS)
      << "the stream is a member of its configuration";
  CUgraph made = nullptr;
  ASSERT_EQ(end(nullptr, &made), CUDA_SUCCESS);
  EXPECT_EQ(nodes(keep(made)).size(), 1U);
}

TEST_F(TwinRules, R6_3_AnUploadAtInstantiationGoesToTheThreadsStream) {
  const auto instantiate_and_upload =
      twin<decltype(cu().graph_instantiate_with_params)>("cuGraphInstantiateWithParams");
  const auto launch_graph = twin<decltype(cu().graph_launch)>("cuGraphLaunch");
  const CUgraph graph = chain(2);
  // A blocking capture: the legacy stream may not be used meanwhile, the thread's may.
  const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  ASSERT_EQ(cu().stream_begin_capture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  CUgraphExec made = nullptr;
  EXPECT_EQ(instantiate_and_upload(&made, graph, &parameters), CUDA_SUCCESS);
  execs_.push_back(made);
  EXPECT_EQ(launch_graph(made, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(status(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph left = nullptr;
  EXPECT_EQ(cu().stream_end_capture(blocking, &left), CUDA_SUCCESS);
  keep(left);
  EXPECT_EQ(cu().stream_synchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 3U);
  EXPECT_EQ(cu().stream_destroy(blocking), CUDA_SUCCESS);
}

TEST_F(TwinRules, R1_1_4_ACallOfACallbackHasItsOwnStreamZero) {
  CUGRAFT_NEEDS_SIMULATOR();  // a re-capture with a callback
  if (driver().version() < 13030) GTEST_SKIP() << "re-capture came with 13.3";
  const auto begin =
      twin<decltype(cu().stream_begin_recapture_to_graph)>("cuStreamBeginRecaptureToGraph", 13030);
  const auto end = twin<decltype(cu().stream_end_capture)>("cuStreamEndCapture");
  const auto fill_on = twin<decltype(cu().memset_d32_async)>("cuMemsetD32Async");
  const CUgraph graph = capture([&] { EXPECT_EQ(fill(first(), 1), CUDA_SUCCESS); });
  struct seen {
    const driver_functions* table;
    CUstreamCaptureStatus legacy;
  } found{&cu(), CU_STREAM_CAPTURE_STATUS_INVALIDATED};
  const auto ask = [](void* data, CUgraphNode, const CUgraphNodeParams*, const CUgraphNodeParams*,
                      cugraft::newer::graph_recapture_status) {
    auto& into = *static_cast<seen*>(data);
    const CUresult result = into.table->stream_is_capturing(nullptr, &into.legacy);
    return result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
  };
  ASSERT_EQ(begin(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED, graph, ask, &found), CUDA_SUCCESS);
  EXPECT_EQ(fill_on(address(0), 2, 1, nullptr), CUDA_SUCCESS);
  CUgraph same = nullptr;
  EXPECT_EQ(end(nullptr, &same), CUDA_SUCCESS);
  EXPECT_EQ(same, graph);
}

}  // namespace
}  // namespace cugraft_sim
