// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda_api.hpp"
#include "entry.hpp"

namespace cugraft_sim {

struct capture_sequence;

/// Check mode: misuse that a driver answers with a code, or not at all, stops the process with a
/// sentence on stderr. While it is off, nothing here does anything.
namespace check {

void set(bool on) noexcept;
bool is_on() noexcept;

/// The function that the calling thread is in, for the sentences.
class function_scope {
 public:
  explicit function_scope(function_id id) noexcept;
  ~function_scope();
  function_scope(const function_scope&) = delete;
  function_scope& operator=(const function_scope&) = delete;

 private:
  function_id outer_;
};

/// A handle was used that stood for something which is gone.
void dead_handle(const char* kind, std::uintptr_t id) noexcept;

/// The calling thread is in a host function, a kernel or a destructor of a user object, and calls
/// the driver.
void call_from_callback() noexcept;

/// A capture begins: it has to be over when its thread and the process end.
void begun_capture();

/// The stream on which a capture began is destroyed before its end.
void capture_without_stream(const capture_sequence& capture) noexcept;

/// What messages call the objects of a handle type.
template <class Handle>
inline constexpr const char* kind_of = "object";
template <>
inline constexpr const char* kind_of<CUstream> = "stream";
template <>
inline constexpr const char* kind_of<CUevent> = "event";
template <>
inline constexpr const char* kind_of<CUgraph> = "graph";
template <>
inline constexpr const char* kind_of<CUgraphNode> = "node";
template <>
inline constexpr const char* kind_of<CUgraphExec> = "executable graph";
template <>
inline constexpr const char* kind_of<CUlibrary> = "library";
template <>
inline constexpr const char* kind_of<CUkernel> = "kernel";
template <>
inline constexpr const char* kind_of<CUfunction> = "function";
template <>
inline constexpr const char* kind_of<CUuserObject> = "user object";

}  // namespace check
}  // namespace cugraft_sim
