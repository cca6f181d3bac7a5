// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "graph_memory.hpp"
#include "memory.hpp"

namespace cugraft_sim {
namespace {

constexpr std::uint64_t page = 4096;
// More than a device has, and in all no more than valgrind gives. The graphs' half is the upper
// one.
constexpr std::uint64_t part_bytes = std::uint64_t{24} << 30;
constexpr std::uint64_t reserved_bytes = 2 * part_bytes;

void* pointer_to(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

bool open_pages(std::uint64_t begin, std::uint64_t bytes) noexcept {
  return mprotect(pointer_to(begin), bytes, PROT_READ | PROT_WRITE) == 0;
}

// A fresh mapping gives the pages back and lets nobody touch them any more.
void close_pages(std::uint64_t begin, std::uint64_t bytes) noexcept {
  static_cast<void>(mmap(pointer_to(begin), bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

}  // namespace

std::uint64_t pages_of(std::uint64_t size) noexcept { return (size + page - 1) / page * page; }

bool memory_map::reserve() {
  if (base_ != 0) return true;
  void* const range =
      mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  base_ = reinterpret_cast<std::uint64_t>(range);
  cursor_ = base_;
  return true;
}

std::optional<std::uint64_t> memory_map::find_gap(std::uint64_t span, std::uint64_t from,
                                                  std::uint64_t end) const {
  for (auto next = allocations_.lower_bound(from); next != allocations_.end(); ++next) {
    if (next->first >= end || next->first - from >= span) break;
    from = next->first + pages_of(next->second.size) + page;
  }
  if (from + span <= end) return from;
  return std::nullopt;
}

void memory_map::set_limit(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  limit_ = bytes;
}

std::optional<std::uint64_t> memory_map::allocate(std::uint64_t size, memory_kind kind,
                                                  memory_origin origin) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t bytes = pages_of(size);
  if (bytes < size || used_ + bytes > limit_ || !reserve()) return std::nullopt;
  auto begin = find_gap(bytes + page, cursor_, base_ + part_bytes);
  if (!begin) begin = find_gap(bytes + page, base_, cursor_);
  if (!begin || !open_pages(*begin, bytes)) return std::nullopt;
  allocations_.emplace(*begin,
                       allocation{*begin, size, kind, false, std::move(origin), ++last_id_});
  cursor_ = *begin + bytes + page;
  used_ += bytes;
  return begin;
}

std::optional<std::uint64_t> memory_map::take_graph_address(std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t bytes = pages_of(size);
  if (bytes < size || bytes > part_bytes || !reserve()) return std::nullopt;
  full_below_ = std::max(full_below_, base_ + part_bytes);
  const auto begin = find_gap(bytes + page, full_below_, base_ + reserved_bytes);
  if (!begin) return std::nullopt;
  allocations_.emplace(*begin, allocation{*begin, size});
  if (*begin == full_below_) full_below_ += bytes + page;
  return begin;
}

void memory_map::give_back_graph_address(std::uint64_t begin) {
  const std::scoped_lock lock(mutex_);
  allocations_.erase(begin);
  full_below_ = std::min(full_below_, begin);
}

bool memory_map::commit(std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t bytes = pages_of(size);
  if (used_ + bytes > limit_) return false;
  used_ += bytes;
  return true;
}

void memory_map::uncommit(std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  used_ -= pages_of(size);
}

std::uint64_t memory_map::map_graph_memory(std::uint64_t begin) {
  const std::scoped_lock lock(mutex_);
  allocation& of = allocations_.at(begin);
  const std::uint64_t bytes = pages_of(of.size);
  if (of.id != 0) close_pages(begin, bytes);
  of.id = open_pages(begin, bytes) ? ++last_id_ : 0;
  return of.id;
}

void memory_map::unmap_graph_memory(std::uint64_t begin, std::uint64_t id) {
  const std::scoped_lock lock(mutex_);
  allocation& of = allocations_.at(begin);
  if (of.id != id) return;
  close_pages(begin, pages_of(of.size));
  of.id = 0;
}

// Needs the mutex.
void memory_map::end(std::map<std::uint64_t, allocation>::iterator which) {
  const std::uint64_t bytes = pages_of(which->second.size);
  close_pages(which->first, bytes);
  used_ -= bytes;
  allocations_.erase(which);
}

bool memory_map::release(std::uint64_t begin, memory_kind kind) {
  const std::scoped_lock lock(mutex_);
  const auto found = allocations_.find(begin);
  if (found == allocations_.end() || found->second.kind != kind) return false;
  end(found);
  return true;
}

void memory_map::release_all_of(CUcontext owner) {
  const std::scoped_lock lock(mutex_);
  for (auto each = allocations_.begin(); each != allocations_.end();) {
    const auto candidate = each++;
    if (candidate->second.origin.context == owner) end(candidate);
  }
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

// Needs the mutex.
const allocation* memory_map::look_up(std::uint64_t address) const {
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const allocation& candidate = std::prev(after)->second;
  return candidate.id != 0 && address - candidate.begin < candidate.size ? &candidate : nullptr;
}

std::optional<allocation> memory_map::find_allocation(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const allocation* const found = look_up(address);
  return found ? std::optional(*found) : std::nullopt;
}

bool memory_map::is_reserved(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  return base_ != 0 && address >= base_ && address - base_ < reserved_bytes;
}

std::size_t memory_map::count(memory_kind kind) const {
  const std::scoped_lock lock(mutex_);
  std::size_t found = 0;
  for (const auto& [begin, each] : allocations_) found += each.kind == kind && each.id != 0 ? 1 : 0;
  return found;
}

ptx::memory_range memory_map::find(std::uint64_t address) noexcept {
  const std::scoped_lock lock(mutex_);
  const allocation* const found = look_up(address);
  return found ? ptx::memory_range{found->begin, found->begin + found->size} : ptx::memory_range{};
}

memory_map& the_memory() noexcept {
  static auto* const instance = new memory_map;  // lives as long as any worker thread
  return *instance;
}

pointer_kind classify(std::uint64_t address, std::uint64_t size, moment when) {
  if (when != moment::run)
    if (const auto of_graph = find_graph_allocation(address)) {
      const bool is_there = when == moment::node_made || of_graph->live;
      return is_there && size <= of_graph->begin + of_graph->size - address ? pointer_kind::device
                                                                            : pointer_kind::invalid;
    }
  if (!the_memory().is_reserved(address))
    return address == 0 ? pointer_kind::invalid : pointer_kind::pageable_host;
  const auto found = the_memory().find_allocation(address);
  if (!found || size > found->size - (address - found->begin)) return pointer_kind::invalid;
  return found->kind == memory_kind::device ? pointer_kind::device : pointer_kind::pinned_host;
}

}  // namespace cugraft_sim
