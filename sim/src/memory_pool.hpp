// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cuda_api.hpp"

namespace cugraft_sim {

class pool_share;

/// Where stream-ordered memory comes from. It is kept for as long as memory of it is out.
///
/// Thread safety: all members; memory goes back on worker threads.
class memory_pool : public std::enable_shared_from_this<memory_pool> {
 public:
  explicit memory_pool(const CUmemPoolProps& of) noexcept : properties(of) {}

  CUdevice device() const noexcept { return properties.location.id; }

  /// Memory of this size; null where the pool may not have so much.
  std::shared_ptr<const pool_share> take(std::uint64_t size);

  /// Keeps at least this much, else only what is in use.
  void trim_to(std::uint64_t kept);

  CUresult get(CUmemPool_attribute attribute, void* value) const;
  CUresult set(CUmemPool_attribute attribute, const void* value);

  CUmemoryPool handle = nullptr;
  const CUmemPoolProps properties;

 private:
  friend class pool_share;
  void give_back(std::uint64_t bytes);
  void keep(std::uint64_t bytes);

  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;
  std::uint64_t used_high_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t reserved_high_ = 0;
  std::uint64_t threshold_ = 0;
  int follows_events_ = 1;
  int is_opportunistic_ = 1;
  int adds_dependencies_ = 1;
};

/// What an allocation has of its pool, and gives back when it goes.
class pool_share {
 public:
  pool_share(std::shared_ptr<memory_pool> from, std::uint64_t bytes) noexcept
      : pool_(std::move(from)), bytes_(bytes) {}
  ~pool_share() { pool_->give_back(bytes_); }
  pool_share(const pool_share&) = delete;
  pool_share& operator=(const pool_share&) = delete;

  const memory_pool& pool() const noexcept { return *pool_; }

 private:
  std::shared_ptr<memory_pool> pool_;
  std::uint64_t bytes_;
};

/// The pool of this handle, or null. Needs the driver's lock, as the two below do.
std::shared_ptr<memory_pool> find_pool(CUmemoryPool handle);

/// The pool that a device's stream-ordered memory comes from.
std::shared_ptr<memory_pool> current_pool(CUdevice of);

/// How many pools programs made.
std::size_t count_pools();

}  // namespace cugraft_sim
