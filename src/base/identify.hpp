// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>

#include "cugraft/native.hpp"

namespace cugraft {

/// A driver object as messages name it. Made at no cost on the good path, told in words on the bad.
struct object {
  const char* kind = nullptr;  ///< null for what is not an object of the driver
  const void* handle = nullptr;

  constexpr object() noexcept = default;
  object(CUcontext context) noexcept : kind("context"), handle(context) {}
  object(CUstream stream) noexcept : kind("stream"), handle(stream) {}
  object(CUevent event) noexcept : kind("event"), handle(event) {}
  object(CUfunction function) noexcept : kind("function"), handle(function) {}
  object(CUkernel kernel) noexcept : kind("kernel"), handle(kernel) {}
  object(CUlibrary library) noexcept : kind("library"), handle(library) {}
  object(CUgraph graph) noexcept : kind("graph"), handle(graph) {}
  object(CUgraphNode node) noexcept : kind("node"), handle(node) {}
  object(CUgraphExec exec) noexcept : kind("executable graph"), handle(exec) {}

  /// For what has no handle type of its own, as "memory" and "device".
  constexpr object(const char* what, const void* where) noexcept : kind(what), handle(where) {}
};

/// "event 0x1"; "no event" for a null handle; "the null stream", "the legacy stream" and "the
/// per-thread stream" for the streams that are no objects of their own.
std::string identify(object object);

/// What the argument of a driver call is in a message: nothing unless it is a handle.
template <class T>
object object_of(const T& argument) noexcept {
  if constexpr (std::is_pointer_v<T> && std::is_constructible_v<object, const T&>) {
    return object(argument);
  } else {
    return object();
  }
}

static_assert(std::is_trivially_copyable_v<object>);

}  // namespace cugraft
