// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "ptx/thread.hpp"

// How the threads of a block let each other go on.
namespace cugraft_sim::ptx {

/// What a barrier instruction does beside waiting; `instruction::variant` of those.
enum class barrier_kind : std::uint8_t { sync, arrive, count, all, any };

/// Lets the threads go on whose barrier is complete; whether there were any.
bool release_barriers(std::span<thread> threads, block_state& block);

/// Finishes the warp-wide instructions that all their lanes have reached; whether there were any.
/// Lanes that have exited are not waited for.
bool release_warps(std::span<thread> threads);

}  // namespace cugraft_sim::ptx
