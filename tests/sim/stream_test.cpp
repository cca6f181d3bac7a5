// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "sim/driver_under_test.hpp"
#include "sim/gate.hpp"

namespace cugraft_sim {
namespace {

// In which order host functions ran.
class order {
 public:
  struct step {
    order* owner;
    int number;
  };

  // For cuLaunchHostFunc, with a step as its data.
  static void note(void* data) {
    const step& taken = *static_cast<step*>(data);
    const std::scoped_lock lock(taken.owner->mutex_);
    taken.owner->seen_.push_back(taken.number);
  }

  std::vector<int> seen() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> seen_;
};

TEST_F(Rules, R1_2D_WorkOfAStreamRunsInOrder) {
  const CUstream stream = make_stream();
  order seen;
  order::step steps[] = {{&seen, 1}, {&seen, 2}, {&seen, 3}};
  for (order::step& step : steps)
    EXPECT_EQ(cu().launch_host_func(stream, &order::note, &step), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen.seen(), (std::vector{1, 2, 3}));
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2D_QueryTellsWhetherWorkIsLeft) {
  const CUstream stream = make_stream();
  EXPECT_EQ(cu().stream_query(stream), CUDA_SUCCESS);
  gate gate;
  EXPECT_EQ(cu().launch_host_func(stream, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(stream), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2D_DestroyLetsWorkFinish) {
  const CUstream stream = make_stream();
  gate gate;
  order seen;
  order::step step{&seen, 1};
  EXPECT_EQ(cu().launch_host_func(stream, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(stream, &order::note, &step), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
  EXPECT_TRUE(seen.seen().empty());
  gate.open();
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(seen.seen(), std::vector{1});
}

TEST_F(Rules, R1_2D_LegacyStreamWaitsForBlockingStreams) {
  const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  gate gate;
  order seen;
  order::step first{&seen, 1};
  order::step second{&seen, 2};
  order::step third{&seen, 3};
  EXPECT_EQ(cu().launch_host_func(blocking, &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(blocking, &order::note, &first), CUDA_SUCCESS);
  EXPECT_EQ(cu().launch_host_func(nullptr, &order::note, &second), CUDA_SUCCESS);
  const CUstream other = make_stream(CU_STREAM_DEFAULT);
  EXPECT_EQ(cu().launch_host_func(other, &order::note, &third), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(other), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(seen.seen(), (std::vector{1, 2, 3}));
  EXPECT_EQ(cu().stream_destroy(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(other), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2D_NonBlockingStreamGoesItsOwnWay) {
  const CUstream free = make_stream(CU_STREAM_NON_BLOCKING);
  auto* const memory = make_host_memory<unsigned>(1);
  *memory = 0;
  gate gate;
  EXPECT_EQ(cu().launch_host_func(CU_STREAM_LEGACY, &gate::wait, &gate), CUDA_SUCCESS);
  // No host function: a real driver runs those of all streams on one thread.
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  EXPECT_EQ(cu().memset_d32_async(address, 7, 1, free), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(free), CUDA_SUCCESS);
  EXPECT_EQ(*memory, 7U);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(CU_STREAM_LEGACY), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_host(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(free), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2D_PerThreadStreamTakesWork) {
  order seen;
  order::step step{&seen, 1};
  EXPECT_EQ(cu().launch_host_func(CU_STREAM_PER_THREAD, &order::note, &step), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(seen.seen(), std::vector{1});
}

TEST_F(Rules, R1_2D_PriorityIsClamped) {
  int least = 0;
  int greatest = 0;
  int priority = 100;
  ASSERT_EQ(cu().ctx_get_stream_priority_range(&least, &greatest), CUDA_SUCCESS);
  const CUstream high = make_stream(CU_STREAM_NON_BLOCKING, greatest - 100);
  const CUstream low = make_stream(CU_STREAM_NON_BLOCKING, least + 100);
  EXPECT_EQ(cu().stream_get_priority(high, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(cu().stream_get_priority(low, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, least);
  EXPECT_EQ(cu().stream_destroy(high), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(low), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2D_FlagsAndContextAreToldBack) {
  const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  const CUstream free = make_stream(CU_STREAM_NON_BLOCKING);
  unsigned flags = 99;
  CUcontext owner = nullptr;
  EXPECT_EQ(cu().stream_get_flags(blocking, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_DEFAULT});
  EXPECT_EQ(cu().stream_get_flags(free, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(cu().stream_get_ctx(free, &owner), CUDA_SUCCESS);
  EXPECT_EQ(owner, context_);
  EXPECT_EQ(cu().stream_destroy(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(free), CUDA_SUCCESS);
}

TEST_F(Rules, R1_2D_UnknownFlagIsRefused) {
  CUstream stream = nullptr;
  EXPECT_EQ(cu().stream_create_with_priority(&stream, 64, 0), CUDA_ERROR_INVALID_VALUE);
}

// A real driver may crash on these.
TEST_F(Rules, R2_5_UseOfAStreamThatIsNoneIsAnError) {
  CUGRAFT_NEEDS_SIMULATOR();
  const CUstream gone = make_stream();
  EXPECT_EQ(cu().stream_destroy(gone), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(gone), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cu().stream_destroy(gone), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const auto never = reinterpret_cast<CUstream>(std::uintptr_t{0x7fffffff});
  EXPECT_EQ(cu().stream_query(never), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Rules, R1_2D_BuiltInStreamsCannotBeDestroyed) {
  for (const CUstream each : {CUstream{}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD})
    EXPECT_EQ(cu().stream_destroy(each), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Rules, R8_HostFunctionMustNotCallTheDriver) {
  const CUstream stream = make_stream();
  struct attempt {
    const driver_functions& cu;
    CUresult result = CUDA_SUCCESS;
  } tried{cu()};
  const auto call = [](void* data) {
    attempt& made = *static_cast<attempt*>(data);
    CUdevice device = 0;
    made.result = made.cu.ctx_get_device(&device);
  };
  EXPECT_EQ(cu().launch_host_func(stream, call, &tried), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(tried.result, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Rules, R8_HostFunctionMayNotBeNull) {
  const CUstream stream = make_stream();
  EXPECT_EQ(cu().launch_host_func(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
