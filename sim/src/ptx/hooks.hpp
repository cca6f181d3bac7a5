// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace cugraft_sim::ptx {

/// One call of an external device function, as `cudaGraphSetConditional`, by one thread.
class hook_call {
 public:
  virtual ~hook_call() = default;

  /// What the launch carries for its hooks (`launch::hook_context`).
  void* context = nullptr;

  /// The bytes of each argument, in the order of the declaration.
  std::span<const std::span<const std::byte>> arguments;

  /// Where the return value goes; empty for a function without one.
  std::span<std::byte> result;

  /// Argument `index` as a `T`, zero-extended or cut to the declared size.
  template <class T>
  T argument(std::size_t index) const noexcept {
    T value{};
    if (index < arguments.size())
      std::memcpy(&value, arguments[index].data(), std::min(sizeof value, arguments[index].size()));
    return value;
  }

  /// Sets the return value.
  template <class T>
  void set_result(const T& value) noexcept {
    std::memcpy(result.data(), &value, std::min(sizeof value, result.size()));
  }

  /// Copies `size` bytes at a generic device address (global, shared or local) to `to`; false where
  /// the thread may not read there.
  virtual bool read(std::uint64_t address, void* to, std::size_t size) = 0;
};

/// Runs in place of an external device function. Returns an empty text, or why the kernel fails.
/// Called on the thread that runs the launch; different launches call it at the same time.
using hook = std::function<std::string(hook_call&)>;

/// Hooks by the function's name as the PTX declares it.
using hook_table = std::map<std::string, hook, std::less<>>;

}  // namespace cugraft_sim::ptx
