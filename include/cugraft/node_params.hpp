// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cugraft/change_report.hpp"
#include "cugraft/detail/export.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/launch.hpp"
#include "cugraft/native.hpp"

// What single nodes do, as they are asked and told; see `node_ref` and `exec_node_ref`.

namespace cugraft {

/// The launch of a kernel node.
struct kernel_node_params {
  std::string name;  ///< in the image, mangled if the source did that
  CUfunction function = nullptr;
  dim3 grid{};                               ///< in blocks
  dim3 block{};                              ///< in threads
  unsigned shared_memory_bytes = 0;          ///< dynamic, per block
  std::optional<dim3> cluster{};             ///< in blocks
  bool cooperative = false;                  ///< all blocks run at once
  int priority = 0;                          ///< as it was asked for
  std::vector<launch_attribute> attributes;  ///< any other, ascending by id

  /// False where others made the launch: then cluster size, cooperative, priority and `attributes`
  /// are what `attribute_check` had read, and the rest as if it were not set.
  bool has_all_attributes = true;

  std::vector<kernel_parameter> parameters;  ///< in order of declaration
  std::vector<std::byte> arguments;          ///< of all parameters, in the kernel's own layout

  /// The bytes of one argument, valid as long as `arguments`.
  /// @throws usage_error  if there are not so many
  CUGRAFT_API std::span<const std::byte> argument(std::size_t index) const;
};

/// What an address of a copy is of: the values of `CUmemorytype`.
enum class memory_kind {
  host = 1,
  device = 2,
  array = 3,
  unified = 4,  ///< the address itself says it
};

/// One side of a copy.
struct copy_operand {
  memory_kind kind = memory_kind::unified;
  void* address = nullptr;  ///< an array's is its handle
  std::size_t x = 0;        ///< in bytes
  std::size_t y = 0;
  std::size_t z = 0;
  std::size_t level = 0;   ///< of a mipmap
  std::size_t pitch = 0;   ///< bytes from row to row; means nothing for one row
  std::size_t height = 0;  ///< rows from plane to plane; means nothing for one plane
};

/// A copy node: `CUDA_MEMCPY3D`.
struct copy_node_params {
  copy_operand destination{};
  copy_operand source{};
  std::size_t width_bytes = 0;
  std::size_t height = 1;
  std::size_t depth = 1;

  /// The copy that `copy_async` makes: one row.
  static copy_node_params of_row(void* dst, const void* src, std::size_t bytes) noexcept {
    return {{.address = dst}, {.address = const_cast<void*>(src)}, bytes};
  }
};

/// A fill node: `CUDA_MEMSET_NODE_PARAMS`.
struct fill_node_params {
  void* destination = nullptr;
  std::uint32_t value = 0;
  std::size_t width = 0;      ///< in elements
  unsigned element_size = 1;  ///< in bytes: 1, 2 or 4
  std::size_t height = 1;     ///< in rows
  std::size_t pitch = 0;      ///< bytes from row to row; means nothing for one row
};

/// A host node: `CUDA_HOST_NODE_PARAMS`.
struct host_node_params {
  /// As they were given; both null where cugraft was given a callable object.
  void (*function)(void*) = nullptr;
  void* user_data = nullptr;
};

/// What an update of one node did or, where it was refused, what stands against it: an answer.
/// Nothing changed then.
struct node_update {
  bool applied = true;
  verdict effect = verdict::unchanged;  ///< what an executable can do about the change
  std::string_view rule{};      ///< id of the row of `update_rules` that decided; "" if none
  int code = 0;                 ///< the driver's `CUresult`; 0 if it did not refuse
  std::string_view function{};  ///< the driver function that refused

  explicit operator bool() const noexcept { return applied; }
};

}  // namespace cugraft
