// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "cuda_api.hpp"
#include "device_facts.hpp"
#include "ptx/run.hpp"

namespace cugraft_sim {

class pool_share;

enum class memory_kind { device, pinned_host };

/// What pointer queries tell of an allocation beside its range.
struct memory_origin {
  CUcontext context = nullptr;  ///< null for stream-ordered memory, which belongs to none
  CUdevice device = 0;
  std::shared_ptr<const pool_share> share{};  ///< of stream-ordered memory: given back with it
};

/// An allocation: memory that the driver gave out and that was not given back.
struct allocation {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  memory_kind kind = memory_kind::device;
  bool releasing = false;  ///< given to cuMemFreeAsync; the work before it may still use it
  memory_origin origin{};
  std::uint64_t id = 0;  ///< no other allocation ever has it; 0 for graph addresses without memory
};

/// Device and pinned memory. Both are pieces of one reserved range of host addresses, each followed
/// by a page that nobody may touch, and addresses are used again as late as possible: so a stale or
/// wrong device pointer is recognised instead of taken for a host pointer.
///
/// Graphs have a range of their own, where addresses and memory go apart: an address is taken for
/// as long as its node lives, and there is memory behind it between an allocation and its free.
///
/// Thread safety: all members; may be called with and without the driver's lock.
class memory_map : public ptx::memory {
 public:
  /// The address, or nothing if there is no memory left.
  std::optional<std::uint64_t> allocate(std::uint64_t size, memory_kind kind,
                                        memory_origin origin = {});

  /// Ends an allocation of this kind that begins at `begin`; false if there is none.
  bool release(std::uint64_t begin, memory_kind kind);

  /// Ends what belongs to a context; stream-ordered memory belongs to none.
  void release_all_of(CUcontext owner);

  /// Marks the allocation as given to cuMemFreeAsync; false if there is none or it is marked.
  bool start_release(std::uint64_t begin);

  /// Takes an address for a graph's allocation: the lowest that is free, so that of a graph that is
  /// gone comes again (facts). Nothing if there is none left.
  std::optional<std::uint64_t> take_graph_address(std::uint64_t size);
  void give_back_graph_address(std::uint64_t begin);

  /// Sets memory of this size aside, or returns it; false if there is none left.
  bool commit(std::uint64_t size);
  void uncommit(std::uint64_t size);

  /// Puts memory behind a graph address, fresh and under a new id; 0 where the host has none.
  std::uint64_t map_graph_memory(std::uint64_t begin);
  /// Takes it away, unless the address has other memory by now.
  void unmap_graph_memory(std::uint64_t begin, std::uint64_t id);

  /// The allocation that holds `address` and has memory.
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
  void end(std::map<std::uint64_t, allocation>::iterator which);
  std::optional<std::uint64_t> find_gap(std::uint64_t span, std::uint64_t from,
                                        std::uint64_t end) const;
  const allocation* look_up(std::uint64_t address) const;

  mutable std::mutex mutex_;
  std::uint64_t base_ = 0;
  std::uint64_t cursor_ = 0;  // where the last gap was found; the next search begins there
  std::uint64_t full_below_ =
      0;  // before it there is no gap for a graph, so the lowest is found fast
  std::uint64_t used_ = 0;
  std::uint64_t last_id_ = 0;
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

/// When it is asked what a pointer refers to: a graph's address is known from its node's making on,
/// and has memory from a launch of the allocation to a free, in the order of calls and, later, in
/// the order in which the work runs.
enum class moment { node_made, call, run };

pointer_kind classify(std::uint64_t address, std::uint64_t size, moment when);

/// What `size` takes of memory: whole pages.
std::uint64_t pages_of(std::uint64_t size) noexcept;

}  // namespace cugraft_sim
