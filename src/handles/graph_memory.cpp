// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "cugraft/context.hpp"
#include "cugraft/error.hpp"
#include "cugraft/memory.hpp"
#include "driver/call.hpp"
#include "handles/context_state.hpp"
#include "handles/open_sessions.hpp"
#include "handles/relaxed_scope.hpp"

// Memory that launches of graphs allocate.

namespace cugraft {

void free_async(stream_ref stream, void* pointer) {
  if (pointer == nullptr) throw usage_error("free_async: the pointer is null: give memory");
  refuse_if_capturing(stream, "a free that belongs to no graph (graph_builder::free)");
  const relaxed_scope relaxed(table_of(stream));
  check(table_of(stream).mem_free_async(
            static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer)), stream.get()),
        "cuMemFreeAsync", object("memory", pointer), stream.get());
}

namespace {

CUdevice device_of(const driver_table& table, const context& context) {
  CUdevice device = 0;
  call(table, &driver_table::device_get, &device, context.ordinal());
  return device;
}

}  // namespace

graph_memory graph_memory_usage(const context& context) {
  const driver_table& table = *state_of(context)->table;
  const CUdevice device = device_of(table, context);
  const relaxed_scope relaxed(table);
  const auto ask = [&](CUgraphMem_attribute which) {
    cuuint64_t value = 0;
    check(table.device_get_graph_mem_attribute(device, which, &value),
          "cuDeviceGetGraphMemAttribute", context.get());
    return std::uint64_t{value};
  };
  graph_memory usage;
  usage.used = ask(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  usage.used_high = ask(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH);
  usage.reserved = ask(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
  usage.reserved_high = ask(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
  return usage;
}

void trim_graph_memory(const context& context) {
  const driver_table& table = *state_of(context)->table;
  const CUdevice device = device_of(table, context);
  const relaxed_scope relaxed(table);
  check(table.device_graph_mem_trim(device), "cuDeviceGraphMemTrim", context.get());
}

}  // namespace cugraft
