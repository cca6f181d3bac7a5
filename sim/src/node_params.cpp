// SPDX-License-Identifier: Apache-2.0
#include "node_params.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "batch_ops.hpp"
#include "context.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "launch.hpp"
#include "library.hpp"

namespace cugraft_sim {
namespace {

constexpr std::byte overwritten{0xdd};
constexpr std::size_t ownership_offset = 16 + 8;  // headers before 12.9 lack the field

template <class Operation>
CUresult with_event(const operation& old, CUevent now, operation& made) {
  std::shared_ptr<event> found;
  if (!std::holds_alternative<Operation>(old.what) || find_event(now, found) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  Operation changed;
  changed.event = now;
  made = operation{old.context, std::move(changed)};
  return CUDA_SUCCESS;
}

}  // namespace

parameter_view::parameter_view(const operation& work) : context_(work.context) {
  params_.type = type_of(work);
  std::visit([this](const auto& what) { show(what); }, work.what);
}

parameter_view::~parameter_view() {
  std::ranges::fill(arguments_, overwritten);
  std::ranges::fill(pointers_, nullptr);
  std::ranges::fill(access_, CUmemAccessDesc{});
  auto* const bytes = reinterpret_cast<volatile std::byte*>(&params_);
  std::fill_n(bytes, sizeof params_, overwritten);
}

// An H200 gives size and buffer in this order, and the context for kernels of a library.
void parameter_view::show(const kernel_operation& kernel) {
  auto& shown = params_.kernel;
  shown.func = kernel.function;
  shown.kern = kernel.kernel;
  shown.ctx = context_;
  shown.gridDimX = kernel.grid.x;
  shown.gridDimY = kernel.grid.y;
  shown.gridDimZ = kernel.grid.z;
  shown.blockDimX = kernel.block.x;
  shown.blockDimY = kernel.block.y;
  shown.blockDimZ = kernel.block.z;
  shown.sharedMemBytes = kernel.shared_bytes;
  arguments_ = kernel.arguments;
  argument_bytes_ = arguments_.size();
  if (kernel.by_extra) {
    pointers_ = {CU_LAUNCH_PARAM_BUFFER_SIZE, &argument_bytes_, CU_LAUNCH_PARAM_BUFFER_POINTER,
                 arguments_.data(), CU_LAUNCH_PARAM_END};
    shown.extra = pointers_.data();
    return;
  }
  for (const ptx::parameter& each : kernel.code->code->entry->parameters)
    pointers_.push_back(arguments_.data() + each.offset);
  if (!pointers_.empty()) shown.kernelParams = pointers_.data();
}

void parameter_view::show(const copy_operation& copy) {
  params_.memcpy.copyCtx = context_;
  params_.memcpy.copyParams = copy.parameters;
}

void parameter_view::show(const fill_operation& fill) {
  auto& shown = params_.memset;
  shown.dst = fill.parameters.dst;
  shown.pitch = fill.parameters.pitch;
  shown.value = fill.parameters.value;
  shown.elementSize = fill.parameters.elementSize;
  shown.width = fill.parameters.width;
  shown.height = fill.parameters.height;
  shown.ctx = context_;
}

void parameter_view::show(const host_operation& host) {
  params_.host.fn = host.function;
  params_.host.userData = host.user_data;
}

void parameter_view::show(const event_record_operation& record) {
  params_.eventRecord.event = record.event;
}

void parameter_view::show(const event_wait_operation& wait) {
  params_.eventWait.event = wait.event;
}

void parameter_view::show(const batch_operation& batch) {
  batch_ = batch.operations;
  params_.memOp.ctx = context_;
  params_.memOp.count = static_cast<unsigned>(batch_.size());
  params_.memOp.paramArray = batch_.data();
}

// Nobody but the driver owns what a query shows: -1, by 13.2 (driver-rules 9.2).
void parameter_view::show(const child_operation& child) {
  constexpr int invalid = -1;
  params_.graph.graph = child.content->handle;
  std::memcpy(reinterpret_cast<std::byte*>(&params_) + ownership_offset, &invalid, sizeof invalid);
}

void parameter_view::show(const alloc_operation& alloc) {
  const graph_allocation& allocation = *alloc.allocation;
  access_ = allocation.access;
  auto& shown = params_.alloc;
  shown.poolProps = allocation.properties;
  if (!access_.empty()) shown.accessDescs = access_.data();
  shown.accessDescCount = access_.size();
  shown.bytesize = allocation.size;
  shown.dptr = allocation.begin;
}

void parameter_view::show(const free_operation& freed) noexcept {
  params_.free.dptr = freed.allocation->begin;
}

int ownership_of(const CUgraphNodeParams& parameters) noexcept {
  int ownership = 0;
  const auto* const bytes = reinterpret_cast<const std::byte*>(&parameters);
  std::memcpy(&ownership, bytes + ownership_offset, sizeof ownership);
  return ownership;
}

void parameter_view::show(const conditional_operation& conditional) {
  auto& shown = params_.conditional;
  shown.handle = conditional.condition;
  shown.type = static_cast<CUgraphConditionalNodeType>(conditional.kind);
  shown.size = conditional.size;
  shown.phGraph_out = conditional.shown->data();
  shown.ctx = context_;
}

CUresult with_kernel(const operation& old, const CUDA_KERNEL_NODE_PARAMS& now, operation& made) {
  const auto* const before = std::get_if<kernel_operation>(&old.what);
  if (!before) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<context> where;
  if (const CUresult result = find_context(old.context, where)) return result;
  kernel_operation changed;
  if (const CUresult result = make_kernel_operation(now, where, before->attributes, changed))
    return result;
  made = operation{old.context, std::move(changed)};
  return CUDA_SUCCESS;
}

CUresult with_copy(const operation& old, const CUDA_MEMCPY3D& now, operation& made) {
  const auto* const before = std::get_if<copy_operation>(&old.what);
  if (!before) return CUDA_ERROR_INVALID_VALUE;
  if (now.WidthInBytes == 0 || now.Height == 0 || now.Depth == 0) return CUDA_ERROR_INVALID_VALUE;
  copy_operation changed{now, before->captured_with_rows};
  if (const CUresult result = check_copy(changed.parameters, moment::node_made)) return result;
  made = operation{old.context, changed};
  return CUDA_SUCCESS;
}

CUresult with_fill(const operation& old, const CUDA_MEMSET_NODE_PARAMS& now, operation& made) {
  if (!std::holds_alternative<fill_operation>(old.what)) return CUDA_ERROR_INVALID_VALUE;
  if (now.width == 0 || now.height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_fill(now, moment::node_made)) return result;
  made = operation{old.context, fill_operation{now}};
  return CUDA_SUCCESS;
}

CUresult with_host(const operation& old, const CUDA_HOST_NODE_PARAMS& now, operation& made) {
  if (!std::holds_alternative<host_operation>(old.what) || !now.fn) return CUDA_ERROR_INVALID_VALUE;
  made = operation{old.context, host_operation{now.fn, now.userData}};
  return CUDA_SUCCESS;
}

CUresult with_batch(const operation& old, const CUDA_BATCH_MEM_OP_NODE_PARAMS& now,
                    operation& made) {
  if (!std::holds_alternative<batch_operation>(old.what)) return CUDA_ERROR_INVALID_VALUE;
  if (now.ctx && now.ctx != old.context) return CUDA_ERROR_INVALID_VALUE;
  batch_operation changed;
  if (const CUresult result = read_batch(now, moment::node_made, changed)) return result;
  made = operation{old.context, std::move(changed)};
  return CUDA_SUCCESS;
}

CUresult with_recorded_event(const operation& old, CUevent now, operation& made) {
  return with_event<event_record_operation>(old, now, made);
}

CUresult with_awaited_event(const operation& old, CUevent now, operation& made) {
  return with_event<event_wait_operation>(old, now, made);
}

}  // namespace cugraft_sim
