// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "sim/gate.hpp"
#include "sim/graph_fixture.hpp"

// Contexts that programs make: what belongs to them, and what graphs and captures make of two on
// one device.

namespace cugraft_sim {
namespace {

constexpr auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

/// With a second context of the first device, which is not current.
class MadeContextRules : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    ASSERT_EQ(cu().ctx_create(&other_, CU_CTX_SCHED_AUTO, device_), CUDA_SUCCESS);
    ASSERT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
  }

  void TearDown() override {
    destroy_graphs();
    if (other_) {
      EXPECT_EQ(cu().ctx_destroy(other_), CUDA_SUCCESS);
    }
    GraphTest::TearDown();
  }

  void destroy_other() {
    EXPECT_EQ(cu().ctx_destroy(std::exchange(other_, nullptr)), CUDA_SUCCESS);
  }

  template <class Body>
  auto in_other(Body body) {
    EXPECT_EQ(cu().ctx_push_current(other_), CUDA_SUCCESS);
    const auto result = body();
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
    return result;
  }

  CUstream other_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    return in_other([&] { return make_stream(flags); });
  }
  CUevent other_event() {
    return in_other([&] { return make_event(); });
  }
  CUdeviceptr other_memory() {
    return in_other([&] { return make_memory(64); });
  }
  CUfunction other_add() {
    return in_other([&] { return find(library_, "add"); });
  }

  CUresult launch_function(CUfunction which, CUstream on, unsigned value) {
    CUdeviceptr out = address(0);
    void* arguments[] = {&out, &value};
    const CUlaunchConfig config = one_block(on, 1);
    return cu().launch_kernel_ex(&config, which, arguments, nullptr);
  }

  CUgraphExecUpdateResult update(CUgraphExec exec, CUgraph from) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = cu().graph_exec_update(exec, from, &info);
    EXPECT_EQ(result == CUDA_SUCCESS, info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    return info.result;
  }

  template <class Function>
  Function form(const char* name, int version) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status{};
    EXPECT_EQ(cu().get_proc_address(name, &found, version, 0, &status), CUDA_SUCCESS);
    return reinterpret_cast<Function>(found);
  }

  CUcontext other_ = nullptr;
};

