// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include "cugraft/graph.hpp"
#include "driver/table.hpp"
#include "model/values.hpp"

// Between the driver's parameter structs and the model's values, both ways.

namespace cugraft {

/// A driver call's result with the function's name, for code that decides later what it means.
struct call_result {
  CUresult code = CUDA_SUCCESS;
  const char* function = "";
  bool ok() const noexcept { return code == CUDA_SUCCESS; }
};

/// Layouts of kernels by function. Kept for one session only: a function's handle may come back as
/// another function after its module was unloaded.
class layout_cache {
 public:
  explicit layout_cache(const driver_table& table) noexcept : table_(&table) {}

  /// What cugraft knows already; makes no driver call.
  const std::shared_ptr<const model::kernel_layout>& of(const kernel& kernel);

  /// Asks the driver for a function that it has not met.
  /// @throws cuda_error
  const std::shared_ptr<const model::kernel_layout>& of(CUfunction function);

 private:
  const driver_table* table_;
  std::unordered_map<CUfunction, std::shared_ptr<const model::kernel_layout>> layouts_;
};

/// The function of a kernel node's parameters; a kernel without a function stands for itself.
CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS& params) noexcept;

/// The arguments of a kernel node, packed; both forms, `kernelParams` and `extra`.
model::argument_bytes packed_arguments(void* const* kernel_params, void* const* extra,
                                       const model::kernel_layout& layout);

/// The same into bytes that are there.
void pack_arguments_into(model::argument_bytes& packed, void* const* kernel_params,
                         void* const* extra, const model::kernel_layout& layout);

model::copy_value copy_value_of(const CUDA_MEMCPY3D& copy) noexcept;

/// Of either version of the driver's struct.
template <class Fill>
model::fill_value fill_value_of(const Fill& fill) noexcept {
  return {.destination = static_cast<std::uintptr_t>(fill.dst),
          .value = fill.value,
          .element_size = fill.elementSize,
          .width = fill.width,
          .height = fill.height,
          .pitch = fill.pitch};
}

/// What a node of a driver graph does; its launch attributes as far as `attributes` says.
/// @throws cuda_error
model::node_value read_node(const driver_table& table, CUgraphNode node, layout_cache& layouts,
                            attribute_check attributes);

/// The launch attributes of a kernel node.
/// @throws cuda_error
model::attributes read_attributes(const driver_table& table, CUgraphNode node,
                                  attribute_check attributes);

/// Sets the parameters of a graph's node, launch attributes not among them. Never throws.
call_result write_node(const driver_table& table, CUgraphNode node,
                       const model::node_value& value) noexcept;

/// The same for an executable, where `context` is that of copies and fills.
call_result write_exec_node(const driver_table& table, CUgraphExec exec, CUgraphNode node,
                            const model::node_value& value, CUcontext context) noexcept;

}  // namespace cugraft
