// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

#include "cugraft/context.hpp"
#include "cugraft/detail/export.hpp"
#include "cugraft/event.hpp"
#include "cugraft/native.hpp"

namespace cugraft {

/// How a stream is made.
struct stream_options {
  bool blocking =
      false;         ///< synchronises with the legacy stream, which is unusable during a capture
  int priority = 0;  ///< lower numbers go first; the driver clamps it to its range
};

/// Refers to a CUDA stream without owning it: two pointers, passed by value.
///
/// A query of or wait for a capturing stream would end the capture (driver rules, 2.4): it is
/// refused before the driver is called. Thread safety: as the driver's; several threads may use one
/// stream.
class CUGRAFT_API stream_ref {
 public:
  /// Refers to `stream` of `driver`; a null handle is the null stream, a real one. Makes no driver
  /// call.
  stream_ref(const driver& driver, CUstream stream) noexcept;

  /// The legacy default stream; it never captures.
  static stream_ref legacy(const driver& driver) noexcept;

  /// The default stream of whichever thread makes the call.
  static stream_ref per_thread(const driver& driver) noexcept;

  /// The native handle.
  CUstream get() const noexcept { return handle_; }

  /// The driver that the stream belongs to.
  driver get_driver() const noexcept;

  /// The stream's context, borrowed. Calls `cuStreamGetCtx`.
  /// @throws cuda_error
  context get_context() const;

  /// Records `event` behind the work so far. Calls `cuEventRecord`; while capturing that adds no
  /// node: the event then stands for the nodes so far (driver rules, 2.2).
  /// @throws usage_error  if the event is of another driver
  /// @throws cuda_error
  void record(event_ref event) const;

  /// Lets later work wait for `event`. Calls `cuStreamWaitEvent`; a wait for an event that was
  /// recorded in a capture brings the stream into that capture.
  /// @throws usage_error, cuda_error  as `record`
  void wait(event_ref event) const;

  /// Lets later work wait for the work so far on `other`, by an event of the library's own.
  /// @throws usage_error, cuda_error  as `record`
  void wait(stream_ref other) const;

  /// Adds an event record node: each launch of the graph records `event`.
  /// Calls `cuEventRecordWithFlags`.
  /// @throws usage_error  if the stream is not capturing
  /// @throws cuda_error
  void record_external(event_ref event) const;

  /// Adds an event wait node: each launch of the graph waits for `event`. Calls
  /// `cuStreamWaitEvent`.
  /// @throws usage_error, cuda_error  as `record_external`
  void wait_external(event_ref event) const;

  /// Waits on the host for the work so far. Calls `cuStreamSynchronize`.
  /// @throws usage_error  if the stream is capturing
  /// @throws cuda_error   for any other failure, an earlier asynchronous one included
  void synchronize() const;

  /// Whether the work so far is done. Calls `cuStreamQuery`.
  /// @throws usage_error, cuda_error  as `synchronize`
  bool is_done() const;

  /// Whether the stream is part of a capture, a broken one that was not ended included.
  /// Calls `cuStreamIsCapturing`.
  /// @throws cuda_error
  bool is_capturing() const;

  /// Whether both are the same handle of the same driver.
  friend bool operator==(const stream_ref&, const stream_ref&) = default;

 protected:
  friend struct detail::access;

  stream_ref() = default;

  const detail::driver_table* table_ = nullptr;
  CUstream handle_ = nullptr;
};

/// Owns a CUDA stream, and keeps its context.
class CUGRAFT_API stream : public stream_ref {
 public:
  /// Makes a stream in `context`. Calls `cuStreamCreateWithPriority`.
  /// @throws cuda_error
  explicit stream(const context& context, const stream_options& options = {});

  /// Takes over `stream`, which is destroyed with the result. Makes no driver call.
  static stream from_native_handle(const driver& driver, CUstream stream) noexcept;

  /// @post `other` is empty
  stream(stream&& other) noexcept;
  stream& operator=(stream&& other) noexcept;

  /// Destroys the stream; its work still completes. A failure goes to the report function.
  ~stream();

  /// Whether there is a stream.
  explicit operator bool() const noexcept { return owned_; }

  /// Gives the handle up. @post `*this` is empty
  [[nodiscard]] CUstream release() noexcept;

  /// Destroys the stream; a failure goes to the report function. @post `*this` is empty
  void reset() noexcept;

  /// Destroys the stream. @post `*this` is empty, also when it throws
  /// @throws cuda_error
  void close();

 private:
  friend struct detail::access;

  stream() = default;

  std::shared_ptr<const detail::context_state> context_;  // null for a handle that was taken over
  bool owned_ = false;  // a null handle is a real stream, so that it cannot say "empty"
};

static_assert(!std::is_copy_constructible_v<stream> && std::is_nothrow_move_assignable_v<stream>);
static_assert(std::is_trivially_copyable_v<stream_ref> && sizeof(stream_ref) == 2 * sizeof(void*));

}  // namespace cugraft
