// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "cugraft/detail/export.hpp"
#include "cugraft/stream.hpp"

// Allocation and release run in relaxed capture mode, so that neither ends anybody's capture
// (driver rules, 2.3).

namespace cugraft {

namespace detail {
struct argument_access;
}  // namespace detail

/// Owns device memory, and keeps its context. As a kernel argument it passes its address.
///
/// Thread safety: one thread at a time for changes; the memory is the caller's to order.
class CUGRAFT_API device_buffer {
 public:
  /// Allocates `bytes` in `context`. Calls `cuMemAlloc`.
  /// @throws usage_error  for 0 bytes
  /// @throws cuda_error
  device_buffer(const context& context, std::size_t bytes);

  /// Allocates `bytes` in the order of `stream`, which must outlive the buffer; it is freed in that
  /// order too. Calls `cuMemAllocAsync`.
  /// @throws usage_error  for 0 bytes; if the stream is capturing: `graph_builder::allocate` is for
  /// that
  /// @throws cuda_error
  device_buffer(stream_ref stream, std::size_t bytes);

  /// @post `other` is empty
  device_buffer(device_buffer&& other) noexcept;
  device_buffer& operator=(device_buffer&& other) noexcept;

  /// Frees the memory. A failure goes to the report function.
  ~device_buffer();

  /// The device address; null if empty.
  void* data() const noexcept { return data_; }

  /// In bytes; 0 if empty.
  std::size_t size() const noexcept { return size_; }

  /// The device address as a pointer to `T`.
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

  /// Whether there is memory.
  explicit operator bool() const noexcept { return data_ != nullptr; }

  /// Gives the address up. @post `*this` is empty
  [[nodiscard]] void* release() noexcept;

  /// Frees the memory; a failure goes to the report function. @post `*this` is empty
  void reset() noexcept;

  /// Frees the memory. @post `*this` is empty, also when it throws
  /// @throws cuda_error
  void close();

 private:
  friend struct detail::access;
  friend struct detail::argument_access;

  void* data_ = nullptr;
  std::size_t size_ = 0;
  CUstream stream_ = nullptr;  // of the order in which the memory is freed, if it is stream-ordered
  std::shared_ptr<const detail::context_state> context_;
};

/// Owns page-locked host memory, and keeps its context.
///
/// Thread safety: as `device_buffer`.
class CUGRAFT_API host_buffer {
 public:
  /// Allocates `bytes` for `context`. Calls `cuMemHostAlloc`.
  /// @throws usage_error  for 0 bytes
  /// @throws cuda_error
  host_buffer(const context& context, std::size_t bytes);

  /// @post `other` is empty
  host_buffer(host_buffer&& other) noexcept;
  host_buffer& operator=(host_buffer&& other) noexcept;

  /// Frees the memory. A failure goes to the report function.
  ~host_buffer();

  /// The host address; null if empty.
  void* data() const noexcept { return data_; }

  /// In bytes; 0 if empty.
  std::size_t size() const noexcept { return size_; }

  /// The host address as a pointer to `T`.
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

  /// Whether there is memory.
  explicit operator bool() const noexcept { return data_ != nullptr; }

  /// Gives the address up, to be freed with `cuMemFreeHost`. @post `*this` is empty
  [[nodiscard]] void* release() noexcept;

  /// Frees the memory; a failure goes to the report function. @post `*this` is empty
  void reset() noexcept;

  /// Frees the memory. @post `*this` is empty, also when it throws
  /// @throws cuda_error
  void close();

 private:
  friend struct detail::access;

  void* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<const detail::context_state> context_;
};

/// Frees memory that a launch of a graph left, in the order of `stream`. Calls `cuMemFreeAsync`.
/// @throws usage_error  if `pointer` is null, or the stream is capturing: `graph_builder::free` is
///                      for that
/// @throws cuda_error
CUGRAFT_API void free_async(stream_ref stream, void* pointer);

/// Memory of allocation nodes on one device, in bytes.
struct graph_memory {
  std::uint64_t used = 0;       ///< by allocations that live
  std::uint64_t used_high = 0;  ///< the most so far
  std::uint64_t reserved = 0;   ///< kept for launches to come, what is used included
  std::uint64_t reserved_high = 0;
};

/// What the graphs on the context's device use, of all the process. Calls
/// `cuDeviceGetGraphMemAttribute`.
/// @throws cuda_error
CUGRAFT_API graph_memory graph_memory_usage(const context& context);

/// Gives memory that is reserved and not used back to the device. Calls `cuDeviceGraphMemTrim`.
/// @throws cuda_error
CUGRAFT_API void trim_graph_memory(const context& context);

static_assert(!std::is_copy_constructible_v<device_buffer>);
static_assert(std::is_nothrow_move_assignable_v<device_buffer>);
static_assert(!std::is_copy_constructible_v<host_buffer>);
static_assert(std::is_nothrow_move_assignable_v<host_buffer>);

}  // namespace cugraft
