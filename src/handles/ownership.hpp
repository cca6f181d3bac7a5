// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/call.hpp"

// How handles come and go when calls fail: nothing is leaked, and nothing is released twice.

namespace cugraft {

/// Whether `result` of a release says that the driver refused before it did anything, so that the
/// release may be made again. After any other error the object may be gone, and a second release
/// would be one of a dangling handle.
constexpr bool was_refused(CUresult result) noexcept {
  return result == CUDA_ERROR_OUT_OF_MEMORY || result == CUDA_ERROR_NOT_PERMITTED ||
         result == CUDA_ERROR_SYSTEM_NOT_READY ||
         (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_TIMEOUT);
}

/// How often what a scope must put back is tried again. A driver that answers each call with the
/// error of earlier work does put back; one that fails by chance does in the end.
inline constexpr int restoring_attempts = 8;

/// Makes a releasing call, once more if it was refused, and returns what the first one gave.
template <class... Parameters, class... Arguments>
CUresult try_release(const driver_table& table, CUresult (*driver_table::*release)(Parameters...),
                     Arguments... arguments) noexcept {
  const CUresult result = (table.*release)(arguments...);
  if (was_refused(result)) (table.*release)(arguments...);
  return result;
}

/// As `try_release`; a failure is reported once.
template <class... Parameters, class... Arguments>
void release_or_report(const driver_table& table, object object,
                       CUresult (*driver_table::*release)(Parameters...),
                       Arguments... arguments) noexcept {
  report_failure(try_release(table, release, arguments...), function_name(table, &(table.*release)),
                 object);
}

/// As `try_release`; a failure is thrown, also where the second call succeeded.
/// @throws cuda_error
template <class... Parameters, class... Arguments>
void release_or_throw(const driver_table& table, object object,
                      CUresult (*driver_table::*release)(Parameters...), Arguments... arguments) {
  const CUresult result = try_release(table, release, arguments...);
  if (result != CUDA_SUCCESS)
    throw_failure(result, function_name(table, &(table.*release)), {object});
}

/// Makes a handle. If the call fails with a handle set, the object exists, since a call may do its
/// work and return the error of earlier asynchronous work: it is released again.
/// @throws cuda_error
template <class From, class Handle, class... Parameters, class... Arguments>
Handle make_handle(const From& from, CUresult (*driver_table::*create)(Handle*, Parameters...),
                   CUresult (*driver_table::*release)(Handle), Arguments... arguments) {
  const driver_table& table = table_of(from);
  Handle handle{};
  const CUresult result = (table.*create)(&handle, arguments...);
  if (result == CUDA_SUCCESS) return handle;
  if (handle != Handle{}) try_release(table, release, handle);
  throw_failure(result, function_name(table, &(table.*create)), {object_of(arguments)...});
}

}  // namespace cugraft
