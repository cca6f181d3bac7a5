// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include "sim/graph_fixture.hpp"

namespace cugraft_sim {

inline constexpr auto graph_recapture_failure = ::cugraft::newer::error_graph_recapture_failure;
inline constexpr auto eligible = ::cugraft::newer::graph_recapture_eligible_for_update;
inline constexpr auto ineligible = ::cugraft::newer::graph_recapture_ineligible_for_update;
inline constexpr auto error = ::cugraft::newer::graph_recapture_error;

/// What a callback was told. The two values are of kernels of `GraphTest::launch` alone, else 0.
struct recapture_call {
  CUgraphNode node = nullptr;
  unsigned original = 0;
  unsigned recaptured = 0;
  ::cugraft::newer::graph_recapture_status status{};

  friend bool operator==(const recapture_call&, const recapture_call&) = default;
  friend std::ostream& operator<<(std::ostream& out, const recapture_call& of) {
    return out << of.original << " -> " << of.recaptured << ", status " << of.status;
  }
};

/// A test of re-capture, with a callback that notes its calls. No driver of today but the simulator
/// has it here.
class RecaptureTest : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    if (!cu().stream_begin_recapture_to_graph) GTEST_SKIP() << "the driver is older than 13.3";
    if (!driver().is_simulator()) GTEST_SKIP() << "what it should do is the simulator's choice";
  }

  void TearDown() override {
    if (driver().is_simulator())
      for (int i = 0; i < static_cast<int>(choice::count_); ++i)
        control().set(static_cast<choice>(i), 0);
    GraphTest::TearDown();
  }

  CUresult begin_recapture(CUstream on, CUgraph graph,
                           CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    return cu().stream_begin_recapture_to_graph(on, mode, graph, note, this);
  }

  CUgraph end_recapture(CUstream on) {
    CUgraph made = nullptr;
    EXPECT_EQ(cu().stream_end_capture(on, &made), CUDA_SUCCESS);
    return made;
  }

  template <class Body>
  void recapture(CUgraph graph, Body body) {
    ASSERT_EQ(begin_recapture(first(), graph), CUDA_SUCCESS);
    body();
    EXPECT_EQ(end_recapture(first()), graph);
  }

  void expect_lost(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_EQ(cu().graph_get_nodes(graph, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
    CUgraphExec made = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    EXPECT_EQ(cu().graph_instantiate_with_params(&made, graph, &parameters),
              CUDA_ERROR_INVALID_VALUE);
  }

  std::vector<recapture_call> calls_;
  CUresult answer_ = CUDA_SUCCESS;
  std::function<void()> inside_;

 private:
  static unsigned value_of(const CUgraphNodeParams& of) {
    if (of.type != CU_GRAPH_NODE_TYPE_KERNEL || !of.kernel.kernelParams) return 0;
    return *static_cast<unsigned*>(of.kernel.kernelParams[1]);
  }

  static CUresult note(void* data, CUgraphNode node, const CUgraphNodeParams* original,
                       const CUgraphNodeParams* recaptured,
                       ::cugraft::newer::graph_recapture_status status) {
    auto& test = *static_cast<RecaptureTest*>(data);
    test.calls_.push_back({node, value_of(*original), value_of(*recaptured), status});
    if (test.inside_) test.inside_();
    return test.answer_;
  }
};

}  // namespace cugraft_sim
