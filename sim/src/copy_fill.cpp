// SPDX-License-Identifier: Apache-2.0
#include "copy_fill.hpp"

#include <cstdint>
#include <cstring>

#include "memory.hpp"

namespace cugraft_sim {
namespace {

// One side of a copy: where its rows lie.
struct side {
  CUmemorytype type;
  std::uint64_t base;
  std::uint64_t x, y, z;
  std::uint64_t pitch, height;

  std::uint64_t row(std::uint64_t line, std::uint64_t slice) const noexcept {
    return base + ((z + slice) * height + y + line) * pitch + x;
  }
};

std::uint64_t address_of(CUmemorytype type, const void* host, CUdeviceptr device) noexcept {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
}

std::uint64_t pitch_of(std::uint64_t given, std::uint64_t x, const CUDA_MEMCPY3D& copy) noexcept {
  return given == 0 ? x + copy.WidthInBytes : given;
}

side source_of(const CUDA_MEMCPY3D& copy) noexcept {
  return {copy.srcMemoryType, address_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice),
          copy.srcXInBytes,   copy.srcY,
          copy.srcZ,          pitch_of(copy.srcPitch, copy.srcXInBytes, copy),
          copy.srcHeight};
}

side destination_of(const CUDA_MEMCPY3D& copy) noexcept {
  return {copy.dstMemoryType, address_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice),
          copy.dstXInBytes,   copy.dstY,
          copy.dstZ,          pitch_of(copy.dstPitch, copy.dstXInBytes, copy),
          copy.dstHeight};
}

// Arrays are not modelled.
bool is_memory_type(CUmemorytype type) noexcept {
  return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
         type == CU_MEMORYTYPE_UNIFIED;
}

// Rows may not overlap; a pitch of 0, which an H200 takes, means rows without a gap.
bool has_room(const side& of, const CUDA_MEMCPY3D& copy) noexcept {
  return of.pitch >= of.x + copy.WidthInBytes &&
         (copy.Depth == 1 || of.height >= of.y + copy.Height);
}

// Pinned memory counts as either type; an H200 takes device memory as host memory too.
CUresult check_side(const side& of, const CUDA_MEMCPY3D& copy, moment when) {
  if (!is_memory_type(of.type) || !has_room(of, copy)) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t begin = of.row(0, 0);
  const std::uint64_t end = of.row(copy.Height - 1, copy.Depth - 1) + copy.WidthInBytes;
  const pointer_kind kind = classify(begin, end - begin, when);
  if (kind == pointer_kind::invalid) return CUDA_ERROR_INVALID_VALUE;
  return of.type == CU_MEMORYTYPE_DEVICE && kind == pointer_kind::pageable_host
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

// Memory may have been released since the copy was enqueued or its node made.
bool is_gone(std::uint64_t address, std::uint64_t size) {
  return classify(address, size, moment::run) == pointer_kind::invalid;
}

template <class Element>
void fill_row(std::uint64_t row, std::size_t count, unsigned value) noexcept {
  const auto element = static_cast<Element>(value);
  auto* const bytes = reinterpret_cast<std::byte*>(row);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(bytes + i * sizeof element, &element, sizeof element);
}

void fill_row(std::uint64_t row, const CUDA_MEMSET_NODE_PARAMS& fill) noexcept {
  switch (fill.elementSize) {
    case 1:
      return fill_row<std::uint8_t>(row, fill.width, fill.value);
    case 2:
      return fill_row<std::uint16_t>(row, fill.width, fill.value);
    default:
      return fill_row<std::uint32_t>(row, fill.width, fill.value);
  }
}

}  // namespace

CUresult check_copy(const CUDA_MEMCPY3D& copy, moment when) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (copy.srcLOD != 0 || copy.dstLOD != 0 || copy.reserved0 || copy.reserved1)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_side(source_of(copy), copy, when)) return result;
  return check_side(destination_of(copy), copy, when);
}

CUresult run_copy(const CUDA_MEMCPY3D& copy) {
  const side source = source_of(copy);
  const side destination = destination_of(copy);
  for (std::uint64_t slice = 0; slice < copy.Depth; ++slice)
    for (std::uint64_t line = 0; line < copy.Height; ++line) {
      const std::uint64_t from = source.row(line, slice);
      const std::uint64_t to = destination.row(line, slice);
      if (is_gone(from, copy.WidthInBytes) || is_gone(to, copy.WidthInBytes))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                   copy.WidthInBytes);
    }
  return CUDA_SUCCESS;
}

CUresult check_fill_form(const CUDA_MEMSET_NODE_PARAMS& fill) {
  const bool known_size = fill.elementSize == 1 || fill.elementSize == 2 || fill.elementSize == 4;
  if (!known_size || fill.width == 0 || fill.height == 0 || fill.dst % fill.elementSize != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (fill.width > SIZE_MAX / fill.elementSize) return CUDA_ERROR_INVALID_VALUE;
  const bool rows_fit = fill.height == 1 || (fill.pitch >= fill.width * fill.elementSize &&
                                             fill.pitch <= SIZE_MAX / fill.height);
  return rows_fit ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_fill(const CUDA_MEMSET_NODE_PARAMS& fill, moment when) {
  if (const CUresult result = check_fill_form(fill)) return result;
  const std::uint64_t last_row = fill.height > 1 ? (fill.height - 1) * fill.pitch : 0;
  const pointer_kind kind = classify(fill.dst, last_row + fill.width * fill.elementSize, when);
  return kind == pointer_kind::device || kind == pointer_kind::pinned_host
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult run_fill(const CUDA_MEMSET_NODE_PARAMS& fill) {
  const std::uint64_t bytes = fill.width * fill.elementSize;
  for (std::size_t line = 0; line < fill.height; ++line) {
    const std::uint64_t row = fill.dst + line * (fill.height > 1 ? fill.pitch : 0);
    if (is_gone(row, bytes)) return CUDA_ERROR_ILLEGAL_ADDRESS;
    fill_row(row, fill);
  }
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
