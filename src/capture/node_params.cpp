// SPDX-License-Identifier: Apache-2.0
#include "capture/node_params.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "base/access.hpp"
#include "driver/call.hpp"

namespace cugraft {
namespace {

// Pointers to packed arguments as `kernelParams` wants them. Thread-local, so that it seldom
// allocates: then setting a node has failed, and is made up for as after a refusal of the driver.
void** argument_pointers(const model::kernel_value& kernel) {
  thread_local std::vector<void*> pointers;
  pointers.clear();
  for (const kernel_parameter& parameter : kernel.layout->parameters)
    pointers.push_back(const_cast<std::byte*>(kernel.arguments.data()) + parameter.offset);
  pointers.push_back(nullptr);  // never an empty array: the driver takes null for "not given"
  return pointers.data();
}

CUDA_KERNEL_NODE_PARAMS native_params(const model::kernel_value& kernel) {
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = kernel.function;
  params.gridDimX = kernel.grid.x;
  params.gridDimY = kernel.grid.y;
  params.gridDimZ = kernel.grid.z;
  params.blockDimX = kernel.block.x;
  params.blockDimY = kernel.block.y;
  params.blockDimZ = kernel.block.z;
  params.sharedMemBytes = kernel.shared_memory_bytes;
  params.kernelParams = argument_pointers(kernel);
  return params;
}

template <class Address>
Address from_integer(std::uintptr_t address) noexcept {
  if constexpr (std::is_pointer_v<Address>)
    return reinterpret_cast<Address>(address);
  else
    return static_cast<Address>(address);
}

CUDA_MEMCPY3D native_params(const model::copy_value& copy) noexcept {
  CUDA_MEMCPY3D params = {};
  params.srcXInBytes = copy.source.x;
  params.srcY = copy.source.y;
  params.srcZ = copy.source.z;
  params.srcLOD = copy.source.level;
  params.srcMemoryType = static_cast<CUmemorytype>(copy.source.memory_kind);
  params.srcPitch = copy.source.pitch;
  params.srcHeight = copy.source.height;
  params.dstXInBytes = copy.destination.x;
  params.dstY = copy.destination.y;
  params.dstZ = copy.destination.z;
  params.dstLOD = copy.destination.level;
  params.dstMemoryType = static_cast<CUmemorytype>(copy.destination.memory_kind);
  params.dstPitch = copy.destination.pitch;
  params.dstHeight = copy.destination.height;
  params.WidthInBytes = copy.width_bytes;
  params.Height = copy.height;
  params.Depth = copy.depth;
  switch (params.srcMemoryType) {
    case CU_MEMORYTYPE_HOST:
      params.srcHost = from_integer<void*>(copy.source.address);
      break;
    case CU_MEMORYTYPE_ARRAY:
      params.srcArray = from_integer<CUarray>(copy.source.address);
      break;
    default:
      params.srcDevice = from_integer<CUdeviceptr>(copy.source.address);
  }
  switch (params.dstMemoryType) {
    case CU_MEMORYTYPE_HOST:
      params.dstHost = from_integer<void*>(copy.destination.address);
      break;
    case CU_MEMORYTYPE_ARRAY:
      params.dstArray = from_integer<CUarray>(copy.destination.address);
      break;
    default:
      params.dstDevice = from_integer<CUdeviceptr>(copy.destination.address);
  }
  return params;
}

CUDA_MEMSET_NODE_PARAMS native_params(const model::fill_value& fill) noexcept {
  CUDA_MEMSET_NODE_PARAMS params = {};
  params.dst = fill.destination;
  params.pitch = fill.pitch;
  params.value = fill.value;
  params.elementSize = fill.element_size;
  params.width = fill.width;
  params.height = fill.height;
  return params;
}

CUDA_HOST_NODE_PARAMS native_params(const model::host_value& host) noexcept {
  CUDA_HOST_NODE_PARAMS params = {};
  params.fn = reinterpret_cast<CUhostFn>(host.function);
  params.userData = reinterpret_cast<void*>(host.user_data);
  return params;
}

// The driver's setters of one node, on the graph and on an executable: the same names, so that
// `set_params` alone says which kind of node takes what.
struct graph_setter {
  static constexpr const char* kernel_call = "cuGraphKernelNodeSetParams";

