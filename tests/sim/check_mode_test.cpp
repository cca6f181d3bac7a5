// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "sim/driver_under_test.hpp"
#include "sim/kernels.hpp"

// What check mode stops the process for. Each statement runs in a process of its own.

namespace cugraft_sim {
namespace {

class CheckMode : public ::testing::Test {
 protected:
  void SetUp() override {
    CUGRAFT_NEEDS_SIMULATOR();
    cu_.emplace(driver_under_test::fresh_simulator());
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    cu().control().set_check_mode(true);
    EXPECT_EQ(cu()->init(0), CUDA_SUCCESS);
    EXPECT_EQ(cu()->device_primary_ctx_retain(&context_, 0), CUDA_SUCCESS);
    EXPECT_EQ(cu()->ctx_push_current(context_), CUDA_SUCCESS);
    EXPECT_EQ(cu()->stream_create_with_priority(&stream_, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    EXPECT_EQ(cu()->event_create(&event_, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    EXPECT_EQ(cu()->graph_create(&graph_, 0), CUDA_SUCCESS);
  }

  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    EXPECT_EQ(cu()->stream_begin_capture(stream_, mode), CUDA_SUCCESS);
  }

  CUgraphNode add_node() {
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu()->graph_add_empty_node(&made, graph_, nullptr, 0), CUDA_SUCCESS);
    return made;
  }

  CUgraphExec instantiate() {
    CUgraphExec made = nullptr;
    EXPECT_EQ(cu()->graph_instantiate_with_flags(&made, graph_, 0), CUDA_SUCCESS);
    return made;
  }

  CUlibrary load() {
    CUlibrary made = nullptr;
    EXPECT_EQ(cu()->library_load_data(&made, rules_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_SUCCESS);
    return made;
  }

  static CUlaunchConfig one_thread(CUstream on) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    return config;
  }

  CUuserObject make_object(CUhostFn destroy, void* data) {
    CUuserObject made = nullptr;
    EXPECT_EQ(cu()->user_object_create(&made, data, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    return made;
  }

  driver_under_test& cu() { return *cu_; }

  std::optional<driver_under_test> cu_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;
  CUgraph graph_ = nullptr;
};

TEST_F(CheckMode, IsOffUnlessAskedFor) {
  const auto plain = driver_under_test::fresh_simulator();
  EXPECT_EQ(plain->init(0), CUDA_SUCCESS);
  EXPECT_EQ(cu()->stream_destroy(stream_), CUDA_SUCCESS);
  cu().control().set_check_mode(false);
  EXPECT_EQ(cu()->stream_query(stream_), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(CheckMode, IsAskedForByTheEnvironment) {
  setenv("CUGRAFT_SIM_CHECK", "1", 1);
  const auto asked = driver_under_test::fresh_simulator();
  EXPECT_EQ(asked->init(0), CUDA_SUCCESS);
  CUgraph made = nullptr;
  CUcontext context = nullptr;
  EXPECT_EQ(asked->device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(asked->ctx_push_current(context), CUDA_SUCCESS);
  EXPECT_EQ(asked->graph_create(&made, 0), CUDA_SUCCESS);
  EXPECT_EQ(asked->graph_destroy(made), CUDA_SUCCESS);
  EXPECT_DEATH(asked->graph_destroy(made), "");

  setenv("CUGRAFT_SIM_CHECK", "yes", 1);
  const auto unclear = driver_under_test::fresh_simulator();
  EXPECT_EQ(unclear->init(0), CUDA_ERROR_SYSTEM_NOT_READY);
  unsetenv("CUGRAFT_SIM_CHECK");
}

TEST_F(CheckMode, DestroyedStream) {
  EXPECT_DEATH(
      {
        cu()->stream_destroy(stream_);
        cu()->event_record(event_, stream_);
      },
      "cugraft_sim: check mode: cuEventRecord got stream 0x10, which is gone: a handle is not used "
      "after its destruction");
}

TEST_F(CheckMode, DestroyedStreamOfALaunch) {
  CUkernel kernel = nullptr;
  ASSERT_EQ(cu()->library_get_kernel(&kernel, load(), "nothing"), CUDA_SUCCESS);
  const CUlaunchConfig config = one_thread(stream_);
  EXPECT_DEATH(
      {
        cu()->stream_destroy(stream_);
        cu()->launch_kernel_ex(&config, reinterpret_cast<CUfunction>(kernel), nullptr, nullptr);
      },
      "cuLaunchKernelEx got stream 0x10, which is gone");
}

TEST_F(CheckMode, DestroyedEvent) {
  EXPECT_DEATH(
      {
        cu()->event_destroy(event_);
        cu()->stream_wait_event(stream_, event_, 0);
      },
      "cuStreamWaitEvent got event 0x1, which is gone");
}

TEST_F(CheckMode, DestroyedGraphAndItsNodes) {
  const CUgraphNode node = add_node();
  CUgraph clone = nullptr;
  CUgraphNodeType type{};
  EXPECT_DEATH(
      {
        cu()->graph_destroy(graph_);
        cu()->graph_clone(&clone, graph_);
      },
      "cuGraphClone got graph 0x1, which is gone");
  EXPECT_DEATH(
      {
        cu()->graph_destroy(graph_);
        cu()->graph_node_get_type(node, &type);
      },
      "cuGraphNodeGetType got node 0x1, which is gone");
}

TEST_F(CheckMode, DestroyedNodeAmongDependencies) {
  const CUgraphNode node = add_node();
  CUgraphNode made = nullptr;
  EXPECT_DEATH(
      {
        cu()->graph_destroy_node(node);
        cu()->graph_add_empty_node(&made, graph_, &node, 1);
      },
      "cuGraphAddEmptyNode got node 0x1, which is gone");
}

TEST_F(CheckMode, DestroyedExecutable) {
  const CUgraphExec exec = instantiate();
  EXPECT_DEATH(
      {
        cu()->graph_exec_destroy(exec);
        cu()->graph_launch(exec, stream_);
      },
      "cuGraphLaunch got executable graph 0x1, which is gone");
}

TEST_F(CheckMode, UnloadedLibraryAndItsKernels) {
  const CUlibrary library = load();
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cu()->library_get_kernel(&kernel, library, "nothing"), CUDA_SUCCESS);
  ASSERT_EQ(cu()->kernel_get_function(&function, kernel), CUDA_SUCCESS);
  const CUlaunchConfig config = one_thread(stream_);
  // A kernel that stands for its function is no misuse.
  EXPECT_EQ(cu()->launch_kernel_ex(&config, reinterpret_cast<CUfunction>(kernel), nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_DEATH(
      {
        cu()->library_unload(library);
        cu()->library_get_kernel(&kernel, library, "nothing");
      },
      "cuLibraryGetKernel got library 0x1, which is gone");
  EXPECT_DEATH(
      {
        cu()->library_unload(library);
        cu()->launch_kernel_ex(&config, function, nullptr, nullptr);
      },
      "cuLaunchKernelEx got function 0x[0-9a-f]+, which is gone");
}

TEST_F(CheckMode, DestroyedUserObject) {
  const CUuserObject object = make_object([](void*) {}, nullptr);
  EXPECT_DEATH(
      {
        cu()->user_object_release(object, 1);
        cu()->graph_retain_user_object(graph_, object, 1, 0);
      },
      "cuGraphRetainUserObject got user object 0x1, which is gone");
}

TEST_F(CheckMode, SecondDestruction) {
  const CUgraphNode node = add_node();
  const CUgraphExec exec = instantiate();
  const CUlibrary library = load();
  const CUuserObject object = make_object([](void*) {}, nullptr);
  const auto twice = [](const std::function<void()>& destroy) {
    destroy();
    destroy();
  };
  const std::string once = ", which is gone already: a handle is destroyed once";
  EXPECT_DEATH(twice([&] { cu()->stream_destroy(stream_); }),
               "cuStreamDestroy got stream 0x10" + once);
  EXPECT_DEATH(twice([&] { cu()->event_destroy(event_); }), "cuEventDestroy got event 0x1" + once);
  EXPECT_DEATH(twice([&] { cu()->graph_destroy(graph_); }), "cuGraphDestroy got graph 0x1" + once);
  EXPECT_DEATH(twice([&] { cu()->graph_destroy_node(node); }),
               "cuGraphDestroyNode got node 0x1" + once);
  EXPECT_DEATH(twice([&] { cu()->graph_exec_destroy(exec); }),
               "cuGraphExecDestroy got executable graph 0x1" + once);
  EXPECT_DEATH(twice([&] { cu()->library_unload(library); }),
               "cuLibraryUnload got library 0x1" + once);
  EXPECT_DEATH(twice([&] { cu()->user_object_release(object, 1); }),
               "cuUserObjectRelease got user object 0x1" + once);
}

TEST_F(CheckMode, CaptureOpenWhenItsStreamIsDestroyed) {
  EXPECT_DEATH(
      {
        begin();
        cu()->stream_destroy(stream_);
      },
      "cuStreamDestroy got the stream of capture 1, begun on stream 0x10, still open: a capture is "
      "ended before that");
}

TEST_F(CheckMode, CaptureOpenWhenItsThreadEnds) {
  EXPECT_DEATH(
      std::thread([&] { begin(); }).join(),
      "the thread of capture 1, begun on stream 0x10, ends: a capture is ended before that");
  // Another thread may end a relaxed one.
  std::thread([&] { begin(CU_STREAM_CAPTURE_MODE_RELAXED); }).join();
  CUgraph made = nullptr;
  EXPECT_EQ(cu()->stream_end_capture(stream_, &made), CUDA_SUCCESS);
  std::thread([&] {
    begin();
    EXPECT_EQ(cu()->stream_end_capture(stream_, &made), CUDA_SUCCESS);
  }).join();
}

TEST_F(CheckMode, CaptureOpenWhenTheProcessEnds) {
  EXPECT_DEATH(
      {
        begin(CU_STREAM_CAPTURE_MODE_RELAXED);
        std::exit(0);
      },
      "the process ends with capture 1, begun on stream 0x10, still open: a capture is ended "
      "before that");
}

// The functions that callbacks call find the driver here.
struct query {
  const driver_under_test* driver;
  CUstream of;
  static void run(void* data) {
    const auto& self = *static_cast<query*>(data);
    (*self.driver)->stream_query(self.of);
  }
};

constexpr const char* from_callback =
    "cuStreamQuery was called by a host function, a kernel or a destructor of a user object: these "
    "may not call the driver";

TEST_F(CheckMode, HostFunctionThatCallsTheDriver) {
  query call{&cu(), stream_};
  EXPECT_DEATH(
      {
        cu()->launch_host_func(stream_, query::run, &call);
        cu()->stream_synchronize(stream_);
      },
      from_callback);
}

TEST_F(CheckMode, DestructorThatCallsTheDriver) {
  query call{&cu(), stream_};
  EXPECT_DEATH(
      {
        cu()->user_object_release(make_object(query::run, &call), 1);
        cu().control().settle();
      },
      from_callback);
}

TEST_F(CheckMode, KernelThatCallsTheDriver) {
  query call{&cu(), stream_};
  cu().control().register_kernel("nothing", [&](const kernel_call&) { query::run(&call); });
  CUkernel kernel = nullptr;
  ASSERT_EQ(cu()->library_get_kernel(&kernel, load(), "nothing"), CUDA_SUCCESS);
  const CUlaunchConfig config = one_thread(stream_);
  EXPECT_DEATH(
      {
        cu()->launch_kernel_ex(&config, reinterpret_cast<CUfunction>(kernel), nullptr, nullptr);
        cu()->stream_synchronize(stream_);
      },
      from_callback);
}

}  // namespace
}  // namespace cugraft_sim
