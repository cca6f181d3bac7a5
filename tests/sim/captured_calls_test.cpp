// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "sim/driver_under_test.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {
namespace {

// What a refused call on a capturing stream does to the capture: nothing, or its end. The codes are
// those of an H200 with driver 580.
class CapturedCallRules : public Rules {
 protected:
  void SetUp() override {
    Rules::SetUp();
    stream_ = make_stream();
    library_ = load(rules_ptx);
    nothing_ = find(library_, "nothing");
    add_ = find(library_, "add");
    memory_ = make_memory(4096);
  }

  void TearDown() override {
    EXPECT_EQ(cu().mem_free(memory_), CUDA_SUCCESS);
    EXPECT_EQ(cu().library_unload(library_), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_destroy(stream_), CUDA_SUCCESS);
    Rules::TearDown();
  }

  // Calls `call` in a capture, and returns with what the capture ended.
  CUresult end_after(CUresult expected, const std::function<CUresult()>& call) {
    EXPECT_EQ(cu().stream_begin_capture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
              CUDA_SUCCESS);
    EXPECT_EQ(call(), expected);
    CUgraph graph = nullptr;
    const CUresult end = cu().stream_end_capture(stream_, &graph);
    EXPECT_EQ(graph != nullptr, end == CUDA_SUCCESS);
    nodes_ = 0;
    if (graph) {
      EXPECT_EQ(cu().graph_get_nodes(graph, nullptr, &nodes_), CUDA_SUCCESS);
      EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
    }
    return end;
  }

  CUresult launch(const CUlaunchConfig& config, CUfunction function, void** arguments = nullptr) {
    return cu().launch_kernel_ex(&config, function, arguments, nullptr);
  }

  CUstream stream_ = nullptr;
  CUlibrary library_ = nullptr;
  CUfunction nothing_ = nullptr;
  CUfunction add_ = nullptr;
  CUdeviceptr memory_ = 0;
  std::size_t nodes_ = 0;  // of the last capture
  CUlibrary extra_library_ = nullptr;
};

TEST_F(CapturedCallRules, R2_4_LaunchThatDoesNotFitEndsTheCapture) {
  CUlaunchConfig config = one_block(stream_, 1025);
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_VALUE, [&] { return launch(config, nothing_); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  config = one_block(stream_, 1);
  config.gridDimX = 0;
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_VALUE, [&] { return launch(config, nothing_); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  config = one_block(stream_, 1);
  config.sharedMemBytes = 60000;
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_VALUE, [&] { return launch(config, nothing_); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CapturedCallRules, R2_4_ClusterThatDoesNotFitEndsTheCapture) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = 3;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  CUlaunchConfig config = one_block(stream_, 1);
  config.gridDimX = 8;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_CLUSTER_SIZE, [&] { return launch(config, nothing_); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CapturedCallRules, R2_4_WrongArgumentsLeaveTheCaptureAlone) {
  const CUlaunchConfig config = one_block(stream_, 1);
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_VALUE, [&] { return launch(config, add_); }),
            CUDA_SUCCESS);
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_HANDLE, [&] { return launch(config, nullptr); }),
            CUDA_SUCCESS);
  const auto host = [&] { return cu().launch_host_func(stream_, nullptr, nullptr); };
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_VALUE, host), CUDA_SUCCESS);
  const auto record = [&] { return cu().event_record(nullptr, stream_); };
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_HANDLE, record), CUDA_SUCCESS);
  const auto copy = [&] { return cu().memcpy_async(0, memory_, 16, stream_); };
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_VALUE, copy), CUDA_SUCCESS);
  const auto fill = [&] { return cu().memset_d32_async(memory_ + 2, 0, 1, stream_); };
  EXPECT_EQ(end_after(CUDA_ERROR_INVALID_VALUE, fill), CUDA_SUCCESS);
}

TEST_F(CapturedCallRules, R2_2_CapturedFillTakesAnyDestination) {
  const auto fill = [&] { return cu().memset_d8_async(memory_, 0, 1 << 24, stream_); };
  EXPECT_EQ(end_after(CUDA_SUCCESS, fill), CUDA_SUCCESS);
  EXPECT_EQ(nodes_, 1U);
}

TEST_F(CapturedCallRules, R2_2_NoByteIsNoNode) {
  const auto both = [&] {
    EXPECT_EQ(cu().memcpy_async(memory_, memory_ + 64, 0, stream_), CUDA_SUCCESS);
    return cu().memset_d8_async(memory_, 0, 0, stream_);
  };
  EXPECT_EQ(end_after(CUDA_SUCCESS, both), CUDA_SUCCESS);
  EXPECT_EQ(nodes_, 0U);
}

TEST_F(CapturedCallRules, R2_3_UnsafeCallsOfTheSameThread) {
  CUdeviceptr memory = 0;
  void* host = nullptr;
  const std::function<CUresult()> unsafe_calls[] = {
      [&] { return cu().mem_alloc(&memory, 64); },
      [&] { return cu().mem_free(memory_); },
      [&] { return cu().mem_host_alloc(&host, 64, 0); },
      [&] { return cu().library_unload(library_); },
      [&] { return cu().ctx_synchronize(); },
      [&] { return cu().stream_synchronize(stream_); },
      [&] { return cu().stream_query(stream_); }};
  for (const auto& call : unsafe_calls)
    EXPECT_EQ(end_after(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call),
              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CapturedCallRules, R2_3_CallsThatEndNoCapture) {
  const auto call = [&] {
    const CUevent event = make_event();
    EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
    const CUstream other = make_stream();
    EXPECT_EQ(cu().stream_destroy(other), CUDA_SUCCESS);
    const CUlibrary library = load(rules_ptx);
    EXPECT_NE(library, nullptr);
    extra_library_ = library;
    int priority = 0;
    CUcontext owner = nullptr;
    EXPECT_EQ(cu().stream_get_priority(stream_, &priority), CUDA_SUCCESS);
    return cu().stream_get_ctx(stream_, &owner);
  };
  EXPECT_EQ(end_after(CUDA_SUCCESS, call), CUDA_SUCCESS);
  EXPECT_EQ(cu().library_unload(extra_library_), CUDA_SUCCESS);
}

TEST_F(CapturedCallRules, R2_4_FlagsOfACapturingStreamCannotBeAsked) {
  unsigned flags = 0;
  EXPECT_EQ(end_after(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      [&] { return cu().stream_get_flags(stream_, &flags); }),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CapturedCallRules, R8_CapturedCopyIsReadBackAsItWasGiven) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  EXPECT_EQ(cu().stream_begin_capture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(cu().memcpy_async(memory_, memory_ + 1024, 100, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_end_capture(stream_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_get_nodes(graph, &node, &count), CUDA_SUCCESS);
  CUDA_MEMCPY3D copy{};
  EXPECT_EQ(cu().graph_memcpy_node_get_params(node, &copy), CUDA_SUCCESS);
  EXPECT_EQ(copy.srcMemoryType, CU_MEMORYTYPE_UNIFIED);
  EXPECT_EQ(copy.srcDevice, memory_ + 1024);
  EXPECT_EQ(copy.srcPitch, 0U);
  EXPECT_EQ(copy.dstMemoryType, CU_MEMORYTYPE_UNIFIED);
  EXPECT_EQ(copy.dstDevice, memory_);
  EXPECT_EQ(copy.WidthInBytes, 100U);
  EXPECT_EQ(copy.Height, 1U);
  EXPECT_EQ(copy.Depth, 1U);
  EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
