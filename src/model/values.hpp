// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cugraft/change_report.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/launch.hpp"
#include "model/argument_bytes.hpp"
#include "model/structure.hpp"

/// A captured graph as plain data. Nothing here calls a driver; handles are compared, never used.
namespace cugraft::model {

/// Name and parameters of a kernel; one object serves all nodes that launch it.
struct kernel_layout {
  std::string name;
  std::vector<kernel_parameter> parameters;
  std::size_t bytes = 0;  ///< one past the last parameter
};

/// Which launch attributes of a node are known: all of a launch that cugraft made, of a foreign one
/// what `attribute_check` had read.
enum class known : unsigned char { nothing, semantic, readable, everything };

/// Launch attributes of a kernel node. Absent and default are the same.
struct attributes {
  known known_to = known::everything;
  std::optional<dim3> cluster{};
  bool cooperative = false;
  int priority = 0;
  /// Any other, ascending by id; where they are `readable` all that the driver let read, defaults
  /// too.
  std::vector<launch_attribute> others{};
};

struct kernel_value {
  CUfunction function = nullptr;
  std::shared_ptr<const kernel_layout> layout{};
  dim3 grid{}, block{};
  unsigned shared_memory_bytes = 0;
  model::attributes attributes{};
  argument_bytes arguments{};  ///< `layout->bytes` in the kernel's own layout
};

/// Values of CUmemorytype.
inline constexpr int memory_kind_host = 1;
inline constexpr int memory_kind_device = 2;
inline constexpr int memory_kind_array = 3;
inline constexpr int memory_kind_unified = 4;

/// One side of a copy.
struct copy_operand {
  int memory_kind = 0;
  std::uintptr_t address = 0;  ///< or the array's handle
  std::size_t x = 0, y = 0, z = 0, level = 0;
  std::size_t pitch = 0, height = 0;  ///< mean something for more than one row, or plane, only

  friend bool operator==(const copy_operand&, const copy_operand&) = default;
};

struct copy_value {
  copy_operand source, destination;
  std::size_t width_bytes = 0, height = 1, depth = 1;
};

struct fill_value {
  std::uintptr_t destination = 0;
  std::uint32_t value = 0;
  unsigned element_size = 1;          ///< bytes
  std::size_t width = 0, height = 1;  ///< elements, rows
  std::size_t pitch = 0;              ///< means something for more than one row only
};

/// A host node as the driver sees it; what a `host_function` holds is the node's owner.
struct host_value {
  std::uintptr_t function = 0;
  std::uintptr_t user_data = 0;
};

struct event_value {
  CUevent event = nullptr;
};

/// An allocation node. What it has is fixed for the node's life (driver rules, 6.1).
struct allocation_value {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  int device = 0;
  bool is_foreign = true;  ///< not made by cugraft's calls; no parameter
};

struct free_value {
  std::uintptr_t address = 0;  ///< of the allocation
  bool is_foreign = true;      ///< as above
};
/// A child graph: all that it does is in its nodes, which are on a level of their own.
struct child_value {};

/// A node without parameters, or of a kind whose parameters this build does not know.
struct opaque_value {};

/// Everything that one node does, and what keeps the things it points to alive.
struct node_value {
  node_kind kind = node_kind::empty;
  std::variant<opaque_value, kernel_value, copy_value, fill_value, host_value, event_value,
               allocation_value, free_value, child_value, conditional_value>
      data{};
  std::shared_ptr<const void> owner{};  ///< a kernel's state, a host function; may be null
};

/// A kernel launch that is compared without being copied.
struct kernel_view {
  CUfunction function = nullptr;
  const kernel_layout* layout = nullptr;
  dim3 grid{}, block{};
  unsigned shared_memory_bytes = 0;
  const model::attributes* attributes = nullptr;  ///< null: all of them known, all default
  std::span<const std::byte> arguments{};
};

/// The same launch, seen without its copy; valid as long as `value`.
kernel_view view_of(const kernel_value& value) noexcept;

/// Whether two layouts are of one kernel, as far as can be told: name and every parameter. A handle
/// alone does not tell, since it may be reused after an unload.
bool same_layout(const kernel_layout* a, const kernel_layout* b) noexcept;

/// Copies argument values, `layout.parameters.size()` pointers as in `kernelParams`, into
/// `layout.bytes` bytes at `packed`. Padding between parameters is set to zero.
void pack_arguments(const kernel_layout& layout, void* const* arguments, std::byte* packed);

}  // namespace cugraft::model
