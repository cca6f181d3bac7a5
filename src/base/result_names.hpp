// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cugraft {

/// Name and meaning of a `CUresult`, the same on every driver and for every header that the library
/// was built with.
struct result_name {
  int code;
  std::string_view name;
  std::string_view meaning;
};

/// Null for a number that this build does not know.
const result_name* find_result_name(int code) noexcept;

/// "709 CUDA_ERROR_CONTEXT_IS_DESTROYED"; "CUresult 12345" for a number without a name.
std::string result_text(int code);

}  // namespace cugraft
