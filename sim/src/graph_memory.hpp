// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cuda_api.hpp"

namespace cugraft_sim {

class graph_memory;
struct graph;
struct operation;

/// What an allocation node made: an address that stays the same over instantiations and launches,
/// and is free again when node, executables and memory are gone (driver-rules 6.1).
struct graph_allocation {
  graph_allocation() = default;
  ~graph_allocation();
  graph_allocation(const graph_allocation&) = delete;
  graph_allocation& operator=(const graph_allocation&) = delete;

  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  CUmemPoolProps properties{};
  std::vector<CUmemAccessDesc> access;

  // Guarded by the driver's lock.
  unsigned owner = 0;           ///< id of the node's graph
  std::set<unsigned> freed_in;  ///< ids of graphs with a free node, also of those that are gone
  std::shared_ptr<graph_memory> live;  ///< given by a launch call and freed by no call since

  // Guarded by the lock of graph_memory.cpp.
  unsigned lives = 0;      ///< launches that have or will have its memory
  bool is_backed = false;  ///< counts as used by graphs, until a trim
};

/// The memory that one launch gives an allocation: set aside by the call, there for everybody when
/// the launch reaches the allocation node, gone with its free.
///
/// Thread safety: all members.
class graph_memory {
 public:
  /// Null if there is no memory left.
  static std::shared_ptr<graph_memory> set_aside(const std::shared_ptr<graph_allocation>& of);

  explicit graph_memory(std::shared_ptr<graph_allocation> of) : allocation_(std::move(of)) {}
  ~graph_memory() { end(); }
  graph_memory(const graph_memory&) = delete;
  graph_memory& operator=(const graph_memory&) = delete;

  CUresult begin();
  void end();

 private:
  std::shared_ptr<graph_allocation> allocation_;
  std::atomic<std::uint64_t> id_{0};
  std::atomic<bool> ended_{false};
};

struct alloc_operation {
  std::shared_ptr<graph_allocation> allocation;
  std::shared_ptr<graph_memory> memory{};  ///< of the launch; null in nodes
};

struct free_operation {
  std::shared_ptr<graph_allocation> allocation;
  std::shared_ptr<graph_memory> memory{};  ///< what the launch frees; null in nodes
};

/// What one launch does to the memory of graphs, in the order of its nodes. Nothing counts before
/// `settle`, so a launch that fails leaves everything as it was.
class launch_memory {
 public:
  /// @param frees_first  what earlier launches left is freed, else it is an error
  /// (driver-rules 6.3)
  explicit launch_memory(bool frees_first) : frees_first_(frees_first) {}

  /// Connects an allocation or a free with the memory of this launch.
  CUresult prepare(operation& enqueued);

  /// From now on this is what later calls find.
  void settle() const;

  /// What comes before the first node.
  void free_left() const;

 private:
  std::shared_ptr<graph_memory> live_memory_of(
      const std::shared_ptr<graph_allocation>& which) const;
  CUresult give(alloc_operation& to);
  CUresult take(free_operation& which);

  bool frees_first_;
  std::map<std::shared_ptr<graph_allocation>, std::shared_ptr<graph_memory>> after_;
  std::vector<std::shared_ptr<graph_memory>> left_;
};

/// The allocation that holds `address`, with or without memory; null where there is none.
std::shared_ptr<graph_allocation> find_graph_allocation(std::uint64_t address);

/// The allocation that begins at `address`.
std::shared_ptr<graph_allocation> find_graph_allocation_at(std::uint64_t address);

/// Gives it an address, and makes it known under that; false if there is none left.
bool register_graph_allocation(const std::shared_ptr<graph_allocation>& made);

/// Whether memory can be described so: pinned, on a device that there is.
CUresult check_properties(const CUmemPoolProps& properties);

/// Makes the operation of an allocation node, with an address of its own.
CUresult make_alloc(const CUmemPoolProps& properties, std::span<const CUmemAccessDesc> access,
                    std::uint64_t size, CUcontext context, operation& made);

/// Makes the operation of a free node for `graph`; INVALID_VALUE where the address is no
/// allocation's, or freed by a node that excludes this one.
CUresult make_free(const graph& in, CUdeviceptr address, CUcontext context, operation& made);

/// After an allocation or free node was added to `graph`: says so in what it allocates or frees.
void note_memory_node(graph& in, const operation& work);

bool is_memory_node(const operation& work) noexcept;

/// Whether the graph or one inside it has allocation or free nodes.
bool has_memory_nodes(const graph& which) noexcept;

/// Sets memory aside for the next launch, where that has not been done: it counts as used by
/// graphs. OUT_OF_MEMORY where there is none left.
CUresult bind_memory(const std::shared_ptr<graph_allocation>& of);

/// Memory of graphs on a device, in whole pages.
struct graph_memory_usage {
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
};

graph_memory_usage usage_of_graphs(CUdevice on);
void reset_used_high(CUdevice on);
void reset_reserved_high(CUdevice on);

/// Gives back what no launch uses.
void trim_graph_memory(CUdevice on);

}  // namespace cugraft_sim
