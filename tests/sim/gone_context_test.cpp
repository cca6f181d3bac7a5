// SPDX-License-Identifier: Apache-2.0
#include "sim/graph_fixture.hpp"

// Executables whose context is gone. What a real driver does with them is not documented.

namespace cugraft_sim {
namespace {

class GoneContextRules : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    CUGRAFT_NEEDS_SIMULATOR();
    ASSERT_EQ(cu().ctx_create(&other_, 0, device_), CUDA_SUCCESS);
  }

  void TearDown() override {
    destroy_other();
    GraphTest::TearDown();
  }

  void destroy_other() {
    if (other_) {
      EXPECT_EQ(cu().ctx_destroy(std::exchange(other_, nullptr)), CUDA_SUCCESS);
    }
  }

  /// An executable of a capture in the other context, which is no longer current then.
  template <class Body>
  CUgraphExec captured_in_other(Body body) {
    const CUstream stream = make_stream();
    EXPECT_EQ(cu().stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    body(stream);
    const CUgraphExec made = instantiate(end(stream));
    EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
    return made;
  }

  CUcontext other_ = nullptr;
};

TEST_F(GoneContextRules, ALaunchOfAKernelIsRefused) {
  const CUgraphExec exec = captured_in_other([&](CUstream on) {
    EXPECT_EQ(fill(on, 5), CUDA_SUCCESS);
    const CUlaunchConfig config = one_block(on, 1);
    EXPECT_EQ(cu().launch_kernel_ex(&config, find(library_, "nothing"), nullptr, nullptr),
              CUDA_SUCCESS);
  });
  EXPECT_EQ(run(exec), 5U) << "on a stream of another context it runs";
  values_[0] = 0;
  destroy_other();
  EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 0U) << "nothing of it runs";
}

TEST_F(GoneContextRules, ALaunchOfAFillIsRefused) {
  const CUgraphExec exec =
      captured_in_other([&](CUstream on) { EXPECT_EQ(fill(on, 5), CUDA_SUCCESS); });
  destroy_other();
  EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(GoneContextRules, WhatNeedsNoDeviceRuns) {
  int runs = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  const CUgraphExec exec = captured_in_other(
      [&](CUstream on) { EXPECT_EQ(cu().launch_host_func(on, count, &runs), CUDA_SUCCESS); });
  destroy_other();
  run(exec);
  EXPECT_EQ(runs, 1);
}

TEST_F(GoneContextRules, TheExecutableIsDestroyedAsAnyOther) {
  const CUgraphExec exec =
      captured_in_other([&](CUstream on) { EXPECT_EQ(fill(on, 5), CUDA_SUCCESS); });
  destroy_other();
  destroy(exec);
  EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
