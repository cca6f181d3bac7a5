// SPDX-License-Identifier: Apache-2.0
#include "work_compare.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "attributes.hpp"
#include "batch_ops.hpp"
#include "library.hpp"
#include "overloaded.hpp"
#include "peer_access.hpp"

namespace cugraft_sim {
namespace {

auto source_of(const CUDA_MEMCPY3D& copy) {
  return std::tie(copy.srcXInBytes, copy.srcY, copy.srcZ, copy.srcLOD, copy.srcMemoryType,
                  copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcPitch, copy.srcHeight);
}

auto destination_of(const CUDA_MEMCPY3D& copy) {
  return std::tie(copy.dstXInBytes, copy.dstY, copy.dstZ, copy.dstLOD, copy.dstMemoryType,
                  copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstPitch, copy.dstHeight);
}

auto extent_of(const CUDA_MEMCPY3D& copy) {
  return std::tie(copy.WidthInBytes, copy.Height, copy.Depth);
}

auto memory_kinds_of(const CUDA_MEMCPY3D& copy) {
  return std::tie(copy.srcMemoryType, copy.dstMemoryType);
}

auto shape_of(const CUDA_MEMSET_NODE_PARAMS& fill) {
  return std::tie(fill.pitch, fill.elementSize, fill.width, fill.height);
}

bool same_access(const CUmemAccessDesc& left, const CUmemAccessDesc& right) noexcept {
  return left.flags == right.flags && left.location.type == right.location.type &&
         left.location.id == right.location.id;
}

bool equal(const empty_operation&, const empty_operation&) { return true; }

// The form in which the arguments came does not matter, their bytes do.
bool equal(const kernel_operation& left, const kernel_operation& right) {
  return left.function == right.function && left.grid == right.grid && left.block == right.block &&
         left.shared_bytes == right.shared_bytes && left.arguments == right.arguments;
}

bool equal(const copy_operation& left, const copy_operation& right) {
  return source_of(left.parameters) == source_of(right.parameters) &&
         destination_of(left.parameters) == destination_of(right.parameters) &&
         extent_of(left.parameters) == extent_of(right.parameters);
}

bool equal(const fill_operation& left, const fill_operation& right) {
  return left.parameters.dst == right.parameters.dst &&
         left.parameters.value == right.parameters.value &&
         shape_of(left.parameters) == shape_of(right.parameters);
}

bool equal(const host_operation& left, const host_operation& right) {
  return left.function == right.function && left.user_data == right.user_data;
}

bool equal(const event_record_operation& left, const event_record_operation& right) {
  return left.event == right.event;
}

bool equal(const event_wait_operation& left, const event_wait_operation& right) {
  return left.event == right.event;
}

bool equal(const batch_operation& left, const batch_operation& right) {
  return same_batch(left, right);
}

bool equal(const child_operation& left, const child_operation& right) {
  return left.content == right.content;
}

bool equal(const conditional_operation& left, const conditional_operation& right) {
  return left.condition == right.condition && left.kind == right.kind && left.size == right.size;
}

// The address is the driver's, so it is no parameter of the allocation.
bool equal(const alloc_operation& left, const alloc_operation& right) {
  const graph_allocation& one = *left.allocation;
  const graph_allocation& other = *right.allocation;
  return one.size == other.size &&
         std::memcmp(&one.properties, &other.properties, sizeof one.properties) == 0 &&
         std::ranges::equal(one.access, other.access, same_access);
}

bool equal(const free_operation& left, const free_operation& right) {
  return left.allocation == right.allocation;
}

bool same_function_context(const kernel_operation& left, const kernel_operation& right) {
  return left.code->owner == right.code->owner;
}

// 2-D copies are fixed, and so are the kinds of memory and where it is.
bool can_patch(const copy_operation& held, const copy_operation& now) {
  if (equal(held, now)) return true;
  return is_one_dimensional(held.parameters) && is_one_dimensional(now.parameters) &&
         memory_kinds_of(held.parameters) == memory_kinds_of(now.parameters) &&
         is_same_place(held.parameters.srcDevice, now.parameters.srcDevice) &&
         is_same_place(held.parameters.dstDevice, now.parameters.dstDevice);
}

// Of a fill of several rows value and destination may change, of one row everything but the height;
// where the destination is may not.
bool can_patch(const fill_operation& held, const fill_operation& now) {
  if (!is_same_place(held.parameters.dst, now.parameters.dst)) return false;
  if (held.parameters.height == 1) return now.parameters.height == 1;
  return shape_of(held.parameters) == shape_of(now.parameters);
}

CUgraphExecUpdateResult check_change(const kernel_operation& held, const kernel_operation& now,
                                     const update_conditions& conditions) {
  if (!same_function_context(held, now))
    return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  const bool attributes_changed =
      is_cooperative(held) != is_cooperative(now) ||
      (conditions.node_priorities && priority_of(held) != priority_of(now));
  return attributes_changed ? CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED
                            : CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

// Of two copies that were captured with several rows only that of the executable's own graph is
// taken, unchanged too (facts); where one was added by hand, or given rows by a setter, an
// unchanged one is taken from any graph (H200).
CUgraphExecUpdateResult check_change(const copy_operation& held, const copy_operation& now,
                                     const update_conditions& conditions) {
  const bool is_foreign =
      held.captured_with_rows && now.captured_with_rows && !conditions.from_origin;
  return !is_foreign && can_patch(held, now) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                             : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

CUgraphExecUpdateResult check_change(const fill_operation& held, const fill_operation& now,
                                     const update_conditions&) {
  return can_patch(held, now) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                              : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

CUgraphExecUpdateResult check_change(const batch_operation& held, const batch_operation& now,
                                     const update_conditions&) {
  return same_batch_shape(held, now) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                     : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

// Fixed, and the handles too: those of the k-th conditions have the same number (facts; result:
// H200).
CUgraphExecUpdateResult check_change(const conditional_operation& held,
                                     const conditional_operation& now, const update_conditions&) {
  return equal(held, now) ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
}

// Memory nodes are taken from the executable's own graph only (facts).
CUgraphExecUpdateResult check_memory(const update_conditions& conditions) noexcept {
  return conditions.from_origin ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR;
}

CUgraphExecUpdateResult check_change(const alloc_operation&, const alloc_operation&,
                                     const update_conditions& conditions) {
  return check_memory(conditions);
}

CUgraphExecUpdateResult check_change(const free_operation&, const free_operation&,
                                     const update_conditions& conditions) {
  return check_memory(conditions);
}

// Host functions and external events are free; empty nodes have nothing.
template <class Other>
CUgraphExecUpdateResult check_change(const Other&, const Other&, const update_conditions&) {
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

}  // namespace

bool same_parameters(const operation& left, const operation& right) {
  return std::visit(
      [&]<class Operation>(const Operation& what) {
        const auto* const other = std::get_if<Operation>(&right.what);
        return other && equal(what, *other);
      },
      left.what);
}

bool is_one_dimensional(const CUDA_MEMCPY3D& copy) noexcept {
  return copy.Height == 1 && copy.Depth == 1;
}

bool can_patch(const operation& held, const operation& now) {
  if (held.what.index() != now.what.index()) return false;
  return std::visit(overloaded{
                        [&](const kernel_operation& what) {
                          return same_function_context(what, std::get<kernel_operation>(now.what));
                        },
                        [&](const copy_operation& what) {
                          return can_patch(what, std::get<copy_operation>(now.what));
                        },
                        [&](const fill_operation& what) {
                          return can_patch(what, std::get<fill_operation>(now.what));
                        },
                        [&](const batch_operation& what) {
                          return same_batch_shape(what, std::get<batch_operation>(now.what));
                        },
                        [](const auto&) { return true; },
                    },
                    held.what);
}

CUgraphExecUpdateResult check_update(const operation& held, const operation& now,
                                     const update_conditions& conditions) {
  return std::visit(
      [&]<class Operation>(const Operation& what) {
        return check_change(what, std::get<Operation>(now.what), conditions);
      },
      held.what);
}

}  // namespace cugraft_sim
