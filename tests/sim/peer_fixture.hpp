// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "sim/driver_under_test.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {

/// A test with two devices; it is skipped where there are none, or where they are no peers.
class PeerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const bool is_simulated = driver_under_test::shared().is_simulator();
    driver_.emplace(is_simulated ? driver_under_test::fresh_simulator()
                                 : driver_under_test::shared());
    if (is_simulated) driver_->control().set_device_count(2);
    ASSERT_EQ(cu().init(0), CUDA_SUCCESS);
    int devices = 0, can = 0;
    ASSERT_EQ(cu().device_get_count(&devices), CUDA_SUCCESS);
    if (devices < 2) GTEST_SKIP() << "needs two devices";
    ASSERT_EQ(cu().device_can_access_peer(&can, 0, 1), CUDA_SUCCESS);
    if (!can) GTEST_SKIP() << "the first two devices are no peers";
    for (int i = 0; i < 2; ++i) prepare(i);
    ASSERT_EQ(cu().ctx_set_current(contexts_[0]), CUDA_SUCCESS);
  }

  void TearDown() override {
    for (int i = 0; i < 2; ++i) {
      if (!contexts_[i]) continue;
      EXPECT_EQ(cu().ctx_set_current(contexts_[i]), CUDA_SUCCESS);
      cu().stream_destroy(streams_[i]);
      cu().event_destroy(events_[i]);
      cu().mem_free(memory_[i]);
    }
    if (library_) cu().library_unload(library_);
    if (contexts_[1]) cu().device_primary_ctx_release(1);
    if (contexts_[0]) cu().device_primary_ctx_release(0);
    cu().ctx_set_current(nullptr);
  }

  void prepare(int device) {
    ASSERT_EQ(cu().device_primary_ctx_retain(&contexts_[device], device), CUDA_SUCCESS);
    ASSERT_EQ(cu().ctx_set_current(contexts_[device]), CUDA_SUCCESS);
    if (!library_) {
      ASSERT_EQ(
          cu().library_load_data(&library_, rules_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
          CUDA_SUCCESS);
    }
    ASSERT_EQ(cu().stream_create_with_priority(&streams_[device], CU_STREAM_NON_BLOCKING, 0),
              CUDA_SUCCESS);
    ASSERT_EQ(cu().event_create(&events_[device], CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(cu().mem_alloc(&memory_[device], bytes), CUDA_SUCCESS);
    ASSERT_EQ(cu().memset_d32_async(memory_[device], 0, bytes / 4, streams_[device]), CUDA_SUCCESS);
    ASSERT_EQ(cu().stream_synchronize(streams_[device]), CUDA_SUCCESS);
  }

  const driver_functions& cu() { return **driver_; }

  CUresult add(CUstream on, CUdeviceptr to, unsigned value) {
    CUkernel kernel = nullptr;
    EXPECT_EQ(cu().library_get_kernel(&kernel, library_, "add"), CUDA_SUCCESS);
    void* arguments[] = {&to, &value};
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    return cu().launch_kernel_ex(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr);
  }

  CUresult copy(CUstream on, std::size_t size = bytes) {
    return cu().memcpy_peer_async(memory_[1], contexts_[1], memory_[0], contexts_[0], size, on);
  }

  CUresult copy_by_address(CUstream on) {
    return cu().memcpy_dtod_async(memory_[1], memory_[0], bytes, on);
  }

  // The first element of a device's memory.
  unsigned read(int device) {
    unsigned value = 0;
    EXPECT_EQ(cu().memcpy_dtoh_async(&value, memory_[device], sizeof value, streams_[device]),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(streams_[device]), CUDA_SUCCESS);
    return value;
  }

  // Either device reaches the other's memory.
  class peer_access {
   public:
    explicit peer_access(PeerTest& test) : test_(test) {
      for (const int device : {1, 0}) {
        EXPECT_EQ(test_.cu().ctx_set_current(test_.contexts_[device]), CUDA_SUCCESS);
        EXPECT_EQ(test_.cu().ctx_enable_peer_access(test_.contexts_[1 - device], 0), CUDA_SUCCESS);
      }
    }
    peer_access(const peer_access&) = delete;
    peer_access& operator=(const peer_access&) = delete;
    ~peer_access() {
      for (const int device : {1, 0}) {
        EXPECT_EQ(test_.cu().ctx_set_current(test_.contexts_[device]), CUDA_SUCCESS);
        EXPECT_EQ(test_.cu().ctx_disable_peer_access(test_.contexts_[1 - device]), CUDA_SUCCESS);
      }
    }

   private:
    PeerTest& test_;
  };

  CUgraph end_capture() {
    CUgraph graph = nullptr;
    EXPECT_EQ(cu().stream_end_capture(streams_[0], &graph), CUDA_SUCCESS);
    return graph;
  }

  void run(CUgraph graph) {
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cu().graph_instantiate_with_flags(&exec, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_launch(exec, streams_[0]), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_exec_destroy(exec), CUDA_SUCCESS);
  }

  static constexpr std::size_t bytes = 64;

  std::optional<driver_under_test> driver_;
  CUcontext contexts_[2]{};
  CUstream streams_[2]{};
  CUevent events_[2]{};
  CUdeviceptr memory_[2]{};
  CUlibrary library_ = nullptr;
};

}  // namespace cugraft_sim
