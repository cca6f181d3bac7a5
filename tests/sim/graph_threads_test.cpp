// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <numeric>
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
    EXPECT_EQ(
        cu().user_object_create(&object, &gone, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
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

  // A re-capture to `value`, in turns with captures that are dropped.
  void recapture_round(CUstream on, CUgraph graph, CUgraphExec exec, unsigned value,
                       std::size_t slot) {
    std::atomic<int> asked = 0;
    EXPECT_EQ(cu().stream_begin_recapture_to_graph(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, graph,
                                                   count_call, &asked),
              CUDA_SUCCESS);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(launch(on, value, slot), CUDA_SUCCESS);
    CUgraph made = nullptr;
    EXPECT_EQ(cu().stream_end_capture(on, &made), CUDA_SUCCESS);
    EXPECT_EQ(made, graph);
    EXPECT_EQ(asked, 4);
    CUgraphExecUpdateResultInfo info{};
    EXPECT_EQ(cu().graph_exec_update(exec, graph, &info), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_launch(exec, on), CUDA_SUCCESS);
    const CUgraph dropped = capture_on(on, value, slot);
    EXPECT_EQ(cu().graph_destroy_node(nodes(dropped).at(1)), CUDA_SUCCESS);
    CUgraph clone = nullptr;
    EXPECT_EQ(cu().graph_clone(&clone, dropped), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_destroy(dropped), CUDA_SUCCESS);
    EXPECT_EQ(nodes(clone).size(), 3U);
    EXPECT_EQ(cu().graph_destroy(clone), CUDA_SUCCESS);
  }

  // Each of several threads runs `body` with a stream of its own and its number.
  template <class Body>
  void on_threads(std::size_t count, const Body& body) {
    std::vector<std::thread> workers;
    for (std::size_t number = 0; number < count; ++number)
      workers.emplace_back([&, number] {
        EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
        const CUstream mine = make_stream();
        body(mine, number);
        EXPECT_EQ(cu().stream_synchronize(mine), CUDA_SUCCESS);
        EXPECT_EQ(cu().stream_destroy(mine), CUDA_SUCCESS);
        EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
      });
    for (std::thread& each : workers) each.join();
  }

  static void count_up(void* of) { ++*static_cast<std::atomic<int>*>(of); }

  static CUresult count_call(void* of, CUgraphNode, const CUgraphNodeParams*,
                             const CUgraphNodeParams*, ::cugraft::newer::graph_recapture_status) {
    count_up(of);
    return CUDA_SUCCESS;
  }
};

TEST_F(ThreadRules, R8_GraphsOfDifferentThreadsAreIndependent) {
  constexpr int threads = 4;
  constexpr int rounds = 20;
  std::atomic<int> gone = 0;
  on_threads(threads, [&](CUstream mine, std::size_t slot) {
    for (int i = 0; i < rounds; ++i) one_round(mine, slot, gone);
  });
  for (std::size_t slot = 0; slot < threads; ++slot)
    EXPECT_EQ(values_[slot], rounds * (4U * 1 + 10 + 3 * 2));
  cugraft::testing::eventually([&] { return gone >= threads * rounds; });
  EXPECT_EQ(gone, threads * rounds);
}

TEST_F(ThreadRules, RecapturesOfDifferentThreadsAreIndependent) {
  CUGRAFT_NEEDS_SIMULATOR();
  constexpr unsigned rounds = 20;
  on_threads(4, [&](CUstream mine, std::size_t slot) {
    const CUgraph graph = capture_on(mine, 1, slot);
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cu().graph_instantiate_with_flags(&exec, graph, 0), CUDA_SUCCESS);
    for (unsigned i = 0; i < rounds; ++i) recapture_round(mine, graph, exec, i + 2, slot);
    EXPECT_EQ(cu().graph_exec_destroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
  });
  for (std::size_t slot = 0; slot < 4; ++slot)
    EXPECT_EQ(values_[slot], 4 * (rounds * (rounds + 1) / 2 + rounds));
}

// A program has to take turns; the simulator's own state must not depend on it.
TEST_F(ThreadRules, GraphsAndExecutablesThatThreadsShareStayWhole) {
  CUGRAFT_NEEDS_SIMULATOR();
  constexpr int rounds = 20;
  constexpr std::size_t threads = 4;
  std::array<std::atomic<int>, threads> calls{};
  const CUgraph shared = capture([&] {
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(cu().launch_host_func(first(), count_up, calls.data()), CUDA_SUCCESS);
  });
  const CUgraphExec exec = instantiate(shared);
  on_threads(threads, [&](CUstream mine, std::size_t number) {
    for (int i = 0; i < rounds; ++i) {
      const CUgraphNode node = nodes(shared).at(static_cast<std::size_t>(i) % 8);
      const CUDA_HOST_NODE_PARAMS parameters{count_up, &calls[number]};
      EXPECT_EQ(cu().graph_host_node_set_params(node, &parameters), CUDA_SUCCESS);
      EXPECT_EQ(cu().graph_exec_host_node_set_params(exec, node, &parameters), CUDA_SUCCESS);
      EXPECT_EQ(cu().graph_launch(exec, mine), CUDA_SUCCESS);
      CUgraph clone = nullptr;
      EXPECT_EQ(cu().graph_clone(&clone, shared), CUDA_SUCCESS);
      CUgraphExec passing = nullptr;
      EXPECT_EQ(cu().graph_instantiate_with_flags(&passing, clone, 0), CUDA_SUCCESS);
      EXPECT_EQ(cu().graph_launch(passing, mine), CUDA_SUCCESS);
      EXPECT_EQ(cu().graph_exec_destroy(passing), CUDA_SUCCESS);
      EXPECT_EQ(cu().graph_destroy(clone), CUDA_SUCCESS);
    }
  });
  EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), 8 * 2 * rounds * int{threads});
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
