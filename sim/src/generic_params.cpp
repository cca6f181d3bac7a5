// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "context.hpp"
#include "graph.hpp"
#include "node_params.hpp"
#include "state.hpp"

// CUgraphNodeParams, the one structure for all kinds of nodes (driver-rules 9).

namespace cugraft_sim {
namespace {

constexpr std::size_t union_offset = 16;
constexpr std::size_t union_size = 232;

// How much of the union a driver of `version` reads for a node of this type (driver-rules 9.2, 12).
std::size_t used_bytes(CUgraphNodeType type, int version) noexcept {
  const bool has_contexts = version >= 13040;
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return 72;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return 216;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return 48;
    case CU_GRAPH_NODE_TYPE_HOST:
      return has_contexts ? 32 : version >= 13020 ? 24 : 16;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return version >= 12090 ? 12 : 8;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return has_contexts ? 16 : 8;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return 8;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return 32;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return 120;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return 8;
    default:
      return 0;
  }
}

bool is_zero(const std::byte* from, std::size_t count) noexcept {
  return std::all_of(from, from + count, [](std::byte each) { return each == std::byte{0}; });
}

CUcontext context_of(const CUgraphNodeParams& parameters, CUcontext otherwise) noexcept {
  CUcontext given = nullptr;
  if (parameters.type == CU_GRAPH_NODE_TYPE_MEMCPY) given = parameters.memcpy.copyCtx;
  if (parameters.type == CU_GRAPH_NODE_TYPE_MEMSET) given = parameters.memset.ctx;
  if (parameters.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) given = parameters.memOp.ctx;
  return given ? given : otherwise;
}

}  // namespace

CUDA_KERNEL_NODE_PARAMS kernel_of(const CUgraphNodeParams& parameters) {
  const auto& from = parameters.kernel;
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = from.func;
  kernel.gridDimX = from.gridDimX;
  kernel.gridDimY = from.gridDimY;
  kernel.gridDimZ = from.gridDimZ;
  kernel.blockDimX = from.blockDimX;
  kernel.blockDimY = from.blockDimY;
  kernel.blockDimZ = from.blockDimZ;
  kernel.sharedMemBytes = from.sharedMemBytes;
  kernel.kernelParams = from.kernelParams;
  kernel.extra = from.extra;
  kernel.kern = from.kern;
  kernel.ctx = from.ctx;
  return kernel;
}

CUDA_MEMSET_NODE_PARAMS fill_of(const CUgraphNodeParams& parameters) {
  const auto& from = parameters.memset;
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = from.dst;
  fill.pitch = from.pitch;
  fill.value = from.value;
  fill.elementSize = from.elementSize;
  fill.width = from.width;
  fill.height = from.height;
  return fill;
}

CUDA_HOST_NODE_PARAMS host_of(const CUgraphNodeParams& parameters) {
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = parameters.host.fn;
  host.userData = parameters.host.userData;
  return host;
}

CUDA_BATCH_MEM_OP_NODE_PARAMS batch_of(const CUgraphNodeParams& parameters) {
  const auto& from = parameters.memOp;
  return {from.ctx, from.count, from.paramArray, from.flags};
}

CUDA_MEM_ALLOC_NODE_PARAMS alloc_of(const CUgraphNodeParams& parameters) {
  const auto& from = parameters.alloc;
  CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
  alloc.poolProps = from.poolProps;
  alloc.accessDescs = from.accessDescs;
  alloc.accessDescCount = from.accessDescCount;
  alloc.bytesize = from.bytesize;
  alloc.dptr = from.dptr;
  return alloc;
}

bool is_clean(const CUgraphNodeParams& parameters) noexcept {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&parameters);
  const std::size_t used = used_bytes(parameters.type, the_state().version);
  return is_zero(bytes + sizeof parameters.type, union_offset - sizeof parameters.type) &&
         is_zero(bytes + union_offset + used, union_size - used) &&
         is_zero(bytes + union_offset + union_size, sizeof parameters - union_offset - union_size);
}

CUresult with_parameters(const operation& old, const CUgraphNodeParams& now, operation& made) {
  if (type_of(old) != now.type || !is_clean(now)) return CUDA_ERROR_INVALID_VALUE;
  operation before = old;
  before.context = context_of(now, old.context);
  std::shared_ptr<context> where;
  if (const CUresult result = find_context(before.context, where)) return result;
  switch (now.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return with_kernel(before, kernel_of(now), made);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return with_copy(before, now.memcpy.copyParams, made);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return with_fill(before, fill_of(now), made);
    case CU_GRAPH_NODE_TYPE_HOST:
      return with_host(before, host_of(now), made);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return with_batch(before, batch_of(now), made);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return with_recorded_event(before, now.eventRecord.event, made);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return with_awaited_event(before, now.eventWait.event, made);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace cugraft_sim