  const driver_table& table;
  CUgraphNode node;

  call_result operator()(const CUDA_KERNEL_NODE_PARAMS& params) const noexcept {
    return {table.graph_kernel_node_set_params(node, &params), kernel_call};
  }
  call_result operator()(const CUDA_MEMCPY3D& params) const noexcept {
    return {table.graph_memcpy_node_set_params(node, &params), "cuGraphMemcpyNodeSetParams"};
  }
  call_result operator()(const CUDA_MEMSET_NODE_PARAMS& params) const noexcept {
    return {table.graph_memset_node_set_params(node, &params), "cuGraphMemsetNodeSetParams"};
  }
  call_result operator()(const CUDA_HOST_NODE_PARAMS& params) const noexcept {
    return {table.graph_host_node_set_params(node, &params), "cuGraphHostNodeSetParams"};
  }
  call_result record(CUevent event) const noexcept {
    return {table.graph_event_record_node_set_event(node, event), "cuGraphEventRecordNodeSetEvent"};
  }
  call_result wait(CUevent event) const noexcept {
    return {table.graph_event_wait_node_set_event(node, event), "cuGraphEventWaitNodeSetEvent"};
  }
};

struct exec_setter {
  static constexpr const char* kernel_call = "cuGraphExecKernelNodeSetParams";

  const driver_table& table;
  CUgraphExec exec;
  CUgraphNode node;
  CUcontext context;

  call_result operator()(const CUDA_KERNEL_NODE_PARAMS& params) const noexcept {
    return {table.graph_exec_kernel_node_set_params(exec, node, &params), kernel_call};
  }
  call_result operator()(const CUDA_MEMCPY3D& params) const noexcept {
    return {table.graph_exec_memcpy_node_set_params(exec, node, &params, context),
            "cuGraphExecMemcpyNodeSetParams"};
  }
  call_result operator()(const CUDA_MEMSET_NODE_PARAMS& params) const noexcept {
    return {table.graph_exec_memset_node_set_params(exec, node, &params, context),
            "cuGraphExecMemsetNodeSetParams"};
  }
  call_result operator()(const CUDA_HOST_NODE_PARAMS& params) const noexcept {
    return {table.graph_exec_host_node_set_params(exec, node, &params),
            "cuGraphExecHostNodeSetParams"};
  }
  call_result record(CUevent event) const noexcept {
    return {table.graph_exec_event_record_node_set_event(exec, node, event),
            "cuGraphExecEventRecordNodeSetEvent"};
  }
  call_result wait(CUevent event) const noexcept {
    return {table.graph_exec_event_wait_node_set_event(exec, node, event),
            "cuGraphExecEventWaitNodeSetEvent"};
  }
};

template <class Setter>
call_result set_params(const model::node_value& value, const Setter& set) noexcept {
  if (const auto* kernel = std::get_if<model::kernel_value>(&value.data)) {
    try {
      return set(native_params(*kernel));
    } catch (const std::bad_alloc&) {
      return {CUDA_ERROR_OUT_OF_MEMORY, Setter::kernel_call};  // the host's: it was not called
    }
  }
  if (const auto* copy = std::get_if<model::copy_value>(&value.data))
    return set(native_params(*copy));
  if (const auto* fill = std::get_if<model::fill_value>(&value.data))
    return set(native_params(*fill));
  if (const auto* host = std::get_if<model::host_value>(&value.data))
    return set(native_params(*host));
  if (const auto* event = std::get_if<model::event_value>(&value.data))
    return value.kind == node_kind::event_record ? set.record(event->event)
                                                 : set.wait(event->event);
  return {};  // nothing to set
}

std::uintptr_t address_of(CUmemorytype kind, const void* host, CUdeviceptr device, CUarray array) {
  switch (kind) {
    case CU_MEMORYTYPE_HOST:
      return reinterpret_cast<std::uintptr_t>(host);
    case CU_MEMORYTYPE_ARRAY:
      return reinterpret_cast<std::uintptr_t>(array);
    default:
      return static_cast<std::uintptr_t>(device);
  }
}

model::kernel_value read_kernel(const driver_table& table, CUgraphNode node, layout_cache& layouts,
                                attribute_check attributes) {
  CUDA_KERNEL_NODE_PARAMS params = {};
  check(table.graph_kernel_node_get_params(node, &params), "cuGraphKernelNodeGetParams");
  model::kernel_value kernel;
  kernel.function = function_of(params);
  kernel.layout = layouts.of(kernel.function);
  kernel.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
  kernel.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  kernel.shared_memory_bytes = params.sharedMemBytes;
  kernel.arguments = packed_arguments(params.kernelParams, params.extra, *kernel.layout);
  kernel.attributes = read_attributes(table, node, attributes);
  return kernel;
}

CUevent read_event(const driver_table& table, CUgraphNode node, bool records) {
  CUevent event = nullptr;
  if (records)
    check(table.graph_event_record_node_get_event(node, &event), "cuGraphEventRecordNodeGetEvent");
  else
    check(table.graph_event_wait_node_get_event(node, &event), "cuGraphEventWaitNodeGetEvent");
  return event;
}

model::allocation_value read_allocation(const driver_table& table, CUgraphNode node) {
  CUDA_MEM_ALLOC_NODE_PARAMS params = {};
  check(table.graph_mem_alloc_node_get_params(node, &params), "cuGraphMemAllocNodeGetParams");
  return {.address = static_cast<std::uintptr_t>(params.dptr),
          .bytes = params.bytesize,
          .device = params.poolProps.location.id};
}

model::free_value read_free(const driver_table& table, CUgraphNode node) {
  CUdeviceptr address = 0;
  check(table.graph_mem_free_node_get_params(node, &address), "cuGraphMemFreeNodeGetParams");
  return {.address = static_cast<std::uintptr_t>(address)};
}

}  // namespace

const std::shared_ptr<const model::kernel_layout>& layout_cache::of(const kernel& kernel) {
  auto& layout = layouts_[kernel.get()];
  if (!layout) {
    auto made = std::make_shared<model::kernel_layout>();
    made->name = kernel.name();
    made->parameters.assign(kernel.parameters().begin(), kernel.parameters().end());
    for (const kernel_parameter& parameter : made->parameters)
      made->bytes = std::max(made->bytes, parameter.offset + parameter.size);
    layout = std::move(made);
  }
  return layout;
}

const std::shared_ptr<const model::kernel_layout>& layout_cache::of(CUfunction function) {
  if (const auto found = layouts_.find(function); found != layouts_.end() && found->second)
    return found->second;
  return of(kernel::from_native_handle(detail::access::make<driver>(*table_), function));
}

CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS& params) noexcept {
  // A kernel may stand where a function is wanted (driver rules, 1.3).
  return params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern);
}

