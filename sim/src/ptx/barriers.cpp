// SPDX-License-Identifier: Apache-2.0
#include "ptx/barriers.hpp"

#include <algorithm>
#include <array>

namespace cugraft_sim::ptx {
namespace {

struct tally {
  unsigned threads = 0;
  unsigned waiting = 0;  ///< threads, or lanes where the barrier counts
  unsigned needed = 0;   ///< 0: all threads that have not exited
  unsigned votes = 0;    ///< of a reducing barrier: threads whose predicate holds
};

using tallies = std::array<tally, barrier_count>;

bool votes(const thread& t) {
  const instruction& at = *t.pending.at;
  const auto kind = static_cast<barrier_kind>(at.variant);
  return kind != barrier_kind::sync && get<bool>(t, at.c) != (at.count != 0);
}

/// A counted barrier counts whole warps: lanes that the last one lacks come with it.
unsigned weight(const thread& t, std::size_t threads) {
  const bool is_last = t.number + 1 == threads;
  return is_last ? 32 - t.number % 32 : 1;
}

tallies count(std::span<const thread> threads) {
  tallies result;
  for (const thread& t : threads) {
    if (t.state != thread_state::at_barrier) continue;
    tally& mine = result[t.pending.barrier];
    mine.needed = std::max(mine.needed, t.pending.barrier_threads);
    mine.waiting += t.pending.barrier_threads != 0 ? weight(t, threads.size()) : 1;
    ++mine.threads;
    if (votes(t)) ++mine.votes;
  }
  return result;
}

void go_on(thread& t, const tally& of_barrier) {
  const instruction& at = *t.pending.at;
  switch (static_cast<barrier_kind>(at.variant)) {
    case barrier_kind::count:
      set(t, at.d, of_barrier.votes);
      break;
    case barrier_kind::all:
      set(t, at.d, of_barrier.votes == of_barrier.threads);
      break;
    case barrier_kind::any:
      set(t, at.d, of_barrier.votes != 0);
      break;
    default:
      break;
  }
  t.state = thread_state::runnable;
}

/// Whether all lanes that `first` waits for have reached the same instruction; if so, `lanes` has
/// them.
bool gather(std::span<thread> warp, const thread& first, warp_lanes& lanes) {
  lanes.fill(nullptr);
  for (thread& t : warp) {
    if ((first.pending.warp_mask >> t.lane() & 1) == 0 || t.state == thread_state::exited) continue;
    if (t.state != thread_state::at_warp || t.pending.warp_mask != first.pending.warp_mask ||
        t.pending.complete != first.pending.complete)
      return false;
    lanes[t.lane()] = &t;
  }
  return true;
}

bool release_warp(std::span<thread> warp) {
  bool released = false;
  warp_lanes lanes;
  for (const thread& first : warp) {
    if (first.state != thread_state::at_warp || !gather(warp, first, lanes)) continue;
    first.pending.complete(lanes);
    for (thread* t : lanes)
      if (t != nullptr) t->state = thread_state::runnable;
    released = true;
  }
  return released;
}

}  // namespace

bool release_barriers(std::span<thread> threads, block_state& block) {
  const tallies tally_of = count(threads);
  const auto live =
      static_cast<unsigned>(std::count_if(threads.begin(), threads.end(), [](const thread& t) {
        return t.state != thread_state::exited;
      }));
  std::array<bool, barrier_count> complete{};
  for (std::size_t k = 0; k < barrier_count; ++k) {
    const unsigned needed = tally_of[k].needed != 0 ? tally_of[k].needed : live;
    complete[k] = tally_of[k].waiting != 0 && tally_of[k].waiting + block.arrived[k] >= needed;
    if (complete[k]) block.arrived[k] = 0;
  }
  bool released = false;
  for (thread& t : threads) {
    if (t.state != thread_state::at_barrier || !complete[t.pending.barrier]) continue;
    go_on(t, tally_of[t.pending.barrier]);
    released = true;
  }
  return released;
}

bool release_warps(std::span<thread> threads) {
  bool released = false;
  for (std::size_t first = 0; first < threads.size(); first += 32)
    released |=
        release_warp(threads.subspan(first, std::min<std::size_t>(32, threads.size() - first)));
  return released;
}

}  // namespace cugraft_sim::ptx
