// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <vector>

#include "capture/session.hpp"

// The driver calls that enqueue work, in the form that sessions and plain streams share.

namespace cugraft {
namespace {

// Launch attributes as the driver wants them; no allocation but for more than a handful.
class native_attributes {
 public:
  explicit native_attributes(const launch_config& config) {
    if (4 + config.attributes.size() > few_.size()) many_.resize(4 + config.attributes.size());
    if (config.cluster) {
      CUlaunchAttributeValue& value = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
      value.clusterDim = {config.cluster->x, config.cluster->y, config.cluster->z};
    }
    if (config.cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
    if (config.priority) add(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority = *config.priority;
    if (config.programmatic_serialization)
      add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
          .programmaticStreamSerializationAllowed = 1;
    for (const launch_attribute& each : config.attributes)
      std::memcpy(&add(static_cast<CUlaunchAttributeID>(each.id)), each.value.data(),
                  each.value.size());
  }

  CUlaunchAttribute* data() noexcept { return many_.empty() ? few_.data() : many_.data(); }
  unsigned count() const noexcept { return count_; }

 private:
  CUlaunchAttributeValue& add(CUlaunchAttributeID id) noexcept {
    CUlaunchAttribute& attribute = data()[count_++];
    attribute.id = id;
    return attribute.value;
  }

  std::array<CUlaunchAttribute, 8> few_{};
  std::vector<CUlaunchAttribute> many_;
  unsigned count_ = 0;
};

static_assert(sizeof(CUlaunchAttribute) == sizeof(launch_attribute));
static_assert(sizeof(CUlaunchAttributeValue) == sizeof(launch_attribute::value));

}  // namespace

call_result driver_launch(const driver_table& table, CUstream stream, const launch_config& config,
                          const kernel& kernel, void* const* arguments) {
  native_attributes attributes(config);
  CUlaunchConfig native = {};
  native.gridDimX = config.grid.x;
  native.gridDimY = config.grid.y;
  native.gridDimZ = config.grid.z;
  native.blockDimX = config.block.x;
  native.blockDimY = config.block.y;
  native.blockDimZ = config.block.z;
  native.sharedMemBytes = config.shared_memory_bytes;
  native.hStream = stream;
  native.attrs = attributes.data();
  native.numAttrs = attributes.count();
  return {table.launch_kernel_ex(&native, kernel.get(), const_cast<void**>(arguments), nullptr),
          "cuLaunchKernelEx"};
}

call_result driver_copy(const driver_table& table, CUstream stream, void* dst, const void* src,
                        std::size_t bytes) noexcept {
  return {table.memcpy_async(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src),
                             bytes, stream),
          "cuMemcpyAsync"};
}

call_result driver_fill(const driver_table& table, CUstream stream, void* dst, std::uint32_t value,
                        std::size_t count, unsigned element_size) noexcept {
  const auto destination = reinterpret_cast<CUdeviceptr>(dst);
  switch (element_size) {
    case 1:
      return {table.memset_d8_async(destination, static_cast<unsigned char>(value), count, stream),
              "cuMemsetD8Async"};
    case 2:
      return {
          table.memset_d16_async(destination, static_cast<unsigned short>(value), count, stream),
          "cuMemsetD16Async"};
    default:
      return {table.memset_d32_async(destination, value, count, stream), "cuMemsetD32Async"};
  }
}

// The addresses say which memory is meant.
call_result driver_copy(const driver_table& table, CUstream stream, const row_copy& rows) noexcept {
  CUDA_MEMCPY2D params = {};
  params.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  params.srcDevice = reinterpret_cast<CUdeviceptr>(rows.src);
  params.srcPitch = rows.src_pitch;
  params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  params.dstDevice = reinterpret_cast<CUdeviceptr>(rows.dst);
  params.dstPitch = rows.dst_pitch;
  params.WidthInBytes = rows.width_bytes;
  params.Height = rows.height;
  return {table.memcpy_2d_async(&params, stream), "cuMemcpy2DAsync"};
}

call_result driver_fill(const driver_table& table, CUstream stream, const row_fill& rows) noexcept {
  const auto destination = reinterpret_cast<CUdeviceptr>(rows.dst);
  switch (rows.element_size) {
    case 1:
      return {
          table.memset_d2d8_async(destination, rows.pitch, static_cast<unsigned char>(rows.value),
                                  rows.width, rows.height, stream),
          "cuMemsetD2D8Async"};
    case 2:
      return {
          table.memset_d2d16_async(destination, rows.pitch, static_cast<unsigned short>(rows.value),
                                   rows.width, rows.height, stream),
          "cuMemsetD2D16Async"};
    default:
      return {table.memset_d2d32_async(destination, rows.pitch, rows.value, rows.width, rows.height,
                                       stream),
              "cuMemsetD2D32Async"};
  }
}

}  // namespace cugraft
