// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/structure.hpp"
#include "model/values.hpp"

/// Values that the tests of the model are made of.
namespace cugraft::model {

template <class Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

/// A layout with one parameter per size, aligned to its size.
inline std::shared_ptr<const kernel_layout> layout_of(std::string name,
                                                      std::initializer_list<std::size_t> sizes) {
  kernel_layout result{std::move(name), {}, 0};
  for (const std::size_t size : sizes) {
    const std::size_t offset = (result.bytes + size - 1) / size * size;
    result.parameters.push_back({offset, size});
    result.bytes = offset + size;
  }
  return std::make_shared<const kernel_layout>(std::move(result));
}

/// A kernel of `layout` with arguments of zeros.
inline kernel_value kernel_of(std::uintptr_t function,
                              std::shared_ptr<const kernel_layout> layout) {
  kernel_value result;
  result.function = handle<CUfunction>(function);
  result.arguments.assign_zeros(layout->bytes);
  result.layout = std::move(layout);
  result.grid = dim3(64);
  result.block = dim3(128);
  return result;
}

template <class T>
void set_argument(kernel_value& kernel, std::size_t index, T value) {
  std::memcpy(kernel.arguments.data() + kernel.layout->parameters[index].offset, &value,
              sizeof value);
}

/// void scale(float* data, float factor), at 0x51.
inline kernel_value scale_kernel() {
  static const auto layout = layout_of("scale", {8, 4});
  kernel_value result = kernel_of(0x51, layout);
  set_argument(result, 0, std::uint64_t{0x302000000});
  set_argument(result, 1, 1.0F);
  return result;
}

/// 64 bytes from host to device.
inline copy_value row_copy() {
  copy_value result;
  result.source.memory_kind = memory_kind_host;
  result.source.address = 0x7f0000001000;
  result.destination.memory_kind = memory_kind_device;
  result.destination.address = 0x302000000;
  result.width_bytes = 64;
  return result;
}

/// 16 rows of 64 bytes on the device.
inline copy_value block_copy() {
  copy_value result = row_copy();
  result.source.memory_kind = memory_kind_device;
  result.source.pitch = 256;
  result.destination.pitch = 128;
  result.height = 16;
  return result;
}

/// 100 floats of 0.
inline fill_value row_fill() { return {0x302000000, 0, 4, 100, 1, 0}; }

/// 8 rows of 100 bytes of 7.
inline fill_value block_fill() { return {0x302000000, 7, 1, 100, 8, 256}; }

inline node_value node_of(kernel_value kernel) {
  return {node_kind::kernel, std::move(kernel), {}};
}
inline node_value node_of(copy_value copy) { return {node_kind::copy, copy, {}}; }
inline node_value node_of(fill_value fill) { return {node_kind::fill, fill, {}}; }
inline node_value node_of(host_value host) { return {node_kind::host, host, {}}; }
inline node_value node_of(event_value event) { return {node_kind::event_record, event, {}}; }
inline node_value node_of(opaque_value, node_kind kind = node_kind::semaphore_wait) {
  return {kind, opaque_value{}, {}};
}

inline launch_attribute attribute_of(unsigned id, std::initializer_list<unsigned char> bytes) {
  launch_attribute result{id};
  std::memcpy(result.value.data(), bytes.begin(), bytes.size());
  return result;
}

/// A node of a structure: its kind and what it depends on.
struct plan {
  node_kind kind = node_kind::kernel;
  std::vector<dependency> dependencies;
};

inline structure structure_of(const std::vector<plan>& nodes) {
  structure result;
  for (const plan& node : nodes) result.append(node.kind, node.dependencies);
  return result;
}

inline constexpr edge_data programmatic{1, 0, 1};

}  // namespace cugraft::model
