// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "ptx/program.hpp"
#include "ptx/run.hpp"

// What exists while a kernel runs.
namespace cugraft_sim::ptx {

/// Generic addresses of these spaces carry a tag in the top byte, which no host address has.
inline constexpr unsigned tag_shift = 56;
inline constexpr std::uint64_t shared_tag = 0x53;
inline constexpr std::uint64_t local_tag = 0x4C;
inline constexpr std::uint64_t param_tag = 0x50;

enum class thread_state : std::uint8_t { runnable, at_barrier, at_warp, exited, failed };

/// One launch. Threads of it run one at a time.
struct launch_state {
  const program* code = nullptr;
  const entry* kernel_entry = nullptr;
  const kernel* kernel_code = nullptr;
  const launch* how = nullptr;
  memory* global = nullptr;
  std::vector<std::byte> parameters;               ///< of the kernel
  std::vector<std::vector<std::uint64_t>> images;  ///< by function: frames with addresses filled in
  std::array<memory_range, 4> recent;              ///< what `global` answered, for the fast path
  unsigned next_recent = 0;
  run_result result;
};

inline constexpr std::size_t barrier_count = 16;

/// One block.
struct block_state {
  dimensions index;
  std::vector<std::byte> shared;
  std::array<unsigned, barrier_count> arrived{};  ///< threads that did not wait: `bar.arrive`
};

/// What was running when a function was called.
struct frame {
  const function* body = nullptr;
  const instruction* resume = nullptr;
  const call_site* site = nullptr;
  std::size_t slots = 0;
  std::size_t parameters = 0;
  std::size_t local = 0;
};

/// How the lanes of a warp finish an instruction that all of them have reached. Lanes that take no
/// part are null.
using warp_lanes = std::array<thread*, 32>;
using warp_operation = void (*)(const warp_lanes&);

/// What a thread waits for.
struct pending_operation {
  const instruction* at = nullptr;
  unsigned barrier = 0;          ///< which of the sixteen
  unsigned barrier_threads = 0;  ///< how many make it complete; 0 for all of the block
  std::uint32_t warp_mask = 0;
  warp_operation complete = nullptr;
};

/// One thread.
struct thread {
  std::uint64_t* slots = nullptr;  ///< of the frame that runs
  launch_state* launch = nullptr;
  block_state* block = nullptr;
  const function* body = nullptr;
  const instruction* next = nullptr;  ///< where to go on after a stop
  thread_state state = thread_state::runnable;
  bool carry = false;   ///< the condition code of `.cc` instructions
  unsigned fuel = 0;    ///< backward branches until the others get a turn
  unsigned number = 0;  ///< in the block
  dimensions index{0, 0, 0};
  pending_operation pending;

  std::vector<frame> callers;
  frame current;
  std::vector<std::uint64_t> stack;   ///< frames of slots
  std::vector<std::byte> parameters;  ///< frames of function parameters
  std::vector<std::byte> local;       ///< frames of local memory

  unsigned lane() const noexcept { return number % 32; }
};

/// A 32-bit or smaller value is in the low bits of its slot. What is above them is the sign for a
/// signed type and zero else, so that a wider register gets the extension that PTX asks for.
template <class T>
T get(const thread& t, std::uint32_t slot) noexcept {
  T value;
  std::memcpy(&value, &t.slots[slot], sizeof value);
  return value;
}

template <class T>
void set(thread& t, std::uint32_t slot, T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    t.slots[slot] = bits;
  } else {
    t.slots[slot] = static_cast<std::uint64_t>(value);
  }
}

/// Ends the launch with an error; `what` says what the instruction did. Returns null.
const instruction* fail(thread& t, const instruction* at, outcome kind, const std::string& what);

/// Begins `body` for a thread whose caller, if any, was saved. False where the stack is too small.
bool enter(thread& t, std::uint32_t function_index);

}  // namespace cugraft_sim::ptx
