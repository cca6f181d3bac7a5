// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "cugraft/detail/export.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/memory.hpp"

namespace cugraft {

struct launch_config;

namespace detail {

/// Where one argument of a launch lies, and its size in bytes.
struct argument {
  const void* data;
  std::size_t size;
};

inline constexpr void* null_pointer = nullptr;

struct argument_access {
  static argument of(const device_buffer& buffer) noexcept {
    return {&buffer.data_, sizeof buffer.data_};
  }
};

template <class T>
inline constexpr bool is_reference_wrapper = false;
template <class T>
inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

/// Takes what a kernel can be given by value, `nullptr` and buffers as pointers, and says of the
/// rest why not. The result points into `value`.
template <class T>
argument argument_of(const T& value) noexcept {
  using V = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<V, std::nullptr_t>) {
    return {&null_pointer, sizeof null_pointer};
  } else if constexpr (std::is_same_v<V, device_buffer>) {
    return argument_access::of(value);
  } else {
    static_assert(
        !std::is_array_v<T>,
        "kernel argument is an array: pass a device pointer, or a struct that holds the array");
    static_assert(!std::is_function_v<T> && !std::is_member_pointer_v<V>,
                  "kernel argument is a function or a pointer to member");
    static_assert(!is_reference_wrapper<V>,
                  "kernel argument is a reference_wrapper: the kernel would get a host address");
    static_assert(std::is_trivially_copyable_v<V>, "kernel argument is not trivially copyable");
    return {std::addressof(value), sizeof(V)};
  }
}

/// The launch behind all forms; `check_sizes` is false where a typed kernel was checked before.
CUGRAFT_API void launch(stream_ref stream, const launch_config& config, const kernel& kernel,
                        std::span<const argument> arguments, bool check_sizes);

}  // namespace detail
}  // namespace cugraft
