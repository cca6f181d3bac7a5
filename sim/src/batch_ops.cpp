// SPDX-License-Identifier: Apache-2.0
#include "batch_ops.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "memory.hpp"
#include "node_params.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned most_operations = 256;
constexpr unsigned wait_kinds = 3;  // the bits of GEQ, EQ, AND and NOR

bool is_wait(const CUstreamBatchMemOpParams& each) noexcept {
  return each.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
         each.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

// Devices here have no remote writes to flush (CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES).
bool is_flush(const CUstreamBatchMemOpParams& each) noexcept {
  return each.operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES ||
         (is_wait(each) && (each.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0);
}

bool is_write(const CUstreamBatchMemOpParams& each) noexcept {
  return each.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
         each.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

std::size_t width_of(const CUstreamBatchMemOpParams& each) noexcept {
  const bool is_wide = each.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                       each.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  return is_wide ? sizeof(cuuint64_t) : sizeof(cuuint32_t);
}

// Waits and writes have address, value and flags at the same places.
const auto& value_of(const CUstreamBatchMemOpParams& each) noexcept { return each.waitValue; }

bool is_address(const CUstreamBatchMemOpParams& each, moment when) {
  const CUdeviceptr address = value_of(each).address;
  if (address % width_of(each) != 0) return false;
  const pointer_kind kind = classify(address, width_of(each), when);
  return kind == pointer_kind::device || kind == pointer_kind::pinned_host;
}

bool is_valid(const CUstreamBatchMemOpParams& each, moment when) {
  if (is_wait(each)) return value_of(each).flags <= wait_kinds && is_address(each, when);
  if (is_write(each))
    return (value_of(each).flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) == 0 &&
           is_address(each, when);
  return each.operation == CU_STREAM_MEM_OP_BARRIER &&
         each.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
}

template <class Value>
bool holds(unsigned kind, Value found, Value asked) noexcept {
  switch (kind) {
    case CU_STREAM_WAIT_VALUE_GEQ:  // wraps around
      return static_cast<std::make_signed_t<Value>>(found - asked) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == asked;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & asked) != 0;
    default:
      return static_cast<Value>(~(found | asked)) != 0;
  }
}

template <class Value>
CUresult run_one(const CUstreamBatchMemOpParams& each) {
  const auto& what = value_of(each);
  const auto value = static_cast<Value>(what.value64);
  const auto is_there = [&] { return is_address(each, moment::run); };
  const auto at = [&] { return std::atomic_ref(*reinterpret_cast<Value*>(what.address)); };
  if (!is_there()) return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (is_write(each)) {
    at().store(value);
    return CUDA_SUCCESS;
  }
  while (!holds(what.flags & wait_kinds, at().load(), value)) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (!is_there()) return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  return CUDA_SUCCESS;
}

CUresult submit_batch(CUstream on, unsigned count, CUstreamBatchMemOpParams* operations,
                      unsigned flags) {
  std::shared_ptr<stream> where;
  if (const CUresult result = find_stream(on, where)) return result;
  batch_operation batch;
  const moment when = is_capturing(*where) ? moment::node_made : moment::call;
  if (const CUresult result = read_batch({nullptr, count, operations, flags}, when, batch))
    return result;
  return submit(*where, {where->owner->handle, std::move(batch)});
}

CUresult submit_one(CUstream on, CUstreamBatchMemOpType kind, CUdeviceptr address, cuuint64_t value,
                    unsigned flags) {
  CUstreamBatchMemOpParams one{};
  one.waitValue.operation = kind;
  one.waitValue.address = address;
  one.waitValue.value64 = value;
  one.waitValue.flags = flags;
  return submit_batch(on, 1, &one, 0);
}

}  // namespace

CUresult read_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS& from, moment when, batch_operation& made) {
  if (!from.paramArray || from.count == 0 || from.count > most_operations || from.flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  made.operations.assign(from.paramArray, from.paramArray + from.count);
  if (std::ranges::any_of(made.operations, is_flush)) return CUDA_ERROR_NOT_SUPPORTED;
  const auto fits = [&](const CUstreamBatchMemOpParams& each) { return is_valid(each, when); };
  return std::ranges::all_of(made.operations, fits) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult run_batch(const batch_operation& batch) {
  for (const CUstreamBatchMemOpParams& each : batch.operations) {
    if (!is_wait(each) && !is_write(each)) continue;
    const bool is_wide = width_of(each) == sizeof(cuuint64_t);
    if (const CUresult result = is_wide ? run_one<cuuint64_t>(each) : run_one<cuuint32_t>(each))
      return result;
  }
  return CUDA_SUCCESS;
}

// The way to wait may differ.
bool same_batch_shape(const batch_operation& left, const batch_operation& right) noexcept {
  return std::ranges::equal(left.operations, right.operations, [](const auto& a, const auto& b) {
    if (a.operation != b.operation) return false;
    if (is_wait(a)) return true;
    if (is_write(a)) return a.writeValue.flags == b.writeValue.flags;
    return a.memoryBarrier.flags == b.memoryBarrier.flags;
  });
}

bool same_batch(const batch_operation& left, const batch_operation& right) noexcept {
  return same_batch_shape(left, right) &&
         std::ranges::equal(left.operations, right.operations, [](const auto& a, const auto& b) {
           if (!is_wait(a) && !is_write(a)) return true;
           return value_of(a).address == value_of(b).address &&
                  value_of(a).value64 == value_of(b).value64 &&
                  value_of(a).flags == value_of(b).flags;
         });
}

CUresult impl::stream_batch_mem_op(CUstream on, unsigned count,
                                   CUstreamBatchMemOpParams* operations, unsigned flags) {
  return submit_batch(on, count, operations, flags);
}

CUresult impl::stream_wait_value32(CUstream on, CUdeviceptr address, cuuint32_t value,
                                   unsigned flags) {
  return submit_one(on, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

CUresult impl::stream_write_value32(CUstream on, CUdeviceptr address, cuuint32_t value,
                                    unsigned flags) {
  return submit_one(on, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}

CUresult impl::stream_wait_value64(CUstream on, CUdeviceptr address, cuuint64_t value,
                                   unsigned flags) {
  return submit_one(on, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult impl::stream_write_value64(CUstream on, CUdeviceptr address, cuuint64_t value,
                                    unsigned flags) {
  return submit_one(on, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

}  // namespace cugraft_sim
