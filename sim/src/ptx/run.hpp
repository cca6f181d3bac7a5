// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ptx/module.hpp"

namespace cugraft_sim::ptx {

/// A piece of memory that kernels may touch; empty where `end == begin`.
struct memory_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool writable = true;
};

/// What global memory a launch may touch. Device addresses are host addresses.
class memory {
 public:
  virtual ~memory() = default;

  /// The whole range (an allocation) that holds `address`, or an empty one.
  /// The runner keeps it until the launch ends, so it has to stay accessible that long.
  virtual memory_range find(std::uint64_t address) noexcept = 0;
};

/// How a kernel is launched.
struct launch {
  dimensions grid;
  dimensions block;
  dimensions cluster;
  std::size_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;         ///< at least the entry's `parameter_bytes`
  std::byte* globals = nullptr;                  ///< the module's block, initialised
  void* hook_context = nullptr;                  ///< handed to hooks
  const std::atomic<bool>* cancelled = nullptr;  ///< ends the launch when it becomes true
};

/// How a launch ended.
enum class outcome {
  ok,
  illegal_address,     ///< CUDA_ERROR_ILLEGAL_ADDRESS
  misaligned_address,  ///< CUDA_ERROR_MISALIGNED_ADDRESS
  trap,                ///< `trap` was executed
  barrier,             ///< threads wait for others that never come; a GPU would hang
  stack_overflow,      ///< calls too deep
  hook_failed,         ///< a hook returned a text
  bad_launch,          ///< dimensions or parameters that do not fit the entry; nothing ran
  cancelled,           ///< `launch::cancelled` became true
};

/// How a launch ended, and why: kernel, block, thread, address, instruction and line.
struct run_result {
  outcome kind = outcome::ok;
  std::string message;

  explicit operator bool() const noexcept { return kind == outcome::ok; }
};

/// Runs every thread of a launch on the calling thread, and returns when the last one ended.
///
/// Blocks run one after the other; the threads of a block take turns at barriers, at warp-wide
/// instructions and every few thousand backward branches.
///
/// Thread safety: launches of one module may run at the same time; accesses to global memory of up
/// to 8 bytes are single, and atomics are atomic between them.
run_result run(const ptx_module& code, const entry& kernel, const launch& how, memory& global);

}  // namespace cugraft_sim::ptx
