// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "device_facts.hpp"
#include "ptx/run.hpp"

namespace cugraft_sim {

enum class memory_kind { device, pinned_host };

/// An allocation: memory that the driver gave out and that was not given back.
struct allocation {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  memory_kind kind = memory_kind::device;
  bool releasing = false;  ///< given to cuMemFreeAsync; the work before it may still use it
};

/// Device and pinned memory. Both are pieces of one reserved range of host addresses, each followed
/// by a page that nobody may touch, and addresses are used again as late as possible: so a stale or
/// wrong device pointer is recognised instead of taken for a host pointer.
///
/// Thread safety: all members; may be called with and without the driver's lock.
class memory_map : public ptx::memory {
 public:
  /// The address, or nothing if there is no memory left.
  std::optional<std::uint64_t> allocate(std::uint64_t size, memory_kind kind);

  /// Ends an allocation of this kind that begins at `begin`; false if there is none.
  bool release(std::uint64_t begin, memory_kind kind);

  /// Marks the allocation as given to cuMemFreeAsync; false if there is none or it is marked.
  bool start_release(std::uint64_t begin);

  /// The allocation that holds `address`.
  std::optional<allocation> find_allocation(std::uint64_t address) const;

  /// Whether the driver may hand `address` out: such an address never is plain host memory.
  bool is_reserved(std::uint64_t address) const;

  std::size_t count(memory_kind kind) const;

  /// How many bytes may be allocated at a time.
  void set_limit(std::uint64_t bytes);

  /// For kernels, which may touch device and pinned memory.
  ptx::memory_range find(std::uint64_t address) noexcept override;

 private:
  bool reserve();
  std::optional<std::uint64_t> find_gap(std::uint64_t span) const;

  mutable std::mutex mutex_;
  std::uint64_t base_ = 0;
  std::uint64_t cursor_ = 0;  // where the last gap was found; the next search begins there
  std::uint64_t used_ = 0;
  std::uint64_t limit_ = device_facts::memory_bytes;
  std::map<std::uint64_t, allocation> allocations_;
};

memory_map& the_memory() noexcept;

/// What a pointer of a copy or fill refers to.
enum class pointer_kind {
  device,
  pinned_host,
  pageable_host,
  invalid,  ///< outside of every allocation, or the range leaves the allocation
};

pointer_kind classify(std::uint64_t address, std::uint64_t size);

}  // namespace cugraft_sim
