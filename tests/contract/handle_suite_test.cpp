// SPDX-License-Identifier: Apache-2.0
#include "contract/handle_suite.hpp"

#include "cugraft/graph_exec.hpp"
#include "support/kernels.hpp"

namespace cugraft::testing {
namespace {

using live_handles = cugraft_sim::live_handles;

struct context_traits {
  using handle = context;
  static constexpr const char* releases = "cuDevicePrimaryCtxRelease";
  static constexpr bool keeps_context = true;
  static context make(const context& home) { return home; }
  static bool has(const context& value) { return value.get() != nullptr; }
  static std::size_t live(const live_handles& live) { return live.primary_contexts; }
};

struct library_traits {
  using handle = library;
  static constexpr const char* releases = "cuLibraryUnload";
  static constexpr bool keeps_context = true;
  static library make(const context& home) { return load_kernels(home); }
  static bool has(const library& value) { return value.get() != nullptr; }
  static std::size_t live(const live_handles& live) { return live.libraries; }
};

// A kernel owns its library.
struct kernel_traits {
  using handle = kernel;
  static constexpr const char* releases = "cuLibraryUnload";
  static constexpr bool keeps_context = true;
  static kernel make(const context& home) { return load_kernels(home).get_kernel("scale"); }
  static bool has(const kernel& value) { return value.get() != nullptr; }
  static std::size_t live(const live_handles& live) { return live.libraries; }
};

struct event_traits {
  using handle = event;
  static constexpr const char* releases = "cuEventDestroy";
  static constexpr bool keeps_context = true;
  static event make(const context& home) { return event(home); }
  static bool has(const event& value) { return static_cast<bool>(value); }
  static std::size_t live(const live_handles& live) { return live.events; }
  static void dispose(const context& home, CUevent native) {
    event::from_native_handle(home.get_driver(), native).close();
  }
};

struct stream_traits {
  using handle = stream;
  static constexpr const char* releases = "cuStreamDestroy";
  static constexpr bool keeps_context = true;
  static stream make(const context& home) { return stream(home); }
  static bool has(const stream& value) { return static_cast<bool>(value); }
  static std::size_t live(const live_handles& live) { return live.streams; }
  static void dispose(const context& home, CUstream native) {
    stream::from_native_handle(home.get_driver(), native).close();
  }
};

/// Makes a releasing call that cugraft has no function for.
template <class Argument>
void call_native(const context& home, const char* function, Argument argument) {
  const auto native =
      reinterpret_cast<int (*)(Argument)>(home.get_driver().entry_point(function, 12000));
  EXPECT_EQ(native(argument), 0) << function;
}

struct device_buffer_traits {
  using handle = device_buffer;
  static constexpr const char* releases = "cuMemFree";
  static constexpr bool keeps_context = true;
  static device_buffer make(const context& home) { return device_buffer(home, 64); }
  static bool has(const device_buffer& value) { return static_cast<bool>(value); }
  static std::size_t live(const live_handles& live) { return live.device_allocations; }
  static void dispose(const context& home, void* native) {
    call_native(home, "cuCtxSetCurrent", home.get());
    call_native(home, "cuMemFree",
                static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(native)));
    call_native(home, "cuCtxSetCurrent", CUcontext());
  }
};

struct host_buffer_traits {
  using handle = host_buffer;
  static constexpr const char* releases = "cuMemFreeHost";
  static constexpr bool keeps_context = true;
  static host_buffer make(const context& home) { return host_buffer(home, 64); }
  static bool has(const host_buffer& value) { return static_cast<bool>(value); }
  static std::size_t live(const live_handles& live) { return live.host_allocations; }
  static void dispose(const context& home, void* native) {
    call_native(home, "cuCtxSetCurrent", home.get());
    call_native(home, "cuMemFreeHost", native);
    call_native(home, "cuCtxSetCurrent", CUcontext());
  }
};

graph make_graph(const context& home) {
  const stream origin(home);
  return capture(origin, [](graph_builder&) {});
}

struct graph_traits {
  using handle = graph;
  static constexpr const char* releases = "cuGraphDestroy";
  static constexpr bool keeps_context = false;
  static graph make(const context& home) { return make_graph(home); }
  static bool has(const graph& value) { return static_cast<bool>(value); }
  static std::size_t live(const live_handles& live) { return live.graphs; }
  static void dispose(const context& home, CUgraph native) {
    graph::from_native_handle(home.get_driver(), native).close();
  }
};

struct graph_exec_traits {
  using handle = graph_exec;
  static constexpr const char* releases = "cuGraphExecDestroy";
  static constexpr bool keeps_context = false;
  static graph_exec make(const context& home) { return make_graph(home).instantiate(); }
  static bool has(const graph_exec& value) { return static_cast<bool>(value); }
  static std::size_t live(const live_handles& live) { return live.graph_execs; }
  static void dispose(const context& home, CUgraphExec native) {
    call_native(home, "cuGraphExecDestroy", native);
  }
};

using all =
    ::testing::Types<context_traits, library_traits, kernel_traits, event_traits, stream_traits,
                     device_buffer_traits, host_buffer_traits, graph_traits, graph_exec_traits>;
using unique = ::testing::Types<event_traits, stream_traits, device_buffer_traits,
                                host_buffer_traits, graph_traits, graph_exec_traits>;
using shared = ::testing::Types<context_traits, library_traits, kernel_traits>;

INSTANTIATE_TYPED_TEST_SUITE_P(Every, HandleSuite, all);
INSTANTIATE_TYPED_TEST_SUITE_P(MoveOnly, UniqueHandleSuite, unique);
INSTANTIATE_TYPED_TEST_SUITE_P(Shared, SharedHandleSuite, shared);

}  // namespace
}  // namespace cugraft::testing
