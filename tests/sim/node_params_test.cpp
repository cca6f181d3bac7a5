// SPDX-License-Identifier: Apache-2.0
#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

void do_nothing(void*) {}
void do_nothing_else(void*) {}

/// A graph of one node of each kind: kernel, copy, fill, host function, event record and wait.
class NodeRules : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    device_memory_ = make_memory(256);
    const CUgraph graph = capture([&] {
      EXPECT_EQ(launch(first(), 5), CUDA_SUCCESS);
      EXPECT_EQ(cu().memcpy_async(device_memory_, device_memory_ + 64, 16, first()), CUDA_SUCCESS);
      EXPECT_EQ(cu().memset_d32_async(device_memory_, 7, 4, first()), CUDA_SUCCESS);
      EXPECT_EQ(cu().launch_host_func(first(), do_nothing, this), CUDA_SUCCESS);
      EXPECT_EQ(cu().event_record_with_flags(events_[0], first(), CU_EVENT_RECORD_EXTERNAL),
                CUDA_SUCCESS);
      EXPECT_EQ(cu().stream_wait_event(first(), events_[0], CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
    });
    const std::vector<CUgraphNode> all = nodes(graph);
    ASSERT_EQ(all.size(), 6U);
    kernel_ = all[0];
    copy_ = all[1];
    fill_ = all[2];
    host_ = all[3];
    record_ = all[4];
    wait_ = all[5];
  }

  void TearDown() override {
    EXPECT_EQ(cu().mem_free(device_memory_), CUDA_SUCCESS);
    GraphTest::TearDown();
  }

  CUresult set(const CUDA_KERNEL_NODE_PARAMS& to) {
    return cu().graph_kernel_node_set_params(kernel_, &to);
  }

  CUDA_MEMCPY3D copy() {
    CUDA_MEMCPY3D found{};
    EXPECT_EQ(cu().graph_memcpy_node_get_params(copy_, &found), CUDA_SUCCESS);
    return found;
  }

  CUresult set(const CUDA_MEMCPY3D& to) { return cu().graph_memcpy_node_set_params(copy_, &to); }

  CUDA_MEMSET_NODE_PARAMS filled() {
    CUDA_MEMSET_NODE_PARAMS found{};
    EXPECT_EQ(cu().graph_memset_node_get_params(fill_, &found), CUDA_SUCCESS);
    return found;
  }

  CUresult set(const CUDA_MEMSET_NODE_PARAMS& to) {
    return cu().graph_memset_node_set_params(fill_, &to);
  }

  CUdeviceptr device_memory_ = 0;
  CUgraphNode kernel_ = nullptr, copy_ = nullptr, fill_ = nullptr;
  CUgraphNode host_ = nullptr, record_ = nullptr, wait_ = nullptr;
};

TEST_F(NodeRules, R8_ArgumentsAreCopiedAtTheCall) { EXPECT_EQ(added_by(kernel_), 5U); }

TEST_F(NodeRules, KernelParametersReadBackAsLaunched) {
  const CUDA_KERNEL_NODE_PARAMS found = kernel(kernel_);
  EXPECT_EQ(found.func, add_);
  CUfunction of_kernel = nullptr;
  EXPECT_EQ(cu().kernel_get_function(&of_kernel, found.kern), CUDA_SUCCESS);
  EXPECT_EQ(of_kernel, add_);
  EXPECT_EQ(found.ctx, context_) << "of a kernel that comes from a library";
  EXPECT_EQ(found.extra, nullptr);
  EXPECT_EQ(found.gridDimX, 1U);
  EXPECT_EQ(found.blockDimX, 1U);
  EXPECT_EQ(found.sharedMemBytes, 0U);
  EXPECT_EQ(*static_cast<CUdeviceptr*>(found.kernelParams[0]), address(0));
}

TEST_F(NodeRules, R8_WhatAGetterGaveStaysUntilTheParametersChange) {
  void** const before = kernel(kernel_).kernelParams;
  EXPECT_EQ(kernel(kernel_).kernelParams, before);
  const add_parameters changed(add_, address(1), 9);
  ASSERT_EQ(set(changed.all), CUDA_SUCCESS);
  EXPECT_EQ(added_by(kernel_), 9U);
}

TEST_F(NodeRules, R5_1_KernelSetterTakesEverything) {
  add_parameters changed(add_, address(1), 9);
  changed.all.gridDimX = 3;
  changed.all.blockDimY = 2;
  changed.all.sharedMemBytes = 1024;
  ASSERT_EQ(set(changed.all), CUDA_SUCCESS);
  const CUDA_KERNEL_NODE_PARAMS found = kernel(kernel_);
  EXPECT_EQ(found.gridDimX, 3U);
  EXPECT_EQ(found.blockDimY, 2U);
  EXPECT_EQ(found.sharedMemBytes, 1024U);

  changed.all.func = nothing_;
  changed.all.kernelParams = nullptr;
  ASSERT_EQ(set(changed.all), CUDA_SUCCESS) << "another layout of parameters";
  EXPECT_EQ(kernel(kernel_).func, nothing_);
  EXPECT_EQ(kernel(kernel_).kernelParams, nullptr) << "facts: there is nothing to point to";
}

