// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "base/identify.hpp"
#include "base/report.hpp"
#include "driver/table.hpp"

namespace cugraft {

/// "cuGraphLaunch failed for executable graph 0x1, stream 0x10: 901
/// CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (an earlier error ended this stream capture)".
std::string failure_sentence(CUresult result, const char* function,
                             std::initializer_list<object> objects);

/// Throws the `cuda_error` with that sentence.
[[noreturn, gnu::cold]] void throw_failure(CUresult result, const char* function,
                                           std::initializer_list<object> objects);

/// Throws unless `result` is success. `objects` are the handles that the call was about.
template <class... Handles>
void check(CUresult result, const char* function, Handles... objects) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_failure(result, function, {object(objects)...});
}

/// Makes one driver call and throws unless it succeeds. The error names the function, and every
/// handle among the arguments. `from` is a driver, its table, a stream or an event.
/// @throws cuda_error
template <class From, class... Parameters, class... Arguments>
void call(const From& from, CUresult (*driver_table::*function)(Parameters...),
          Arguments&&... arguments) {
  const driver_table& table = table_of(from);
  const CUresult result = (table.*function)(std::forward<Arguments>(arguments)...);
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_failure(result, function_name(table, &(table.*function)), {object_of(arguments)...});
}

}  // namespace cugraft
