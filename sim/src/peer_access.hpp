// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "cuda_api.hpp"
#include "ptx/run.hpp"

namespace cugraft_sim {

struct context;

/// Where memory of the driver's is.
struct memory_place {
  CUcontext context = nullptr;  ///< null for memory that belongs to none
  CUdevice device = 0;
  bool is_host = false;
};

/// The place of the memory at an address, of a graph's also where it has none; nothing where there
/// is no allocation.
std::optional<memory_place> place_of(std::uint64_t address);

/// Whether memory of one place may stand for that of the other in an executable: of one device.
/// Driver-rules 4.3 ask for one context too, which an H200 does not. What is not known does not
/// hinder.
bool is_same_place(std::uint64_t one, std::uint64_t other);

/// The memory that kernels of a context may use: of their device, of the host, and of the peers
/// that it has at this moment.
class reachable_memory final : public ptx::memory {
 public:
  /// Takes the driver's lock.
  explicit reachable_memory(const context& of);

  ptx::memory_range find(std::uint64_t address) noexcept override;

 private:
  CUdevice device_;
  bool is_alone_;  ///< there is no other device, so nothing is out of reach
  std::set<CUcontext> peers_;
};

}  // namespace cugraft_sim