TEST_F(MadeContextRules, R1_2C_ANewContextIsCurrent) {
  CUcontext made = nullptr;
  ASSERT_EQ(cu().ctx_create(&made, 0, device_), CUDA_SUCCESS);
  EXPECT_NE(made, context_);
  EXPECT_NE(made, other_);
  EXPECT_EQ(current_context(), made);
  CUdevice device = -1;
  EXPECT_EQ(cu().ctx_get_device(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, device_);
  EXPECT_EQ(cu().ctx_destroy(made), CUDA_SUCCESS);
  EXPECT_EQ(current_context(), context_) << "the destroyed one was taken off the stack";
}

TEST_F(MadeContextRules, R1_2C_ArgumentsAreChecked) {
  CUcontext made = nullptr;
  EXPECT_EQ(cu().ctx_create(nullptr, 0, device_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().ctx_create(&made, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, device_),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().ctx_create(&made, 1U << 20, device_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().ctx_create(&made, 0, 1000), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(current_context(), context_);
}

TEST_F(MadeContextRules, R1_2C_LaterFormsMakeTheSame) {
  struct {
    CUexecAffinityParam* shares;
    int share_count;
    void* graphics;
  } nothing{};
  CUcontext made = nullptr;
  const auto with_shares =
      form<CUresult (*)(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice)>("cuCtxCreate",
                                                                                    11040);
  ASSERT_EQ(with_shares(&made, nullptr, 0, 0, device_), CUDA_SUCCESS);
  EXPECT_EQ(current_context(), made);
  EXPECT_EQ(cu().ctx_destroy(made), CUDA_SUCCESS);
  if (driver().version() < 12050) return;
  const auto with_parameters =
      form<CUresult (*)(CUcontext*, void*, unsigned, CUdevice)>("cuCtxCreate", 12050);
  ASSERT_EQ(with_parameters(&made, &nothing, 0, device_), CUDA_SUCCESS);
  EXPECT_EQ(current_context(), made);
  EXPECT_EQ(cu().ctx_destroy(made), CUDA_SUCCESS);
  EXPECT_EQ(current_context(), context_);
}

TEST_F(MadeContextRules, R1_2C_ADestroyedContextIsGoneForOtherThreads) {
  std::promise<void> taken, destroyed;
  std::thread thread([&] {
    EXPECT_EQ(cu().ctx_set_current(other_), CUDA_SUCCESS);
    taken.set_value();
    destroyed.get_future().wait();
    CUdevice device = 0;
    EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(cu().ctx_get_device(&device), CUDA_SUCCESS) << "a device is told of all the same";
    EXPECT_EQ(cu().ctx_set_current(nullptr), CUDA_SUCCESS);
  });
  taken.get_future().wait();
  destroy_other();
  destroyed.set_value();
  thread.join();
}

TEST_F(MadeContextRules, R1_2C_WhatBelongsToAContextGoesWithIt) {
  CUGRAFT_NEEDS_SIMULATOR();
  const live_handles before = control().live();
  const CUstream stream = other_stream();
  other_event();
  other_memory();
  in_other([&] { return make_host_memory<int>(4); });
  EXPECT_EQ(launch_function(other_add(), stream, 5), CUDA_SUCCESS);
  EXPECT_NE(control().live(), before);
  destroy_other();
  EXPECT_EQ(values_[0], 5U) << "its work was done first";
  live_handles after = before;
  --after.contexts;
  EXPECT_EQ(control().live(), after);
}

TEST_F(MadeContextRules, R1_2C_ACaptureGoesWithTheContextOfItsStream) {
  CUGRAFT_NEEDS_SIMULATOR();
  begin(other_stream(), relaxed);
  EXPECT_EQ(control().live().capturing_streams, 1U);
  destroy_other();
  EXPECT_EQ(control().live().capturing_streams, 0U);
  EXPECT_EQ(control().live().graphs, 0U);
}

TEST_F(MadeContextRules, R1_2C_StreamOrderedMemoryBelongsToNoContext) {
  const CUstream stream = other_stream();
  CUdeviceptr memory = 0;
  ASSERT_EQ(cu().mem_alloc_async(&memory, 64, stream), CUDA_SUCCESS);
  ASSERT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  destroy_other();
  EXPECT_EQ(cu().memset_d8_async(memory, 1, 64, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free_async(memory, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
}

TEST_F(MadeContextRules, R1_2C_OnlyMadeContextsAreDestroyed) {
  CUGRAFT_NEEDS_SIMULATOR();  // undefined elsewhere
  EXPECT_EQ(cu().ctx_destroy(context_), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cu().ctx_destroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  const CUcontext gone = other_;
  destroy_other();
  EXPECT_EQ(cu().ctx_destroy(gone), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(MadeContextRules, R1_3_AFunctionIsOfOneContext) {
  const CUfunction theirs = other_add();
  EXPECT_NE(theirs, add_);
  EXPECT_EQ(launch_function(theirs, first(), 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch_function(add_, other_stream(), 1), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(MadeContextRules, R1_3_AKernelRunsInTheContextOfTheStream) {
  CUkernel kernel = nullptr;
  ASSERT_EQ(cu().library_get_kernel(&kernel, library_, "add"), CUDA_SUCCESS);
  const CUstream stream = other_stream();
  EXPECT_EQ(launch_function(reinterpret_cast<CUfunction>(kernel), stream, 4), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 4U);
}

TEST_F(MadeContextRules, R2_4_AnotherContextMayBeSynchronised) {
  begin(first(), relaxed);
  EXPECT_EQ(in_other([&] { return cu().ctx_synchronize(); }), CUDA_SUCCESS);
  EXPECT_EQ(status(first()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  end(first());
}

TEST_F(MadeContextRules, R2_5_TheLegacyStreamOfAnotherContextMayBeUsed) {
  const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  begin(blocking, relaxed);
  EXPECT_EQ(launch_function(add_, blocking, 1), CUDA_SUCCESS);
  const CUdeviceptr memory = in_other([&] { return make_memory(64); });
  EXPECT_EQ(in_other([&] { return cu().memset_d8_async(memory, 1, 64, nullptr); }), CUDA_SUCCESS);
  EXPECT_EQ(nodes(end(blocking)).size(), 1U);
  EXPECT_EQ(cu().stream_destroy(blocking), CUDA_SUCCESS);
}

TEST_F(MadeContextRules, R2_2_AStreamOfAnotherContextJoinsACapture) {
  const CUstream fork = other_stream();
  const CUevent joined = other_event();
  const CUfunction theirs = other_add();
  begin(first(), relaxed);
  EXPECT_EQ(launch(first(), 1), CUDA_SUCCESS);
  depend(first(), fork, events_[0]);
  EXPECT_EQ(launch_function(theirs, fork, 2), CUDA_SUCCESS);
  depend(fork, first(), joined);
  EXPECT_EQ(launch(first(), 4), CUDA_SUCCESS);
  const CUgraph graph = end(first());
  EXPECT_EQ(nodes(graph).size(), 3U);
  EXPECT_EQ(run(instantiate(graph)), 7U);
}

TEST_F(MadeContextRules, R4_3_TheContextOfAFunctionIsFixed) {
  const CUgraph ours = chain(1);
  const CUgraphExec exec = instantiate(ours);
  const CUstream stream = other_stream();
  begin(stream, relaxed);
  EXPECT_EQ(launch_function(other_add(), stream, 9), CUDA_SUCCESS);
  EXPECT_EQ(update(exec, end(stream)), CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
  const add_parameters changed(other_add(), address(0), 9);
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, nodes(ours)[0], &changed.all),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(exec), 1U);
}

// Rules 4.3 and 5.2 speak of one context; contexts of one device share their memory (H200).
TEST_F(MadeContextRules, R4_3_MemoryOfACopyAndAFillMayBeOfAnotherContextOfTheDevice) {
  const CUdeviceptr from = make_memory(64), to = make_memory(64), theirs = other_memory();
  const auto copy_to = [&](CUdeviceptr where) {
    return capture(
        [&] { EXPECT_EQ(cu().memcpy_dtod_async(where, from, 64, first()), CUDA_SUCCESS); });
  };
  const auto fill_of = [&](CUdeviceptr where) {
    return capture([&] { EXPECT_EQ(cu().memset_d8_async(where, 1, 64, first()), CUDA_SUCCESS); });
  };
  const CUgraph copies = copy_to(to), fills = fill_of(to);
  const CUgraphExec copying = instantiate(copies), filling = instantiate(fills);
  EXPECT_EQ(update(copying, copy_to(theirs)), CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(update(filling, fill_of(theirs)), CU_GRAPH_EXEC_UPDATE_SUCCESS);
  CUDA_MEMCPY3D copy{};
  CUDA_MEMSET_NODE_PARAMS fill{};
  ASSERT_EQ(cu().graph_memcpy_node_get_params(nodes(copies)[0], &copy), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_memset_node_get_params(nodes(fills)[0], &fill), CUDA_SUCCESS);
  copy.dstDevice = fill.dst = theirs;
  EXPECT_EQ(cu().graph_exec_memcpy_node_set_params(copying, nodes(copies)[0], &copy, context_),
            CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_exec_memset_node_set_params(filling, nodes(fills)[0], &fill, context_),
            CUDA_SUCCESS);
  destroy_graphs();
  EXPECT_EQ(cu().mem_free(from), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(to), CUDA_SUCCESS);
}

TEST_F(MadeContextRules, R7_KernelsOfABodyAreOfItsContext) {
  const CUgraph graph = empty_graph();
  CUgraphConditionalHandle handle = 0;
  ASSERT_EQ(cu().graph_conditional_handle_create(&handle, graph, context_, 1,
                                                 CU_GRAPH_COND_ASSIGN_DEFAULT),
            CUDA_SUCCESS);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = handle;
  parameters.conditional.size = 1;
  parameters.conditional.ctx = context_;
  CUgraphNode node = nullptr, inner = nullptr;
  ASSERT_EQ(cu().graph_add_node(&node, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  const add_parameters theirs(other_add(), address(0), 9);
  ASSERT_EQ(cu().graph_add_kernel_node(&inner, parameters.conditional.phGraph_out[0], nullptr, 0,
                                       &theirs.all),
            CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  CUgraphExec made = nullptr;
  EXPECT_EQ(cu().graph_instantiate_with_params(&made, graph, &how), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
  if (made) destroy(made);
}

// Facts, User objects and attributes.
TEST_F(MadeContextRules, Facts_TheCopySetterTakesAnyContext) {
  const CUdeviceptr from = make_memory(64), to = make_memory(64);
  const CUgraph graph =
      capture([&] { EXPECT_EQ(cu().memcpy_dtod_async(to, from, 64, first()), CUDA_SUCCESS); });
  const CUgraphExec exec = instantiate(graph);
  CUDA_MEMCPY3D copy{};
  ASSERT_EQ(cu().graph_memcpy_node_get_params(nodes(graph)[0], &copy), CUDA_SUCCESS);
  for (const CUcontext any : {CUcontext{}, other_})
    EXPECT_EQ(cu().graph_exec_memcpy_node_set_params(exec, nodes(graph)[0], &copy, any),
              CUDA_SUCCESS);
  destroy_graphs();
  EXPECT_EQ(cu().mem_free(from), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(to), CUDA_SUCCESS);
}

// 13.4: the names resolve to forms that look at the context of a kernel (driver-rules 12).
class NewerNodeRules : public MadeContextRules {
 protected:
  void SetUp() override {
    MadeContextRules::SetUp();
    version_ = driver().version();
    if (driver().is_simulator()) driver().set_version(13050);
    if (driver().version() < 13040) GTEST_SKIP() << "the driver is older than 13.4";
    add_newer_ = form<decltype(add_newer_)>("cuGraphAddNode", 13040);
    set_newer_ = form<decltype(set_newer_)>("cuGraphNodeSetParams", 13040);
  }

  void TearDown() override {
    if (driver().is_simulator()) driver().set_version(version_);
    MadeContextRules::TearDown();
  }

  CUgraphNodeParams kernel_in(CUcontext context) {
    CUgraphNodeParams all{};
    all.type = CU_GRAPH_NODE_TYPE_KERNEL;
    all.kernel.func = add_;
    all.kernel.gridDimX = all.kernel.gridDimY = all.kernel.gridDimZ = 1;
    all.kernel.blockDimX = all.kernel.blockDimY = all.kernel.blockDimZ = 1;
    all.kernel.kernelParams = arguments_.all.kernelParams;
    all.kernel.ctx = context;
    return all;
  }

  int version_ = 0;
  add_parameters arguments_{nullptr, 0, 1};
  CUresult (*add_newer_)(CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*,
                         std::size_t, CUgraphNodeParams*) = nullptr;
  CUresult (*set_newer_)(CUgraphNode, CUgraphNodeParams*) = nullptr;
};

TEST_F(NewerNodeRules, R12_AKernelsContextIsThatOfItsFunction) {
  const CUgraph graph = empty_graph();
  CUgraphNode node = nullptr;
  CUgraphNodeParams wrong = kernel_in(other_);
  EXPECT_EQ(add_newer_(&node, graph, nullptr, nullptr, 0, &wrong), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cu().graph_add_node(&node, graph, nullptr, nullptr, 0, &wrong), CUDA_SUCCESS)
      << "the older form ignores it";
  EXPECT_EQ(set_newer_(node, &wrong), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cu().graph_node_set_params(node, &wrong), CUDA_SUCCESS);
  for (const CUcontext fitting : {CUcontext{}, context_}) {
    CUgraphNodeParams right = kernel_in(fitting);
    EXPECT_EQ(add_newer_(&node, graph, nullptr, nullptr, 0, &right), CUDA_SUCCESS);
    EXPECT_EQ(set_newer_(node, &right), CUDA_SUCCESS);
  }
}

// Bytes that were unused before 13.4.
TEST_F(NewerNodeRules, R12_HostAndRecordNodesHaveAContext) {
  CUgraphNodeParams host{}, record{};
  host.type = CU_GRAPH_NODE_TYPE_HOST;
  host.host.fn = [](void*) {};
  record.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  record.eventRecord.event = events_[0];
  std::memcpy(reinterpret_cast<std::byte*>(&host) + 16 + 24, &context_, sizeof context_);
  std::memcpy(reinterpret_cast<std::byte*>(&record) + 16 + 8, &context_, sizeof context_);
  const CUgraph graph = empty_graph();
  CUgraphNode node = nullptr;
  for (CUgraphNodeParams* const each : {&host, &record})
    EXPECT_EQ(add_newer_(&node, graph, nullptr, nullptr, 0, each), CUDA_SUCCESS);
  if (!driver().is_simulator()) return;
  driver().set_version(13030);
  for (CUgraphNodeParams* const each : {&host, &record})
    EXPECT_EQ(cu().graph_add_node(&node, graph, nullptr, nullptr, 0, each),
              CUDA_ERROR_INVALID_VALUE);
}

// cuCtxRecordEvent and cuCtxWaitEvent, since 12.5.
class ContextEventRules : public MadeContextRules {
 protected:
  void SetUp() override {
    MadeContextRules::SetUp();
    if (!cu().ctx_record_event) GTEST_SKIP() << "the driver is older than 12.5";
  }
};

TEST_F(ContextEventRules, R1_2C_AContextIsRecordedAndWaits) {
  const CUstream stream = other_stream();
  const CUfunction theirs = other_add();  // loading waits for the device
  gate gate;
  EXPECT_EQ(cu().launch_host_func(first(), &gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_record_event(context_, events_[0]), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_query(events_[0]), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cu().ctx_wait_event(other_, events_[0]), CUDA_SUCCESS);
  EXPECT_EQ(launch_function(theirs, stream, 3), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_query(stream), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_query(events_[0]), CUDA_SUCCESS);
  EXPECT_EQ(values_[0], 3U);
}

TEST_F(ContextEventRules, R1_2C_TheEventIsOfTheContext) {
  EXPECT_EQ(cu().ctx_record_event(context_, other_event()), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().ctx_wait_event(context_, other_event()), CUDA_SUCCESS) << "waiting is free";
}

TEST_F(ContextEventRules, R2_4_RecordingAContextEndsItsCaptures) {
  begin(first(), relaxed);
  EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_record_event(context_, events_[0]), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(ContextEventRules, R2_4_AWaitOfAContextEndsItsCaptures) {
  begin(first(), relaxed);
  EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_wait_event(context_, events_[1]), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(ContextEventRules, R2_4_AWaitForACapturedEventEndsItsCapture) {
  begin(first(), relaxed);
  EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(events_[0], first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_wait_event(other_, events_[0]), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(failing_end(first()), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

}  // namespace
}  // namespace cugraft_sim
