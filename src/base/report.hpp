// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/identify.hpp"

namespace cugraft {

/// "cuEventDestroy failed for event 0x1: 709 CUDA_ERROR_CONTEXT_IS_DESTROYED". Objects without a
/// kind are left out.
std::string failure_text(int result, std::string_view function,
                         std::initializer_list<object> objects);

/// Hands a sentence to the report function. An exception on the way, for want of memory, is dropped
/// for a fixed sentence.
void report(std::string_view sentence) noexcept;

/// Reports a driver call that failed where nothing can be thrown. Success is no failure, and a
/// driver that is shutting down is expected to refuse.
void report_failure(int result, const char* function, object object) noexcept;

}  // namespace cugraft
