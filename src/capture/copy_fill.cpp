// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "capture/launch_checks.hpp"
#include "capture/session.hpp"
#include "cugraft/launch.hpp"
#include "driver/call.hpp"

// Copies and fills on any stream: checked, then given to the open session that has the stream, else
// to the driver.

namespace cugraft {
namespace {

void require_rows(const char* what, std::size_t height) {
  if (height == 0)
    throw usage_error(std::string(what) + ": nothing to do for 0 rows; leave the call out");
}

// Rows must not overlap.
void require_pitch(const char* what, const char* of, std::size_t pitch, std::size_t row_bytes) {
  if (pitch >= row_bytes) return;
  throw usage_error(std::string(what) + ": the " + of + " of " + std::to_string(pitch) +
                    " bytes is less than the " + std::to_string(row_bytes) +
                    " bytes of a row; give the distance from the start of a row to the next");
}

void require_fitting(const row_fill& rows) {
  if (rows.width > SIZE_MAX / rows.element_size)
    throw usage_error(std::string("fill_2d_async") + ": a row of " + std::to_string(rows.width) +
                      " elements has more bytes than there are addresses; give the width in "
                      "elements");
  require_pitch("fill_2d_async", "pitch", rows.pitch, rows.width * rows.element_size);
  if (rows.pitch % rows.element_size != 0)
    throw usage_error(std::string("fill_2d_async") + ": the pitch of " +
                      std::to_string(rows.pitch) + " bytes is no multiple of an element of " +
                      std::to_string(rows.element_size) +
                      " bytes, and every row must start at one");
}

}  // namespace

void copy_async(stream_ref stream, void* dst, const void* src, std::size_t bytes) {
  if (launch_filter* const filter = filter_of(stream))
    if (filter->takes_copy(dst, src, bytes)) return;
  require_bytes("copy_async", bytes);
  if (const auto session = recorder_of(stream)) return session->copy(stream, dst, src, bytes);
  const call_result result = driver_copy(table_of(stream), stream.get(), dst, src, bytes);
  check(result.code, result.function, stream.get());
}

void copy_2d_async(stream_ref stream, void* dst, std::size_t dst_pitch, const void* src,
                   std::size_t src_pitch, std::size_t width_bytes, std::size_t height) {
  require_bytes("copy_2d_async", width_bytes);
  require_rows("copy_2d_async", height);
  if (height == 1) return copy_async(stream, dst, src, width_bytes);
  require_pitch("copy_2d_async", "destination's pitch", dst_pitch, width_bytes);
  require_pitch("copy_2d_async", "source's pitch", src_pitch, width_bytes);
  const row_copy rows{dst, dst_pitch, src, src_pitch, width_bytes, height};
  if (const auto session = recorder_of(stream)) return session->copy_rows(stream, rows);
  const call_result result = driver_copy(table_of(stream), stream.get(), rows);
  check(result.code, result.function, stream.get());
}

void fill_async(stream_ref stream, void* dst, std::uint32_t value, std::size_t count,
                unsigned element_size) {
  require_bytes("fill_async", count);
  require_element("fill_async", value, element_size);
  if (launch_filter* const filter = filter_of(stream))
    if (filter->takes_fill(dst, value, count, element_size)) return;
  if (const auto session = recorder_of(stream))
    return session->fill(stream, dst, value, count, element_size);
  const call_result result =
      driver_fill(table_of(stream), stream.get(), dst, value, count, element_size);
  check(result.code, result.function, stream.get());
}

void fill_2d_async(stream_ref stream, void* dst, std::size_t pitch, std::uint32_t value,
                   std::size_t width, std::size_t height, unsigned element_size) {
  require_bytes("fill_2d_async", width);
  require_rows("fill_2d_async", height);
  require_element("fill_2d_async", value, element_size);
  if (height == 1) return fill_async(stream, dst, value, width, element_size);
  const row_fill rows{dst, pitch, value, width, height, element_size};
  require_fitting(rows);
  if (const auto session = recorder_of(stream)) return session->fill_rows(stream, rows);
  const call_result result = driver_fill(table_of(stream), stream.get(), rows);
  check(result.code, result.function, stream.get());
}

}  // namespace cugraft
