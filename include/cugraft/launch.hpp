// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "cugraft/detail/argument.hpp"
#include "cugraft/detail/export.hpp"
#include "cugraft/detail/host_function.hpp"
#include "cugraft/error.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/memory.hpp"
#include "cugraft/stream.hpp"

// Each call enqueues on its stream, or adds a node where the stream is capturing. In a session the
// call is seen by every engine, also from another thread. In a session that has failed it is
// recorded for the failure's report and puts nothing on any stream.

namespace cugraft {

/// A type with unsigned members x, y and z, as the CUDA runtime's `dim3` and `uint3`.
template <class T>
concept dim3_like = requires(const T& value) {
  requires std::same_as<decltype(value.x + value.y + value.z), unsigned>;
};

namespace detail {

template <std::integral I>
constexpr unsigned extent(I value) {
  if (!std::in_range<unsigned>(value)) throw usage_error("cugraft::dim3: extent out of range");
  return static_cast<unsigned>(value);
}

}  // namespace detail

/// Extents of a grid, a block or a cluster: from `256`, `{8, 8}` or a `dim3_like`.
struct dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  constexpr dim3() = default;

  /// From integers of any type; floating point does not compile.
  /// @throws usage_error  for a value that is negative or does not fit
  template <std::integral X, std::integral Y = unsigned, std::integral Z = unsigned>
  constexpr dim3(X vx, Y vy = 1u, Z vz = 1u)
      : x(detail::extent(vx)), y(detail::extent(vy)), z(detail::extent(vz)) {}

  template <dim3_like D>
  constexpr dim3(const D& extents) : x(extents.x), y(extents.y), z(extents.z) {}

  friend bool operator==(const dim3&, const dim3&) = default;
};

/// A `CUlaunchAttribute`: the driver's id, and the value in the driver's form, first byte first.
struct alignas(8) launch_attribute {
  unsigned id = 0;
  unsigned pad = 0;
  std::array<std::byte, 64> value{};
};

/// How a kernel is launched.
struct launch_config {
  dim3 grid{};                              ///< in blocks
  dim3 block{};                             ///< in threads
  unsigned shared_memory_bytes = 0;         ///< dynamic, per block
  std::optional<dim3> cluster{};            ///< in blocks; each extent divides that of the grid
  bool cooperative = false;                 ///< all blocks run at once
  std::optional<int> priority{};            ///< if unset, that of the stream
  bool programmatic_serialization = false;  ///< may start before the kernel ahead has ended
  std::span<const launch_attribute> attributes{};  ///< any other, by the driver's id
};

/// A condition of a graph, made by `graph_builder::create_condition`. It passes to a kernel as its
/// handle, a `cudaGraphConditionalHandle`.
struct condition {
  std::uint64_t handle = 0;

  friend bool operator==(condition, condition) = default;
};

/// Launches `kernel` with `arguments` by value; a `device_buffer` and `nullptr` pass as pointers.
/// Calls `cuLaunchKernelEx`.
///
/// What cannot be an argument does not compile: arrays, functions, `std::reference_wrapper`, types
/// that are not trivially copyable.
/// In a session the driver ends the capture where it refuses a launch (more shared memory than the
/// kernel asked for, say): the session has then failed, and its end tells of it.
/// @throws usage_error  if the count or a size does not fit the kernel's layout, an extent is 0, a
///                      block has more threads than any device takes, or the kernel or a condition
///                      is of another driver or session
/// @throws cuda_error  outside a session, or if the capture was not touched
template <class... Args>
void launch(stream_ref stream, const launch_config& config, const kernel& kernel,
            const Args&... arguments) {
  const std::array<detail::argument, sizeof...(Args)> list{detail::argument_of(arguments)...};
  detail::launch(stream, config, kernel, list, true);
}

/// As above; arguments convert to the kernel's parameter types as in a function call.
template <class... P>
void launch(stream_ref stream, const launch_config& config, const typed_kernel<void(P...)>& kernel,
            std::type_identity_t<P>... arguments) {
  const std::array<detail::argument, sizeof...(P)> list{detail::argument_of(arguments)...};
  detail::launch(stream, config, kernel.untyped(), list, false);
}

