// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "relay/live.hpp"

// What is taken down about a call beside passing it on: what it makes, what it gives back.

namespace cugraft_relay {

/// Most calls are passed on only.
template <function_id Id>
struct effect {
  template <class Function, class... Arguments>
  static CUresult run(Function function, Arguments... arguments) {
    return function(arguments...);
  }
};

/// The call makes what its first argument points to.
template <auto Set>
struct making {
  template <class Function, class Handle, class... Arguments>
  static CUresult run(Function function, Handle* made, Arguments... arguments) {
    return (live().*Set).added(function(made, arguments...), made);
  }
};

/// The call gives its first argument back.
template <auto Set>
struct releasing {
  template <class Function, class Handle>
  static CUresult run(Function function, Handle handle) {
    return (live().*Set).released(handle, [&] { return function(handle); });
  }
};

// clang-format off
template <> struct effect<function_id::stream_create_with_priority> : making<&live_things::streams> {};
template <> struct effect<function_id::stream_destroy> : releasing<&live_things::streams> {};
template <> struct effect<function_id::event_create> : making<&live_things::events> {};
template <> struct effect<function_id::event_destroy> : releasing<&live_things::events> {};
template <> struct effect<function_id::mem_alloc> : making<&live_things::device_allocations> {};
template <> struct effect<function_id::mem_free> : releasing<&live_things::device_allocations> {};
template <> struct effect<function_id::mem_host_alloc> : making<&live_things::host_allocations> {};
template <> struct effect<function_id::mem_free_host> : releasing<&live_things::host_allocations> {};
template <> struct effect<function_id::mem_pool_create> : making<&live_things::memory_pools> {};
template <> struct effect<function_id::mem_pool_destroy> : releasing<&live_things::memory_pools> {};
template <> struct effect<function_id::library_load_data> : making<&live_things::libraries> {};
template <> struct effect<function_id::library_load_from_file> : making<&live_things::libraries> {};
template <> struct effect<function_id::library_unload> : releasing<&live_things::libraries> {};
template <> struct effect<function_id::graph_create> : making<&live_things::graphs> {};
template <> struct effect<function_id::graph_clone> : making<&live_things::graphs> {};
template <> struct effect<function_id::graph_destroy> : releasing<&live_things::graphs> {};
template <> struct effect<function_id::graph_instantiate_with_params> : making<&live_things::graph_execs> {};
template <> struct effect<function_id::graph_instantiate_with_flags> : making<&live_things::graph_execs> {};
template <> struct effect<function_id::graph_exec_destroy> : releasing<&live_things::graph_execs> {};
// clang-format on

// Memory of a captured allocation belongs to the graph.
template <>
struct effect<function_id::mem_alloc_async> {
  template <class Function>
  static CUresult run(Function function, CUdeviceptr* made, std::size_t bytes, CUstream stream) {
    const bool is_node = is_capturing(stream);
    const CUresult result = function(made, bytes, stream);
    return is_node ? result : live().device_allocations.added(result, made);
  }
};

template <>
struct effect<function_id::mem_alloc_from_pool_async> {
  template <class Function>
  static CUresult run(Function function, CUdeviceptr* made, std::size_t bytes, CUmemoryPool pool,
                      CUstream stream) {
    const bool is_node = is_capturing(stream);
    const CUresult result = function(made, bytes, pool, stream);
    return is_node ? result : live().device_allocations.added(result, made);
  }
};

template <>
struct effect<function_id::mem_free_async> {
  template <class Function>
  static CUresult run(Function function, CUdeviceptr memory, CUstream stream) {
    if (is_capturing(stream)) return function(memory, stream);
    return live().device_allocations.released(memory, [&] { return function(memory, stream); });
  }
};

template <>
struct effect<function_id::device_primary_ctx_retain> {
  template <class Function>
  static CUresult run(Function function, CUcontext* context, CUdevice device) {
    const CUresult result = function(context, device);
    if (result != CUDA_SUCCESS) return result;
    const std::lock_guard lock(live().contexts_mutex);
    primary_context& known = live().contexts[device];
    known.handle = *context;
    ++known.retained;
    return result;
  }
};

template <>
struct effect<function_id::device_primary_ctx_release> {
  template <class Function>
  static CUresult run(Function function, CUdevice device) {
    const CUresult result = function(device);
    if (result != CUDA_SUCCESS) return result;
    const std::lock_guard lock(live().contexts_mutex);
    if (live().contexts[device].retained > 0) --live().contexts[device].retained;
    return result;
  }
};

template <>
struct effect<function_id::ctx_push_current> {
  template <class Function>
  static CUresult run(Function function, CUcontext context) {
    const CUresult result = function(context);
    if (result == CUDA_SUCCESS) ++context_depth();
    return result;
  }
};

template <>
struct effect<function_id::ctx_pop_current> {
  template <class Function>
  static CUresult run(Function function, CUcontext* context) {
    const CUresult result = function(context);
    if (result == CUDA_SUCCESS && context_depth() > 0) --context_depth();
    return result;
  }
};

// Takes the place of the context on top; none is as good as a pop, as `cuCtxSetCurrent`
// documents it.
template <>
struct effect<function_id::ctx_set_current> {
  template <class Function>
  static CUresult run(Function function, CUcontext context) {
    const CUresult result = function(context);
    if (result != CUDA_SUCCESS) return result;
    std::size_t& depth = context_depth();
    if (context == nullptr && depth > 0) --depth;
    if (context != nullptr && depth == 0) depth = 1;
    return result;
  }
};

// A child graph that is moved in is its parent's from then on. Headers before 12.9 lack the field
// that says so.
template <>
struct effect<function_id::graph_add_node> {
  template <class Function>
  static CUresult run(Function function, CUgraphNode* made, CUgraph graph,
                      const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                      std::size_t count, CUgraphNodeParams* params) {
    struct child_graph {
      CUgraph graph;
      int ownership;
    } child{};
    std::memcpy(&child, params->reserved1, sizeof child);
    const CUresult result = function(made, graph, dependencies, edges, count, params);
    const bool is_moved = params->type == CU_GRAPH_NODE_TYPE_GRAPH && child.ownership == 1;
    if (result == CUDA_SUCCESS && is_moved) live().graphs.forget(child.graph);
    return result;
  }
};

template <>
struct effect<function_id::stream_begin_capture_to_graph> {
  template <class Function, class... Arguments>
  static CUresult run(Function function, CUstream stream, CUgraph graph, Arguments... arguments) {
    const CUresult result = function(stream, graph, arguments...);
    if (result == CUDA_SUCCESS) live().targets.put(stream, graph);
    return result;
  }
};

// A capture into a graph that there was destroys that graph if its end fails
// (docs/driver/observations.md). The graph is forgotten before, since the driver may give the same
// handle to another thread at once.
template <>
struct effect<function_id::stream_end_capture> {
  template <class Function>
  static CUresult run(Function function, CUstream stream, CUgraph* graph) {
    const CUgraph target = live().targets.take(stream);
    if (target == nullptr) return live().graphs.added(function(stream, graph), graph);
    const bool was_known = live().graphs.forget(target);
    const CUresult result = function(stream, graph);
    if (was_known && result == CUDA_SUCCESS) live().graphs.add(target);
    return result;
  }
};

/// Stands between the driver and a user object, to see its end.
struct user_object {
  CUhostFn destroy;
  void* data;

  static void run(void* self) {
    const std::unique_ptr<user_object> owned(static_cast<user_object*>(self));
    owned->destroy(owned->data);
    --live().user_objects;
  }
};

template <>
struct effect<function_id::user_object_create> {
  template <class Function>
  static CUresult run(Function function, CUuserObject* made, void* data, CUhostFn destroy,
                      unsigned references, unsigned flags) {
    if (destroy == nullptr) return function(made, data, destroy, references, flags);
    auto between = std::make_unique<user_object>(user_object{destroy, data});
    ++live().user_objects;
    const CUresult result = function(made, between.get(), &user_object::run, references, flags);
    if (result == CUDA_SUCCESS)
      static_cast<void>(between.release());
    else
      --live().user_objects;
    return result;
  }
};

}  // namespace cugraft_relay
