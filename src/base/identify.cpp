// SPDX-License-Identifier: Apache-2.0
#include "base/identify.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace cugraft {
namespace {

// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD (driver rules, 0.1).
constexpr std::uintptr_t legacy_stream = 1;
constexpr std::uintptr_t per_thread_stream = 2;

std::string identify_stream(std::uintptr_t handle) {
  if (handle == 0) return "the null stream";
  if (handle == legacy_stream) return "the legacy stream";
  if (handle == per_thread_stream) return "the per-thread stream";
  return fmt::format("stream {:#x}", handle);
}

}  // namespace

std::string identify(object object) {
  if (object.kind == nullptr) return "nothing";
  const auto handle = reinterpret_cast<std::uintptr_t>(object.handle);
  if (std::string_view(object.kind) == "stream") return identify_stream(handle);
  return handle == 0 ? fmt::format("no {}", object.kind)
                     : fmt::format("{} {:#x}", object.kind, handle);
}

}  // namespace cugraft
