// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <iterator>

#include "memory.hpp"

namespace cugraft_sim {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t reserved_bytes = std::uint64_t{64} << 30;

void* pointer_to(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

std::uint64_t pages_of(std::uint64_t size) noexcept { return (size + page - 1) / page * page; }

}  // namespace

bool memory_map::reserve() {
  if (base_ != 0) return true;
  void* const range =
      mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  base_ = reinterpret_cast<std::uint64_t>(range);
  cursor_ = base_;
  return true;
}

std::optional<std::uint64_t> memory_map::find_gap(std::uint64_t span) const {
  const auto first_fit = [&](std::uint64_t from,
                             std::uint64_t end) -> std::optional<std::uint64_t> {
    for (auto next = allocations_.lower_bound(from); next != allocations_.end(); ++next) {
      if (next->first >= end || next->first - from >= span) break;
      from = next->first + pages_of(next->second.size) + page;
    }
    if (from + span <= end) return from;
    return std::nullopt;
  };
  if (const auto found = first_fit(cursor_, base_ + reserved_bytes)) return found;
  return first_fit(base_, cursor_);
}

void memory_map::set_limit(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  limit_ = bytes;
}

std::optional<std::uint64_t> memory_map::allocate(std::uint64_t size, memory_kind kind) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t bytes = pages_of(size);
  if (bytes < size || used_ + bytes > limit_ || !reserve()) return std::nullopt;
  const auto begin = find_gap(bytes + page);
  if (!begin || mprotect(pointer_to(*begin), bytes, PROT_READ | PROT_WRITE) != 0)
    return std::nullopt;
  allocations_.emplace(*begin, allocation{*begin, size, kind, false});
  cursor_ = *begin + bytes + page;
  used_ += bytes;
  return begin;
}

bool memory_map::release(std::uint64_t begin, memory_kind kind) {
  const std::scoped_lock lock(mutex_);
  const auto found = allocations_.find(begin);
  if (found == allocations_.end() || found->second.kind != kind) return false;
  const std::uint64_t bytes = pages_of(found->second.size);
  // A fresh mapping gives the pages back and lets nobody touch them any more.
  mmap(pointer_to(begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
       -1, 0);
  used_ -= bytes;
  allocations_.erase(found);
  return true;
}

bool memory_map::start_release(std::uint64_t begin) {
  const std::scoped_lock lock(mutex_);
  const auto found = allocations_.find(begin);
  if (found == allocations_.end() || found->second.kind != memory_kind::device ||
      found->second.releasing)
    return false;
  found->second.releasing = true;
  return true;
}

std::optional<allocation> memory_map::find_allocation(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  const allocation& candidate = std::prev(after)->second;
  if (address - candidate.begin >= candidate.size) return std::nullopt;
  return candidate;
}

bool memory_map::is_reserved(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  return base_ != 0 && address >= base_ && address - base_ < reserved_bytes;
}

std::size_t memory_map::count(memory_kind kind) const {
  const std::scoped_lock lock(mutex_);
  std::size_t found = 0;
  for (const auto& [begin, each] : allocations_) found += each.kind == kind ? 1 : 0;
  return found;
}

ptx::memory_range memory_map::find(std::uint64_t address) noexcept {
  const auto found = find_allocation(address);
  return found ? ptx::memory_range{found->begin, found->begin + found->size} : ptx::memory_range{};
}

memory_map& the_memory() noexcept {
  static auto* const instance = new memory_map;  // lives as long as any worker thread
  return *instance;
}

pointer_kind classify(std::uint64_t address, std::uint64_t size) {
  if (!the_memory().is_reserved(address))
    return address == 0 ? pointer_kind::invalid : pointer_kind::pageable_host;
  const auto found = the_memory().find_allocation(address);
  if (!found || size > found->size - (address - found->begin)) return pointer_kind::invalid;
  return found->kind == memory_kind::device ? pointer_kind::device : pointer_kind::pinned_host;
}

}  // namespace cugraft_sim