model::argument_bytes packed_arguments(void* const* kernel_params, void* const* extra,
                                       const model::kernel_layout& layout) {
  model::argument_bytes packed;
  pack_arguments_into(packed, kernel_params, extra, layout);
  return packed;
}

void pack_arguments_into(model::argument_bytes& packed, void* const* kernel_params,
                         void* const* extra, const model::kernel_layout& layout) {
  packed.assign_zeros(layout.bytes);
  if (extra == nullptr) {
    if (kernel_params != nullptr) model::pack_arguments(layout, kernel_params, packed.data());
    return;
  }
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const std::size_t*>(extra[1]);
  }
  // Parameter by parameter, so that padding is zero as in the other form.
  for (const kernel_parameter& parameter : layout.parameters) {
    if (buffer == nullptr || parameter.offset + parameter.size > size) break;
    std::memcpy(packed.data() + parameter.offset,
                static_cast<const std::byte*>(buffer) + parameter.offset, parameter.size);
  }
}

model::copy_value copy_value_of(const CUDA_MEMCPY3D& copy) noexcept {
  model::copy_value value;
  value.source = {
      .memory_kind = static_cast<int>(copy.srcMemoryType),
      .address = address_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray),
      .x = copy.srcXInBytes,
      .y = copy.srcY,
      .z = copy.srcZ,
      .level = copy.srcLOD,
      .pitch = copy.srcPitch,
      .height = copy.srcHeight};
  value.destination = {
      .memory_kind = static_cast<int>(copy.dstMemoryType),
      .address = address_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray),
      .x = copy.dstXInBytes,
      .y = copy.dstY,
      .z = copy.dstZ,
      .level = copy.dstLOD,
      .pitch = copy.dstPitch,
      .height = copy.dstHeight};
  value.width_bytes = copy.WidthInBytes;
  value.height = copy.Height;
  value.depth = copy.Depth;
  return value;
}