/// Launches with one pointer per argument, as the `kernelParams` of `cuLaunchKernel`. Each must
/// point to as many bytes as the layout says: only the count can be checked.
/// @throws usage_error  if the count does not fit
/// @throws cuda_error
CUGRAFT_API void launch_raw(stream_ref stream, const launch_config& config, const kernel& kernel,
                            std::span<void* const> arguments);

/// Launches with all arguments in one block in the kernel's layout.
/// @throws usage_error  if the block is smaller than the layout
/// @throws cuda_error
CUGRAFT_API void launch_packed(stream_ref stream, const launch_config& config, const kernel& kernel,
                               std::span<const std::byte> arguments);

/// Copies `bytes`; either address may be of device, managed or host memory. Calls `cuMemcpyAsync`.
/// @throws usage_error  for 0 bytes
/// @throws cuda_error
CUGRAFT_API void copy_async(stream_ref stream, void* dst, const void* src, std::size_t bytes);

/// Copies `height` rows of `width_bytes`; pitches are in bytes from row to row.
/// Calls `cuMemcpy2DAsync`.
///
/// One row is as by `copy_async`. An executable cannot be given another copy of more rows: such a
/// change needs it instantiated anew (driver facts, Setters).
/// @throws usage_error  for no rows or 0 bytes, or a pitch that is less than a row
/// @throws cuda_error
CUGRAFT_API void copy_2d_async(stream_ref stream, void* dst, std::size_t dst_pitch, const void* src,
                               std::size_t src_pitch, std::size_t width_bytes, std::size_t height);

/// Sets `count` elements of `element_size` bytes (1, 2 or 4) to `value`.
/// Calls `cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`.
/// @throws usage_error  for 0 elements, another element size, or a value that does not fit one
/// @throws cuda_error
CUGRAFT_API void fill_async(stream_ref stream, void* dst, std::uint32_t value, std::size_t count,
                            unsigned element_size = 1);

/// Sets `height` rows of `width` elements; `pitch` is in bytes from row to row.
/// Calls `cuMemsetD2D8Async` and its likes.
///
/// One row is as by `fill_async`. Of more rows an executable takes another value and destination,
/// but no other shape: that needs it instantiated anew (driver facts, Setters).
/// @throws usage_error  as `fill_async`; also for no rows, or a pitch that is less than a row or no
///                      multiple of the element's size
/// @throws cuda_error
CUGRAFT_API void fill_2d_async(stream_ref stream, void* dst, std::size_t pitch, std::uint32_t value,
                               std::size_t width, std::size_t height, unsigned element_size = 1);

/// A function for the host to run in stream order: any callable without parameters, owned, or a
/// `CUhostFn`.
///
/// In a re-capture two functions are the same, and either may run from then on, if they are of one
/// type that can be called as const and are equal by `==`, or have no `==` and the same bytes
/// (trivially copyable types only). Any others count as a change, which can be patched.
class CUGRAFT_API host_function {
 public:
  /// Owns a decayed copy of `function`, which is destroyed after its last possible run.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, host_function> && std::invocable<std::decay_t<F>&>)
      host_function(F&& function)
      : self_(new std::decay_t<F>(std::forward<F>(function))),
        type_(&detail::host_function_type_of<std::decay_t<F>>) {}

  /// A `CUhostFn` and its data, which is not owned. The same: both pointers are.
  host_function(void (*function)(void*), void* user_data);

  host_function(std::nullptr_t) = delete;

  /// @post `other` is empty: it can be assigned to and destroyed, nothing else
  host_function(host_function&& other) noexcept;
  host_function& operator=(host_function&& other) noexcept;

  ~host_function();

 private:
  friend struct detail::access;

  void* self_ = nullptr;
  const detail::host_function_type* type_ = nullptr;
};

/// Enqueues `function`. Calls `cuLaunchHostFunc`.
///
/// In a session it is as `graph_builder::host_call`; on a stream that others capture it is owned by
/// their graph; else it runs once. It must not call CUDA, and an exception ends in the report
/// function.
/// @throws usage_error  if `function` is empty
/// @throws cuda_error
CUGRAFT_API void host_call(stream_ref stream, host_function function);

static_assert(sizeof(launch_attribute) == 72 && alignof(launch_attribute) == 8);
static_assert(sizeof(condition) == 8 && std::is_trivially_copyable_v<condition>);
static_assert(!std::is_copy_constructible_v<host_function>);
static_assert(std::is_nothrow_move_assignable_v<host_function>);

}  // namespace cugraft
