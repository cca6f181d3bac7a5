// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstring>
#include <type_traits>

namespace cugraft::detail {

/// What can be done with an owned function object whose type is gone. The address of a table stands
/// for the type; `same` is asked about two objects of one table only.
struct host_function_type {
  void (*call)(void*);
  bool (*same)(const void*, const void*);
  void (*destroy)(void*) noexcept;
};

/// Whether `b` may go on in place of `a`. Never where a call can change the object: a launch that
/// is running may be doing that while the two are compared.
template <class F>
bool same_function(const void* a, const void* b) {
  if constexpr (!std::invocable<const F&>) {
    return false;
  } else if constexpr (std::equality_comparable<F>) {
    return *static_cast<const F*>(a) == *static_cast<const F*>(b);
  } else if constexpr (std::is_empty_v<F>) {
    return true;
  } else if constexpr (std::is_trivially_copyable_v<F>) {
    return std::memcmp(a, b, sizeof(F)) == 0;
  } else {
    return false;
  }
}

template <class F>
inline constexpr host_function_type host_function_type_of{
    [](void* function) { (*static_cast<F*>(function))(); }, &same_function<F>,
    [](void* function) noexcept { delete static_cast<F*>(function); }};

}  // namespace cugraft::detail