namespace {

// The last CUlaunchAttributeID that is asked for. A driver refuses those that it does not know or
// does not let read, which differ by version (driver facts, Setters).
constexpr unsigned last_attribute = 31;

constexpr bool is_semantic(unsigned id) noexcept {
  return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
         id == CU_LAUNCH_ATTRIBUTE_PRIORITY;
}

std::vector<launch_attribute> read_other_attributes(const driver_table& table, CUgraphNode node) {
  std::vector<launch_attribute> others;
  for (unsigned id = 1; id <= last_attribute; ++id) {
    if (is_semantic(id)) continue;
    CUkernelNodeAttrValue value = {};
    const CUresult result =
        table.graph_kernel_node_get_attribute(node, static_cast<CUkernelNodeAttrID>(id), &value);
    if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED) continue;
    check(result, "cuGraphKernelNodeGetAttribute");
    static_assert(sizeof(launch_attribute::value) == sizeof value);
    std::memcpy(others.emplace_back(launch_attribute{.id = id}).value.data(), &value, sizeof value);
  }
  return others;
}

}  // namespace

model::attributes read_attributes(const driver_table& table, CUgraphNode node,
                                  attribute_check attributes) {
  model::attributes result;
  result.known_to = model::known::nothing;
  if (attributes == attribute_check::none) return result;
  const auto read = [&](CUkernelNodeAttrID id) {
    CUkernelNodeAttrValue value = {};
    check(table.graph_kernel_node_get_attribute(node, id, &value), "cuGraphKernelNodeGetAttribute");
    return value;
  };
  const auto cluster = read(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
  if (cluster.x != 0) result.cluster = dim3(cluster.x, cluster.y, cluster.z);
  result.cooperative = read(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0;
  result.priority = read(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority;
  result.known_to = model::known::semantic;
  if (attributes != attribute_check::all) return result;
  result.others = read_other_attributes(table, node);
  result.known_to = model::known::readable;
  return result;
}

model::node_value read_node(const driver_table& table, CUgraphNode node, layout_cache& layouts,
                            attribute_check attributes) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  check(table.graph_node_get_type(node, &type), "cuGraphNodeGetType");
  model::node_value value;
  value.kind = static_cast<node_kind>(type);
  switch (value.kind) {
    case node_kind::kernel:
      value.data = read_kernel(table, node, layouts, attributes);
      break;
    case node_kind::copy: {
      CUDA_MEMCPY3D params = {};
      check(table.graph_memcpy_node_get_params(node, &params), "cuGraphMemcpyNodeGetParams");
      value.data = copy_value_of(params);
      break;
    }
    case node_kind::fill: {
      CUDA_MEMSET_NODE_PARAMS params = {};
      check(table.graph_memset_node_get_params(node, &params), "cuGraphMemsetNodeGetParams");
      value.data = fill_value_of(params);
      break;
    }
    case node_kind::host: {
      CUDA_HOST_NODE_PARAMS params = {};
      check(table.graph_host_node_get_params(node, &params), "cuGraphHostNodeGetParams");
      value.data = model::host_value{reinterpret_cast<std::uintptr_t>(params.fn),
                                     reinterpret_cast<std::uintptr_t>(params.userData)};
      break;
    }
    case node_kind::event_record:
    case node_kind::event_wait:
      value.data =
          model::event_value{read_event(table, node, value.kind == node_kind::event_record)};
      break;
    case node_kind::allocation:
      value.data = read_allocation(table, node);
      break;
    case node_kind::free:
      value.data = read_free(table, node);
      break;
    case node_kind::child_graph:
      value.data = model::child_value{};
      break;
    default:
      break;  // carried as opaque
  }
  return value;
}

call_result write_node(const driver_table& table, CUgraphNode node,
                       const model::node_value& value) noexcept {
  return set_params(value, graph_setter{table, node});
}

call_result write_exec_node(const driver_table& table, CUgraphExec exec, CUgraphNode node,
                            const model::node_value& value, CUcontext context) noexcept {
  return set_params(value, exec_setter{table, exec, node, context});
}

}  // namespace cugraft
