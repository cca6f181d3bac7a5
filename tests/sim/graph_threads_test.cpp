// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "sim/graph_fixture.hpp"
#include "support/eventually.hpp"

namespace cugraft_sim {
namespace {

class ThreadRules : public GraphTest {
 protected:
  CUgraph capture_on(CUstream on, unsigned value, std::size_t slot) {
    CUgraph made = nullptr;
    EXPECT_EQ(cu().stream_begin_capture(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(launch(on, value, slot), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_end_capture(on, &made), CUDA_SUCCESS);
    return made;
  }

  // Capture, instantiate, update and launch; `gone` counts destructors of user objects.
  void one_round(CUstream on, std::size_t slot, std::atomic<int>& gone) {
    const CUgraph graph = capture_on(on, 1, slot);
    CUuserObject object = nullptr;
    EXPECT_EQ(cu().user_object_create(&object, &gone, count_destruction, 1,
                                      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_retain_user_object(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
              CUDA_SUCCESS);
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    EXPECT_EQ(cu().graph_instantiate_with_params(&exec, graph, &parameters), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_launch(exec, on), CUDA_SUCCESS);
    const CUgraph update = capture_on(on, 2, slot);
    CUgraphExecUpdateResultInfo info{};
    EXPECT_EQ(cu().graph_exec_update(exec, update, &info), CUDA_SUCCESS);
    const add_parameters patched(add_, address(slot), 10);
    EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, nodes(graph).at(0), &patched.all),
              CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_launch(exec, on), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_exec_destroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_destroy(update), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
  }

  static void count_destruction(void* of) { ++*static_cast<std::atomic<int>*>(of); }
};

TEST_F(ThreadRules, GraphsOfDifferentThreadsAreIndependent) {
  constexpr int threads = 4;
  constexpr int rounds = 20;
  std::atomic<int> gone = 0;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, slot = static_cast<std::size_t>(t)] {
      EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
      const CUstream mine = make_stream();
      for (int i = 0; i < rounds; ++i) one_round(mine, slot, gone);
      EXPECT_EQ(cu().stream_synchronize(mine), CUDA_SUCCESS);
      EXPECT_EQ(cu().stream_destroy(mine), CUDA_SUCCESS);
      EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
    });
  for (std::thread& each : workers) each.join();
  for (std::size_t slot = 0; slot < threads; ++slot)
    EXPECT_EQ(values_[slot], rounds * (4U * 1 + 10 + 3 * 2));
  cugraft::testing::eventually([&] { return gone >= threads * rounds; });
  EXPECT_EQ(gone, threads * rounds);
}

// The unsafe call of another thread hits a capture between two of its launches. The driver of an
// H200 was seen to crash there (signal 11).
TEST_F(ThreadRules, ACaptureThatAnotherThreadEndsFailsCleanly) {
  CUGRAFT_NEEDS_SIMULATOR();
  std::atomic<bool> stop = false;
  std::thread other([&] {
    EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
    while (!stop) {
      cu().stream_query(second());
      std::this_thread::yield();
    }
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
  });
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(cu().stream_begin_capture(first(), CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    for (int k = 0; k < 8; ++k) launch(first());
    CUgraph made = nullptr;
    const CUresult result = cu().stream_end_capture(first(), &made);
    EXPECT_EQ(result, made ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_NONE);
    if (made) {
      EXPECT_EQ(cu().graph_destroy(made), CUDA_SUCCESS);
    }
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace cugraft_sim
