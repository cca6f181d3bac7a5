// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>

#include "cugraft_sim/control.hpp"
#include "relay/real_driver.hpp"

namespace cugraft_relay {

/// Handles of one kind that were made through this relay and not yet given back.
template <class Handle>
class handle_set {
 public:
  /// Takes down what a call made, if it succeeded.
  CUresult added(CUresult result, const Handle* made) {
    if (result == CUDA_SUCCESS && made != nullptr && *made != Handle{}) add(*made);
    return result;
  }

  void add(Handle handle) {
    const std::lock_guard lock(mutex_);
    handles_.insert(handle);
  }

  /// Gives `handle` back by `release`. It is forgotten before, since the driver may give the same
  /// one to another thread at once, and known again if the driver refused.
  template <class Release>
  CUresult released(Handle handle, const Release& release) {
    const bool was_known = forget(handle);
    const CUresult result = release();
    if (result != CUDA_SUCCESS && was_known) add(handle);
    return result;
  }

  /// @return whether there was such a handle
  bool forget(Handle handle) {
    const std::lock_guard lock(mutex_);
    return handles_.erase(handle) != 0;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return handles_.size();
  }

  /// Calls `visit` for each; none of them is given back meanwhile.
  template <class Visit>
  void each(const Visit& visit) const {
    const std::lock_guard lock(mutex_);
    for (const Handle handle : handles_) visit(handle);
  }

 private:
  mutable std::mutex mutex_;
  std::set<Handle> handles_;
};

/// The graphs that captures were begun into, by the streams where those have to end.
class capture_targets {
 public:
  void put(CUstream origin, CUgraph target) {
    const std::lock_guard lock(mutex_);
    targets_.insert_or_assign(origin, target);
  }

  /// Forgets the capture.
  /// @return its graph; null if no such capture began on `origin`
  CUgraph take(CUstream origin) {
    const std::lock_guard lock(mutex_);
    const auto found = targets_.extract(origin);
    return found ? found.mapped() : nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<CUstream, CUgraph> targets_;
};

/// A retained primary context.
struct primary_context {
  CUcontext handle = nullptr;
  unsigned retained = 0;
};

/// What was made through this relay and is alive.
struct live_things {
  handle_set<CUstream> streams;
  handle_set<CUevent> events;
  handle_set<CUdeviceptr> device_allocations;
  handle_set<void*> host_allocations;
  handle_set<CUmemoryPool> memory_pools;
  handle_set<CUlibrary> libraries;
  handle_set<CUgraph> graphs;
  handle_set<CUgraphExec> graph_execs;
  capture_targets targets;
  std::atomic<std::size_t> user_objects{0};  ///< whose destructor has not run yet

  std::mutex contexts_mutex;
  std::map<CUdevice, primary_context> contexts;
};

/// It is never destroyed: destructors of user objects may run until the process ends.
live_things& live() noexcept;

/// The calling thread's context stack, as far as it went through this relay.
std::size_t& context_depth() noexcept;

bool is_capturing(CUstream stream);

cugraft_sim::live_handles count_live();

/// Waits until the work of all retained contexts is done and no destructor is under way. Waits for
/// no work while a capture is open, since that could end it.
void settle();

}  // namespace cugraft_relay