TEST_F(NodeRules, R9_2_KernCountsWhereThereIsNoFunc) {
  add_parameters changed(nullptr, address(1), 9);
  EXPECT_EQ(set(changed.all), CUDA_ERROR_INVALID_HANDLE);
  changed.all.kern = kernel(kernel_).kern;
  EXPECT_EQ(set(changed.all), CUDA_SUCCESS);
  EXPECT_EQ(kernel(kernel_).func, add_);
}

TEST_F(NodeRules, R5_1_KernelSetterChecksTheLaunch) {
  const auto with = [&](auto change) {
    add_parameters changed(add_, address(1), 9);
    change(changed.all);
    return set(changed.all);
  };
  using parameters = CUDA_KERNEL_NODE_PARAMS;
  EXPECT_EQ(with([](parameters& of) { of.gridDimX = 0; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.blockDimX = 0; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.blockDimX = 2048; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.sharedMemBytes = 1 << 20; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.kernelParams = nullptr; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(added_by(kernel_), 5U) << "a refused call changes nothing";
}

TEST_F(Facts, ArgumentsThatCameAsABufferReadBackAsOne) {
  struct {
    CUdeviceptr out;
    unsigned value;
  } arguments{address(0), 6};
  std::size_t size = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const CUgraph graph = capture([&] {
    CUlaunchConfig config = one_block(first(), 1);
    EXPECT_EQ(cu().launch_kernel_ex(&config, add_, nullptr, extra), CUDA_SUCCESS);
  });
  const CUgraphNode node = nodes(graph).at(0);
  const CUDA_KERNEL_NODE_PARAMS found = kernel(node);
  EXPECT_EQ(found.kernelParams, nullptr);
  ASSERT_NE(found.extra, nullptr);
  EXPECT_EQ(found.extra[0], CU_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(*static_cast<std::size_t*>(found.extra[1]), 12U);
  EXPECT_EQ(found.extra[2], CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_NE(found.extra[3], static_cast<void*>(&arguments));
  EXPECT_EQ(*reinterpret_cast<unsigned*>(static_cast<char*>(found.extra[3]) + 8), 6U);
  EXPECT_EQ(found.extra[4], CU_LAUNCH_PARAM_END);
  EXPECT_EQ(run(instantiate(graph)), 6U);

  add_parameters by_pointers(add_, address(0), 8);
  by_pointers.all.extra = extra;
  EXPECT_EQ(cu().graph_kernel_node_set_params(node, &by_pointers.all), CUDA_ERROR_INVALID_VALUE)
      << "both forms at once";
  by_pointers.all.extra = nullptr;
  ASSERT_EQ(cu().graph_kernel_node_set_params(node, &by_pointers.all), CUDA_SUCCESS);
  EXPECT_EQ(kernel(node).extra, nullptr);
  EXPECT_EQ(added_by(node), 8U);
}

TEST_F(NodeRules, CopyParametersReadBackAndChange) {
  CUDA_MEMCPY3D found = copy();
  EXPECT_EQ(found.WidthInBytes, 16U);
  EXPECT_EQ(found.Height, 1U);
  EXPECT_EQ(found.Depth, 1U);
  EXPECT_EQ(found.dstDevice, device_memory_);
  EXPECT_EQ(found.srcDevice, device_memory_ + 64);
  found.WidthInBytes = 8;
  found.dstDevice = device_memory_ + 128;
  ASSERT_EQ(set(found), CUDA_SUCCESS);
  EXPECT_EQ(copy().WidthInBytes, 8U);
  EXPECT_EQ(copy().dstDevice, device_memory_ + 128);
}

TEST_F(Facts, ACopySetterTakesAnotherMemoryKindAndSeveralRows) {
  const CUdeviceptr memory = make_memory(256);
  const CUgraph graph = capture(
      [&] { EXPECT_EQ(cu().memcpy_async(memory, memory + 64, 16, first()), CUDA_SUCCESS); });
  const CUgraphNode node = nodes(graph).at(0);
  CUDA_MEMCPY3D to{};
  EXPECT_EQ(cu().graph_memcpy_node_get_params(node, &to), CUDA_SUCCESS);
  to.srcMemoryType = CU_MEMORYTYPE_HOST;
  to.srcHost = values_;
  to.srcDevice = 0;
  EXPECT_EQ(cu().graph_memcpy_node_set_params(node, &to), CUDA_SUCCESS);
  to.srcPitch = to.dstPitch = 32;
  to.Height = 2;
  EXPECT_EQ(cu().graph_memcpy_node_set_params(node, &to), CUDA_SUCCESS);
  CUDA_MEMCPY3D found{};
  EXPECT_EQ(cu().graph_memcpy_node_get_params(node, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.srcMemoryType, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(found.srcHost, values_);
  EXPECT_EQ(found.Height, 2U);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
}

TEST_F(NodeRules, CopySetterChecksItsArguments) {
  CUDA_MEMCPY3D to = copy();
  to.WidthInBytes = 0;
  EXPECT_EQ(set(to), CUDA_ERROR_INVALID_VALUE);
  to = copy();
  to.srcMemoryType = static_cast<CUmemorytype>(9);
  EXPECT_EQ(set(to), CUDA_ERROR_INVALID_VALUE);
  to = copy();
  to.srcDevice = 0;
  EXPECT_EQ(set(to), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(NodeRules, FillParametersReadBackAndChange) {
  CUDA_MEMSET_NODE_PARAMS found = filled();
  EXPECT_EQ(found.dst, device_memory_);
  EXPECT_EQ(found.value, 7U);
  EXPECT_EQ(found.elementSize, 4U);
  EXPECT_EQ(found.width, 4U);
  EXPECT_EQ(found.height, 1U);
  found.value = 8;
  found.width = 2;
  found.height = 2;
  found.pitch = 32;
  ASSERT_EQ(set(found), CUDA_SUCCESS);
  EXPECT_EQ(filled().value, 8U);
  EXPECT_EQ(filled().height, 2U);
}

TEST_F(NodeRules, FillSetterChecksItsArguments) {
  const auto with = [&](auto change) {
    CUDA_MEMSET_NODE_PARAMS changed = filled();
    change(changed);
    return set(changed);
  };
  using parameters = CUDA_MEMSET_NODE_PARAMS;
  EXPECT_EQ(with([](parameters& of) { of.width = 0; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.height = 0; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.elementSize = 3; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.dst = 0; }), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with([](parameters& of) { of.dst += 1; }), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(NodeRules, HostParametersReadBackAndChange) {
  CUDA_HOST_NODE_PARAMS found{};
  ASSERT_EQ(cu().graph_host_node_get_params(host_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.fn, do_nothing);
  EXPECT_EQ(found.userData, this);
  found = {do_nothing_else, nullptr};
  ASSERT_EQ(cu().graph_host_node_set_params(host_, &found), CUDA_SUCCESS);
  found = {};
  ASSERT_EQ(cu().graph_host_node_get_params(host_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.fn, do_nothing_else);
  found.fn = nullptr;
  EXPECT_EQ(cu().graph_host_node_set_params(host_, &found), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(NodeRules, EventsReadBackAndChange) {
  CUevent found = nullptr;
  ASSERT_EQ(cu().graph_event_record_node_get_event(record_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, events_[0]);
  ASSERT_EQ(cu().graph_event_record_node_set_event(record_, events_[1]), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_event_record_node_get_event(record_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, events_[1]);
  ASSERT_EQ(cu().graph_event_wait_node_get_event(wait_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, events_[0]);
  ASSERT_EQ(cu().graph_event_wait_node_set_event(wait_, events_[2]), CUDA_SUCCESS);
  EXPECT_EQ(cu().graph_event_record_node_set_event(record_, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(NodeRules, R5_1_AnotherKindOfNodeIsInvalid) {
  CUDA_KERNEL_NODE_PARAMS kernel{};
  CUDA_MEMCPY3D copy{};
  CUDA_MEMSET_NODE_PARAMS fill{};
  CUDA_HOST_NODE_PARAMS host{};
  CUevent event = nullptr;
  EXPECT_EQ(cu().graph_kernel_node_get_params(copy_, &kernel), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_memcpy_node_get_params(fill_, &copy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_memset_node_get_params(host_, &fill), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_host_node_get_params(kernel_, &host), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_event_record_node_get_event(wait_, &event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_event_wait_node_get_event(record_, &event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_event_wait_node_set_event(record_, events_[1]), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(NodeRules, TheGenericGetterTellsAllKinds) {
  if (!cu().graph_node_get_params) GTEST_SKIP() << "the driver is older than 13.2";
  CUgraphNodeParams found{};
  ASSERT_EQ(cu().graph_node_get_params(kernel_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.type, CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_EQ(found.kernel.func, add_);
  EXPECT_EQ(*static_cast<unsigned*>(found.kernel.kernelParams[1]), 5U);
  ASSERT_EQ(cu().graph_node_get_params(copy_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.memcpy.copyParams.WidthInBytes, 16U);
  EXPECT_EQ(found.memcpy.copyCtx, context_);
  ASSERT_EQ(cu().graph_node_get_params(fill_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.memset.value, 7U);
  EXPECT_EQ(found.memset.ctx, context_);
  ASSERT_EQ(cu().graph_node_get_params(host_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.host.userData, this);
  ASSERT_EQ(cu().graph_node_get_params(record_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.eventRecord.event, events_[0]);
  ASSERT_EQ(cu().graph_node_get_params(wait_, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  EXPECT_EQ(found.reserved2, 0);
}

}  // namespace
}  // namespace cugraft_sim
