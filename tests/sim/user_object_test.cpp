// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>

#include "sim/gate.hpp"
#include "sim/graph_fixture.hpp"
#include "support/eventually.hpp"

namespace cugraft_sim {
namespace {

/// What the destructor of a user object sees.
struct witness {
  const driver_functions* cu = nullptr;
  std::atomic<int> gone = 0;
  std::atomic<int> result = -1;
  std::thread::id thread;

  static void destroy(void* of) {
    auto& seen = *static_cast<witness*>(of);
    int count = 0;
    seen.result = seen.cu->device_get_count(&count);
    seen.thread = std::this_thread::get_id();
    ++seen.gone;
  }
};

class UserObjectRules : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    seen_.cu = &cu();
  }

  CUuserObject make_object(unsigned references = 1) {
    CUuserObject made = nullptr;
    EXPECT_EQ(cu().user_object_create(&made, &seen_, witness::destroy, references,
                                      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    return made;
  }

  // A graph that holds the only reference.
  CUgraph owning_graph() {
    const CUgraph graph = chain(1);
    EXPECT_EQ(cu().graph_retain_user_object(graph, make_object(), 1, CU_GRAPH_USER_OBJECT_MOVE),
              CUDA_SUCCESS);
    return graph;
  }

  // How many destructors have run, after a while for those that are due. There is nothing to wait
  // for on a real driver.
  int gone(int expected) {
    cugraft::testing::eventually([&] { return seen_.gone >= expected; });
    if (driver().is_simulator())
      control().settle();
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return seen_.gone;
  }

  witness seen_;
};

TEST_F(UserObjectRules, R6_4_TheDestructorRunsElsewhereAndMayNotCallTheDriver) {
  EXPECT_EQ(cu().user_object_release(make_object(), 1), CUDA_SUCCESS);
  EXPECT_EQ(gone(1), 1);
  EXPECT_EQ(seen_.result, CUDA_ERROR_NOT_PERMITTED);
  // An H200 runs it within the call that gives the last reference back.
  if (driver().is_simulator()) {
    EXPECT_NE(seen_.thread, std::this_thread::get_id());
  }
}

TEST_F(UserObjectRules, R6_4_CreateChecksItsArguments) {
  CUuserObject made = nullptr;
  constexpr unsigned flags = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC;
  const auto create = [&](CUuserObject* out, CUhostFn destructor, unsigned count, unsigned with) {
    return cu().user_object_create(out, &seen_, destructor, count, with);
  };
  EXPECT_EQ(create(nullptr, witness::destroy, 1, flags), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(&made, nullptr, 1, flags), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(&made, witness::destroy, 0, flags), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(&made, witness::destroy, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(UserObjectRules, R6_4_TheLastReferenceCounts) {
  const CUuserObject object = make_object(3);
  EXPECT_EQ(cu().user_object_release(object, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().user_object_release(object, 2), CUDA_SUCCESS);
  EXPECT_EQ(gone(0), 0);
  EXPECT_EQ(cu().user_object_release(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R6_4_AGraphHoldsReferences) {
  const CUuserObject object = make_object();
  const CUgraph graph = chain(1);
  ASSERT_EQ(cu().graph_retain_user_object(graph, object, 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu().user_object_release(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(gone(0), 0);
  destroy(graph);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R6_4_MoveHandsTheCallersReferencesOver) {
  const CUgraph graph = owning_graph();
  EXPECT_EQ(gone(0), 0);
  destroy(graph);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R6_4_AGraphGivesReferencesBack) {
  const CUuserObject object = make_object();
  const CUgraph graph = chain(1);
  ASSERT_EQ(cu().graph_retain_user_object(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
            CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_release_user_object(graph, object, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_release_user_object(graph, object, 1), CUDA_SUCCESS);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R6_4_RetainChecksItsArguments) {
  const CUuserObject object = make_object();
  const CUgraph graph = chain(1);
  EXPECT_EQ(cu().graph_retain_user_object(graph, object, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_retain_user_object(graph, object, 1, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_retain_user_object(nullptr, object, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().user_object_release(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R6_4_ACloneHoldsItsOwn) {
  const CUgraph graph = owning_graph();
  CUgraph clone = nullptr;
  ASSERT_EQ(cu().graph_clone(&clone, graph), CUDA_SUCCESS);
  destroy(graph);
  EXPECT_EQ(gone(0), 0);
  EXPECT_EQ(cu().graph_destroy(clone), CUDA_SUCCESS);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R6_4_AnExecutableHoldsItsOwn) {
  const CUgraph graph = owning_graph();
  const CUgraphExec exec = instantiate(graph);
  destroy(graph);
  EXPECT_EQ(gone(0), 0);
  destroy(exec);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R4_3_AnUpdateReplacesTheExecutablesReferences) {
  const CUgraph graph = owning_graph();
  const CUgraphExec exec = instantiate(graph);
  destroy(graph);
  CUgraphExecUpdateResultInfo info{};
  ASSERT_EQ(cu().graph_exec_update(exec, chain(1), &info), CUDA_SUCCESS);
  EXPECT_EQ(gone(1), 1) << "facts: also by none";
  const CUgraph other = owning_graph();
  ASSERT_EQ(cu().graph_exec_update(exec, other, &info), CUDA_SUCCESS);
  destroy(other);
  EXPECT_EQ(gone(1), 1);
  destroy(exec);
  EXPECT_EQ(gone(2), 2);
}

TEST_F(UserObjectRules, R4_3_ARefusedUpdateLeavesThem) {
  const CUgraph graph = owning_graph();
  const CUgraphExec exec = instantiate(graph);
  destroy(graph);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cu().graph_exec_update(exec, chain(2), &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(gone(0), 0);
  destroy(exec);
  EXPECT_EQ(gone(1), 1);
}

TEST_F(UserObjectRules, R4_3_ALaunchUnderWayKeepsWhatItNeeds) {
  gate held;
  const CUgraph graph = owning_graph();
  const CUgraphExec exec = instantiate(graph);
  destroy(graph);
  ASSERT_EQ(cu().launch_host_func(first(), gate::wait, &held), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  destroy(exec);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(seen_.gone, 0);
  held.open();
  ASSERT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
  EXPECT_EQ(gone(1), 1);
}

}  // namespace
}  // namespace cugraft_sim
