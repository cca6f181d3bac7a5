// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "capture.hpp"
#include "context.hpp"
#include "copy_fill.hpp"
#include "entry.hpp"
#include "memory.hpp"
#include "stream.hpp"
#include "work_compare.hpp"

// Copies and fills that are enqueued.

namespace cugraft_sim {
namespace {

bool is_pageable(CUmemorytype type, const void* host, CUdeviceptr unified) {
  if (type == CU_MEMORYTYPE_DEVICE) return false;
  const auto address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : unified;
  return classify(address, 1, moment::call) == pointer_kind::pageable_host;
}

bool touches_pageable_memory(const CUDA_MEMCPY3D& copy) {
  return is_pageable(copy.srcMemoryType, copy.srcHost, copy.srcDevice) ||
         is_pageable(copy.dstMemoryType, copy.dstHost, copy.dstDevice);
}

CUresult copy_async(const CUDA_MEMCPY3D& copy, CUstream on) {
  std::shared_ptr<stream> where;
  if (const CUresult result = find_stream(on, where)) return result;
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return CUDA_SUCCESS;
  const moment when = is_capturing(*where) ? moment::node_made : moment::call;
  if (const CUresult result = check_copy(copy, when)) return result;
  const bool enqueued_only = is_capturing(*where) || !touches_pageable_memory(copy);
  const copy_operation work{copy, !is_one_dimensional(copy)};
  const CUresult result = submit(*where, {where->owner->handle, work});
  // Of pageable memory the call returns only when the copy is done ("API synchronization
  // behavior").
  return result != CUDA_SUCCESS || enqueued_only ? result : wait_for_stream(*where);
}

// One row between the given kinds of memory.
struct row_copy {
  CUDA_MEMCPY3D all{};

  explicit row_copy(std::size_t size) {
    all.WidthInBytes = size;
    all.Height = 1;
    all.Depth = 1;
  }
  row_copy& from(CUmemorytype type, CUdeviceptr address) {
    all.srcMemoryType = type;
    all.srcDevice = address;
    return *this;
  }
  row_copy& from(const void* host) {
    all.srcMemoryType = CU_MEMORYTYPE_HOST;
    all.srcHost = host;
    return *this;
  }
  row_copy& to(CUmemorytype type, CUdeviceptr address) {
    all.dstMemoryType = type;
    all.dstDevice = address;
    return *this;
  }
  row_copy& to(void* host) {
    all.dstMemoryType = CU_MEMORYTYPE_HOST;
    all.dstHost = host;
    return *this;
  }
};

CUDA_MEMCPY3D with_depth(const CUDA_MEMCPY2D& copy) {
  CUDA_MEMCPY3D all{};
  all.srcXInBytes = copy.srcXInBytes;
  all.srcY = copy.srcY;
  all.srcMemoryType = copy.srcMemoryType;
  all.srcHost = copy.srcHost;
  all.srcDevice = copy.srcDevice;
  all.srcArray = copy.srcArray;
  all.srcPitch = copy.srcPitch;
  all.dstXInBytes = copy.dstXInBytes;
  all.dstY = copy.dstY;
  all.dstMemoryType = copy.dstMemoryType;
  all.dstHost = copy.dstHost;
  all.dstDevice = copy.dstDevice;
  all.dstArray = copy.dstArray;
  all.dstPitch = copy.dstPitch;
  all.WidthInBytes = copy.WidthInBytes;
  all.Height = copy.Height;
  all.Depth = 1;
  return all;
}

CUresult fill_async(const CUDA_MEMSET_NODE_PARAMS& fill, CUstream on) {
  std::shared_ptr<stream> where;
  if (const CUresult result = find_stream(on, where)) return result;
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  // Into a capture an H200 takes any destination; whether there is memory shows in the launch.
  const CUresult checked =
      is_capturing(*where) ? check_fill_form(fill) : check_fill(fill, moment::call);
  if (checked != CUDA_SUCCESS) return checked;
  return submit(*where, {where->owner->handle, fill_operation{fill}});
}

CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr destination, unsigned value, unsigned element_size,
                                std::size_t width, std::size_t height = 1, std::size_t pitch = 0) {
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = destination;
  fill.pitch = pitch;
  fill.value = value;
  fill.elementSize = element_size;
  fill.width = width;
  fill.height = height;
  return fill;
}

}  // namespace

CUresult impl::memcpy_async(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream on) {
  return copy_async(
      row_copy(size).from(CU_MEMORYTYPE_UNIFIED, from).to(CU_MEMORYTYPE_UNIFIED, to).all, on);
}

CUresult impl::memcpy_htod_async(CUdeviceptr to, const void* from, std::size_t size, CUstream on) {
  return copy_async(row_copy(size).from(from).to(CU_MEMORYTYPE_DEVICE, to).all, on);
}

CUresult impl::memcpy_dtoh_async(void* to, CUdeviceptr from, std::size_t size, CUstream on) {
  return copy_async(row_copy(size).from(CU_MEMORYTYPE_DEVICE, from).to(to).all, on);
}

CUresult impl::memcpy_dtod_async(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream on) {
  return copy_async(
      row_copy(size).from(CU_MEMORYTYPE_DEVICE, from).to(CU_MEMORYTYPE_DEVICE, to).all, on);
}

// An address says itself where it is, so the contexts may be null. A capture does not take the
// call, whatever access there is (H200): copies between devices are captured by the other calls.
CUresult impl::memcpy_peer_async(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                 CUcontext from_context, std::size_t size, CUstream on) {
  for (const CUcontext named : {to_context, from_context}) {
    std::shared_ptr<context> found;
    if (named)
      if (const CUresult result = find_context(named, found)) return result;
  }
  std::shared_ptr<stream> where;
  if (const CUresult result = find_stream(on, where)) return result;
  if (const CUresult result = capture_guard_stream(*where)) return result;
  return memcpy_dtod_async(to, from, size, on);
}

CUresult impl::memcpy_2d_async(const CUDA_MEMCPY2D* copy, CUstream on) {
  return copy ? copy_async(with_depth(*copy), on) : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::memcpy_3d_async(const CUDA_MEMCPY3D* copy, CUstream on) {
  return copy ? copy_async(*copy, on) : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::memset_d8_async(CUdeviceptr to, unsigned char value, std::size_t count,
                               CUstream on) {
  return fill_async(fill_of(to, value, 1, count), on);
}

CUresult impl::memset_d16_async(CUdeviceptr to, unsigned short value, std::size_t count,
                                CUstream on) {
  return fill_async(fill_of(to, value, 2, count), on);
}

CUresult impl::memset_d32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream on) {
  return fill_async(fill_of(to, value, 4, count), on);
}

CUresult impl::memset_d2d8_async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                                 std::size_t width, std::size_t height, CUstream on) {
  return fill_async(fill_of(to, value, 1, width, height, pitch), on);
}

CUresult impl::memset_d2d16_async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                  std::size_t width, std::size_t height, CUstream on) {
  return fill_async(fill_of(to, value, 2, width, height, pitch), on);
}

CUresult impl::memset_d2d32_async(CUdeviceptr to, std::size_t pitch, unsigned value,
                                  std::size_t width, std::size_t height, CUstream on) {
  return fill_async(fill_of(to, value, 4, width, height, pitch), on);
}

}  // namespace cugraft_sim
