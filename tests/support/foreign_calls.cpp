// SPDX-License-Identifier: Apache-2.0
#include "support/foreign_calls.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cugraft::testing {
namespace {

void count_destruction(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

}  // namespace

template <class... Arguments>
int foreign_calls::call(const char* name, int version, Arguments... arguments) const {
  using function = int (*)(Arguments...);
  return reinterpret_cast<function>(driver_.entry_point(name, version))(arguments...);
}

CUcontext foreign_calls::make_context(int ordinal) const {
  int device = 0;
  EXPECT_EQ(call("cuDeviceGet", 2000, &device, ordinal), 0);
  CUcontext made = nullptr, popped = nullptr;
  EXPECT_EQ(call("cuCtxCreate", 3020, &made, 0U, device), 0);
  EXPECT_EQ(call("cuCtxPopCurrent", 4000, &popped), 0);
  return made;
}

int foreign_calls::destroy(CUcontext context) const { return call("cuCtxDestroy", 4000, context); }

int foreign_calls::memset_d8(CUdeviceptr target, unsigned char value, std::size_t bytes,
                             CUstream stream) const {
  return call("cuMemsetD8Async", 3020, target, value, bytes, stream);
}

int foreign_calls::memset_2d_d8(CUdeviceptr target, std::size_t pitch, unsigned char value,
                                std::size_t width, std::size_t height, CUstream stream) const {
  return call("cuMemsetD2D8Async", 3020, target, pitch, value, width, height, stream);
}

int foreign_calls::memcpy_h2d(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) const {
  return call("cuMemcpyHtoDAsync", 3020, to, from, bytes, stream);
}

int foreign_calls::memcpy_d2d(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) const {
  return call("cuMemcpyDtoDAsync", 3020, to, from, bytes, stream);
}

int foreign_calls::memcpy_2d(CUdeviceptr to, std::size_t to_pitch, CUdeviceptr from,
                             std::size_t from_pitch, std::size_t width, std::size_t height,
                             CUstream stream) const {
  struct side {
    std::size_t x = 0, y = 0;
    int memory_type = 2;  // device
    const void* host = nullptr;
    CUdeviceptr device = 0;
    void* array = nullptr;
    std::size_t pitch = 0;
  };
  struct {  // CUDA_MEMCPY2D
    side from, to;
    std::size_t width = 0, height = 0;
  } copy;
  copy.from.device = from;
  copy.from.pitch = from_pitch;
  copy.to.device = to;
  copy.to.pitch = to_pitch;
  copy.width = width;
  copy.height = height;
  return call("cuMemcpy2DAsync", 3020, &copy, stream);
}

int foreign_calls::memcpy_3d(CUdeviceptr to, std::size_t to_pitch, CUdeviceptr from,
                             std::size_t from_pitch, std::size_t plane, std::size_t width,
                             std::size_t height, std::size_t depth, CUstream stream) const {
  struct side {
    std::size_t x = 0, y = 0, z = 0, level = 0;
    int memory_type = 2;  // device
    const void* host = nullptr;
    CUdeviceptr device = 0;
    void* array = nullptr;
    void* reserved = nullptr;
    std::size_t pitch = 0, height = 0;
  };
  struct {  // CUDA_MEMCPY3D
    side from, to;
    std::size_t width = 0, height = 0, depth = 0;
  } copy;
  copy.from.device = from;
  copy.from.pitch = from_pitch;
  copy.to.device = to;
  copy.to.pitch = to_pitch;
  copy.from.height = copy.to.height = plane;
  copy.width = width;
  copy.height = height;
  copy.depth = depth;
  return call("cuMemcpy3DAsync", 3020, &copy, stream);
}

int foreign_calls::launch_kernel(CUfunction kernel, CUdeviceptr x, float value, int count,
                                 CUstream stream) const {
  std::array<void*, 3> arguments{&x, &value, &count};
  return call("cuLaunchKernel", 4000, kernel, 1U, 1U, 1U, static_cast<unsigned>(count), 1U, 1U, 0U,
              stream, arguments.data(), static_cast<void**>(nullptr));
}

int foreign_calls::launch_host(void (*function)(void*), void* data, CUstream stream) const {
  return call("cuLaunchHostFunc", 10000, stream, function, data);
}

int foreign_calls::mem_alloc_async(CUdeviceptr& memory, std::size_t bytes, CUstream stream) const {
  return call("cuMemAllocAsync", 11020, &memory, bytes, stream);
}

int foreign_calls::mem_free_async(CUdeviceptr memory, CUstream stream) const {
  return call("cuMemFreeAsync", 11020, memory, stream);
}

int foreign_calls::event_record(CUevent event, CUstream stream) const {
  return call("cuEventRecord", 2000, event, stream);
}

int foreign_calls::stream_wait_event(CUstream stream, CUevent event, unsigned flags) const {
  return call("cuStreamWaitEvent", 3020, stream, event, flags);
}

int foreign_calls::stream_synchronize(CUstream stream) const {
  return call("cuStreamSynchronize", 2000, stream);
}

void foreign_calls::allocate_and_free(CUcontext context) const {
  CUcontext former = nullptr;
  CUdeviceptr memory = 0;
  EXPECT_EQ(call("cuCtxPushCurrent", 4000, context), 0);
  if (call("cuMemAlloc", 3020, &memory, std::size_t{64}) == 0) {
    EXPECT_EQ(call("cuMemFree", 3020, memory), 0);
  }
  EXPECT_EQ(call("cuCtxPopCurrent", 4000, &former), 0);
}

std::size_t foreign_calls::device_memory_in_use(CUcontext context) const {
  if (driver_.entry_point("cuMemGetInfo", 3020) == nullptr) return 0;
  CUcontext former = nullptr;
  std::size_t unused = 0, total = 0;
  EXPECT_EQ(call("cuCtxPushCurrent", 4000, context), 0);
  EXPECT_EQ(call("cuMemGetInfo", 3020, &unused, &total), 0);
  EXPECT_EQ(call("cuCtxPopCurrent", 4000, &former), 0);
  return total - unused;
}

void foreign_calls::end_and_begin_capture(CUstream stream) const {
  CUgraph graph = nullptr;
  ASSERT_EQ(call("cuStreamEndCapture", 10000, stream, &graph), 0);
  ASSERT_EQ(call("cuGraphDestroy", 10000, graph), 0);
  ASSERT_EQ(call("cuStreamBeginCapture", 10010, stream, 1), 0);
}

void foreign_calls::begin_capture(CUstream stream) const {
  ASSERT_EQ(call("cuStreamBeginCapture", 10010, stream, 1), 0);
}

void foreign_calls::launch_captured(CUstream stream) const {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(call("cuStreamEndCapture", 10000, stream, &graph), 0);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", 11040, &exec, graph, 0ULL), 0);
  EXPECT_EQ(call("cuGraphDestroy", 10000, graph), 0);
  EXPECT_EQ(call("cuGraphLaunch", 10000, exec, stream), 0);
  EXPECT_EQ(stream_synchronize(stream), 0);
  EXPECT_EQ(call("cuGraphExecDestroy", 10000, exec), 0);
}

CUgraph foreign_calls::end_capture(CUstream stream) const {
  CUgraph graph = nullptr;
  EXPECT_EQ(call("cuStreamEndCapture", 10000, stream, &graph), 0);
  return graph;
}

int foreign_calls::launch_packed(CUfunction function, unsigned grid, unsigned block,
                                 CUstream stream, std::span<const std::byte> arguments) const {
  std::size_t size = arguments.size();
  // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
  void* extra[] = {reinterpret_cast<void*>(1), const_cast<std::byte*>(arguments.data()),
                   reinterpret_cast<void*>(2), &size, nullptr};
  return call("cuLaunchKernel", 4000, function, grid, 1U, 1U, block, 1U, 1U, 0U, stream,
              static_cast<void**>(nullptr), static_cast<void**>(extra));
}

CUgraphExec foreign_calls::instantiate(CUgraph graph, unsigned long long flags) const {
  CUgraphExec exec = nullptr;
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", 11040, &exec, graph, flags), 0);
  return exec;
}

unsigned long long foreign_calls::flags_of(CUgraphExec exec) const {
  unsigned long long flags = 0;
  EXPECT_EQ(call("cuGraphExecGetFlags", 12000, exec, &flags), 0);
  return flags;
}

int foreign_calls::launch(CUgraphExec exec, CUstream stream) const {
  return call("cuGraphLaunch", 10000, exec, stream);
}

int foreign_calls::destroy(CUgraph graph) const { return call("cuGraphDestroy", 10000, graph); }

int foreign_calls::destroy(CUgraphExec exec) const {
  return call("cuGraphExecDestroy", 10000, exec);
}

int foreign_calls::set_fill(CUgraphNode node, CUdeviceptr target, unsigned char value,
                            std::size_t bytes) const {
  const struct {  // CUDA_MEMSET_NODE_PARAMS
    CUdeviceptr target;
    std::size_t pitch;
    unsigned value, element_size;
    std::size_t width, height;
  } parameters{target, 0, value, 1, bytes, 1};
  return call("cuGraphMemsetNodeSetParams", 10000, node, static_cast<const void*>(&parameters));
}

int foreign_calls::add_empty_node(CUgraph graph) const {
  CUgraphNode made = nullptr;
  return call("cuGraphAddEmptyNode", 10000, &made, graph, static_cast<const CUgraphNode*>(nullptr),
              std::size_t{0});
}

int foreign_calls::set_attribute(CUgraphNode node, int attribute, int value) const {
  alignas(8) std::array<int, 16> all{value};  // CUlaunchAttributeValue
  return call("cuGraphKernelNodeSetAttribute", 11000, node, attribute,
              static_cast<const void*>(all.data()));
}

int foreign_calls::attribute(CUgraphNode node, int attribute) const {
  alignas(8) std::array<int, 16> all{};
  EXPECT_EQ(
      call("cuGraphKernelNodeGetAttribute", 11000, node, attribute, static_cast<void*>(all.data())),
      0);
  return all[0];
}

void foreign_calls::attach_user_object(CUstream stream, std::atomic<int>& destroyed) const {
  int status = 0;
  unsigned long long id = 0;
  CUgraph graph = nullptr;
  ASSERT_EQ(call("cuStreamGetCaptureInfo", 12030, stream, &status, &id, &graph,
                 static_cast<const CUgraphNode**>(nullptr), static_cast<const void**>(nullptr),
                 static_cast<std::size_t*>(nullptr)),
            0);
  attach_user_object(graph, destroyed);
}

void* foreign_calls::attach_user_object(CUgraph graph, std::atomic<int>& destroyed) const {
  void* object = nullptr;
  EXPECT_EQ(call("cuUserObjectCreate", 11030, &object, static_cast<void*>(&destroyed),
                 &count_destruction, 1U, 1U),
            0);
  EXPECT_EQ(call("cuGraphRetainUserObject", 11030, graph, object, 1U, 1U), 0);
  return object;
}

int foreign_calls::detach_user_object(CUgraph graph, void* object) const {
  return call("cuGraphReleaseUserObject", 11030, graph, object, 1U);
}

current_context::current_context(const driver& driver, CUcontext context) : driver_(driver) {
  const auto push =
      reinterpret_cast<int (*)(CUcontext)>(driver_.entry_point("cuCtxPushCurrent", 4000));
  EXPECT_EQ(push(context), 0);
}

current_context::~current_context() {
  CUcontext popped = nullptr;
  const auto pop =
      reinterpret_cast<int (*)(CUcontext*)>(driver_.entry_point("cuCtxPopCurrent", 4000));
  EXPECT_EQ(pop(&popped), 0);
}

}  // namespace cugraft::testing
