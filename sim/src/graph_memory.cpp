// SPDX-License-Identifier: Apache-2.0
#include "graph_memory.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "memory.hpp"
#include "operation.hpp"

namespace cugraft_sim {
namespace {

struct registry {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<graph_allocation>> by_address;
  std::map<CUdevice, graph_memory_usage> usage;
};

registry& books() noexcept {
  static auto* const instance = new registry;  // lives as long as any worker thread
  return *instance;
}

CUdevice device_of(const graph_allocation& of) noexcept { return of.properties.location.id; }

// The functions of this block need the registry's lock.

void count_as_used(graph_allocation& which) {
  if (which.is_backed) return;
  which.is_backed = true;
  graph_memory_usage& usage = books().usage[device_of(which)];
  usage.used += pages_of(which.size);
  usage.used_high = std::max(usage.used_high, usage.used);
  usage.reserved = std::max(usage.reserved, usage.used);
  usage.reserved_high = std::max(usage.reserved_high, usage.reserved);
}

void count_as_unused(graph_allocation& which) {
  if (!which.is_backed) return;
  which.is_backed = false;
  books().usage[device_of(which)].used -= pages_of(which.size);
}

}  // namespace

graph_allocation::~graph_allocation() {
  if (begin == 0) return;
  const std::scoped_lock lock(books().mutex);
  count_as_unused(*this);
  books().by_address.erase(begin);
  the_memory().give_back_graph_address(begin);
}

std::shared_ptr<graph_memory> graph_memory::set_aside(const std::shared_ptr<graph_allocation>& of) {
  const std::scoped_lock lock(books().mutex);
  // Launches of one allocation never have its memory at the same time.
  if (of->lives == 0 && !the_memory().commit(of->size)) return nullptr;
  ++of->lives;
  count_as_used(*of);
  return std::make_shared<graph_memory>(of);
}

CUresult graph_memory::begin() {
  if (ended_) return CUDA_SUCCESS;
  id_ = the_memory().map_graph_memory(allocation_->begin);
  return id_ != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void graph_memory::end() {
  if (ended_.exchange(true)) return;
  if (id_ != 0) the_memory().unmap_graph_memory(allocation_->begin, id_);
  const std::scoped_lock lock(books().mutex);
  if (--allocation_->lives == 0) the_memory().uncommit(allocation_->size);
}

std::shared_ptr<graph_memory> launch_memory::live_memory_of(
    const std::shared_ptr<graph_allocation>& which) const {
  const auto changed = after_.find(which);
  return changed == after_.end() ? which->live : changed->second;
}

CUresult launch_memory::give(alloc_operation& to) {
  if (auto left = live_memory_of(to.allocation)) {
    if (!frees_first_) return CUDA_ERROR_INVALID_VALUE;
    left_.push_back(std::move(left));
  }
  to.memory = graph_memory::set_aside(to.allocation);
  if (!to.memory) return CUDA_ERROR_OUT_OF_MEMORY;
  after_[to.allocation] = to.memory;
  return CUDA_SUCCESS;
}

CUresult launch_memory::take(free_operation& which) {
  which.memory = live_memory_of(which.allocation);
  if (!which.memory) return CUDA_ERROR_INVALID_VALUE;
  after_[which.allocation] = nullptr;
  return CUDA_SUCCESS;
}

CUresult launch_memory::prepare(operation& enqueued) {
  if (auto* const alloc = std::get_if<alloc_operation>(&enqueued.what)) return give(*alloc);
  if (auto* const freed = std::get_if<free_operation>(&enqueued.what)) return take(*freed);
  return CUDA_SUCCESS;
}

void launch_memory::settle() const {
  for (const auto& [allocation, memory] : after_) allocation->live = memory;
}

void launch_memory::free_left() const {
  for (const auto& each : left_) each->end();
}

std::shared_ptr<graph_allocation> find_graph_allocation(std::uint64_t address) {
  std::shared_ptr<graph_allocation> found;  // maybe the last reference, so it goes after the lock
  {
    const std::scoped_lock lock(books().mutex);
    const auto after = books().by_address.upper_bound(address);
    if (after != books().by_address.begin()) found = std::prev(after)->second.lock();
  }
  return found && address - found->begin < found->size ? found : nullptr;
}

std::shared_ptr<graph_allocation> find_graph_allocation_at(std::uint64_t address) {
  auto found = find_graph_allocation(address);
  return found && found->begin == address ? found : nullptr;
}

bool register_graph_allocation(const std::shared_ptr<graph_allocation>& made) {
  const std::scoped_lock lock(books().mutex);
  const auto begin = the_memory().take_graph_address(made->size);
  if (!begin) return false;
  made->begin = *begin;
  books().by_address[made->begin] = made;
  return true;
}

// What is kept for a launch never keeps memory from others, so it is only asked for here.
CUresult bind_memory(const std::shared_ptr<graph_allocation>& of) {
  const std::scoped_lock lock(books().mutex);
  if (of->is_backed) return CUDA_SUCCESS;
  if (!the_memory().commit(of->size)) return CUDA_ERROR_OUT_OF_MEMORY;
  the_memory().uncommit(of->size);
  count_as_used(*of);
  return CUDA_SUCCESS;
}

graph_memory_usage usage_of_graphs(CUdevice on) {
  const std::scoped_lock lock(books().mutex);
  return books().usage[on];
}

void reset_used_high(CUdevice on) {
  const std::scoped_lock lock(books().mutex);
  graph_memory_usage& usage = books().usage[on];
  usage.used_high = usage.used;
}

void reset_reserved_high(CUdevice on) {
  const std::scoped_lock lock(books().mutex);
  graph_memory_usage& usage = books().usage[on];
  usage.reserved_high = usage.reserved;
}

void trim_graph_memory(CUdevice on) {
  std::vector<std::shared_ptr<graph_allocation>>
      all;  // maybe last references, which go after the lock
  const std::scoped_lock lock(books().mutex);
  for (const auto& [begin, weak] : books().by_address)
    if (auto each = weak.lock()) all.push_back(std::move(each));
  for (const auto& each : all)
    if (device_of(*each) == on && each->lives == 0) count_as_unused(*each);
  graph_memory_usage& usage = books().usage[on];
  usage.reserved = usage.used;
}

}  // namespace cugraft_sim
