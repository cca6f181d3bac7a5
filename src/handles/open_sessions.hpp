// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cugraft/event.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/launch.hpp"
#include "cugraft/stream.hpp"
#include "handles/launch_filter.hpp"

// Which streams and events belong to an open session, process-wide. Guards of the handles ask it,
// and calls that enqueue find their session here, from whichever thread they come.

namespace cugraft {

/// A copy of more than one row; pitches are in bytes from row to row.
struct row_copy {
  void* dst = nullptr;
  std::size_t dst_pitch = 0;
  const void* src = nullptr;
  std::size_t src_pitch = 0;
  std::size_t width_bytes = 0;
  std::size_t height = 0;
};

/// A fill of more than one row of elements; the pitch is in bytes from row to row.
struct row_fill {
  void* dst = nullptr;
  std::size_t pitch = 0;
  std::uint32_t value = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  unsigned element_size = 1;
};

/// What an open session sees of cugraft's calls on its streams. The capture layer implements it.
class recorder {
 public:
  recorder() = default;
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;
  virtual ~recorder();

  /// `arguments` points to the values, as `kernelParams`; their count fits the kernel's layout.
  virtual void launch(stream_ref stream, const launch_config& config, const kernel& kernel,
                      void* const* arguments) = 0;
  virtual void copy(stream_ref stream, void* dst, const void* src, std::size_t bytes) = 0;
  virtual void fill(stream_ref stream, void* dst, std::uint32_t value, std::size_t count,
                    unsigned element_size) = 0;
  virtual void copy_rows(stream_ref stream, const row_copy& rows) = 0;
  virtual void fill_rows(stream_ref stream, const row_fill& rows) = 0;
  virtual void host_call(stream_ref stream, host_function function) = 0;
  virtual void record(stream_ref stream, event_ref event, bool external) = 0;
  virtual void wait(stream_ref stream, event_ref event, bool external) = 0;

  /// The owner of `stream` is about to destroy it.
  virtual void destroying(stream_ref stream) noexcept = 0;

  /// The driver's id of the capture that is open now, by which streams are recognised that foreign
  /// code brought in; 0 if there is none. May be asked on any thread.
  virtual std::uint64_t capture_id() const noexcept = 0;

  /// For the messages of guards: "the capture that began on stream 0x10". Any thread.
  virtual std::string describe() const = 0;
};

/// The open session that has `stream`; null if none has. A stream that foreign code forked into a
/// session's capture is recognised by the capture's id, and belongs to the session from then on.
/// Costs one relaxed load while no session is open.
std::shared_ptr<recorder> recorder_of(stream_ref stream);

/// As `recorder_of`, but asks the table alone, never the driver.
std::shared_ptr<recorder> known_recorder_of(stream_ref stream) noexcept;

/// A session begins on `first`.
/// @throws usage_error  if `first` belongs to another open session
void open_recorder(const std::shared_ptr<recorder>& session, stream_ref first);

/// `stream` belongs to `session` until that closes. The per-thread stream means the calling
/// thread's.
/// @throws usage_error  if `stream` belongs to another open session
void add_stream(const std::shared_ptr<recorder>& session, stream_ref stream);

/// `stream` is destroyed: its handle may come back as another stream.
void forget_stream(stream_ref stream) noexcept;

/// Forgets the streams and events of `session`. Does nothing if it is not open.
void close_recorder(const recorder& session) noexcept;

/// The last record of `event` was made in `session`.
void note_event(const std::shared_ptr<recorder>& session, event_ref event);

/// The last record of `event` was made outside all sessions, or the event is destroyed.
void forget_event(event_ref event) noexcept;

/// The open session in which the last record of `event` was made; null if there is none.
std::shared_ptr<recorder> recorder_of_event(event_ref event);

/// @throws usage_error  if the last record of `event` was made in a session that is open: asking
///                      the driver about it would end the capture (driver facts, Events)
void refuse_if_captured(event_ref event);

/// `what` says what would end the capture, as "waiting for it". Also sees captures of foreign code.
/// Calls `cuStreamIsCapturing`, which never ends a capture (driver rules, 2.4).
/// @throws usage_error  if `stream` is capturing, or is the legacy stream while another capture
///                      forbids its use
/// @throws cuda_error
void refuse_if_capturing(stream_ref stream, std::string_view what);

}  // namespace cugraft
