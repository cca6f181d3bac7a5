// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/thread.hpp"

// Device addresses to host memory, with the checks that keep a wrong kernel from harming the
// process.
namespace cugraft_sim::ptx {

enum class access : std::uint8_t { read, write };

/// Asks the caller's `memory` and remembers the answer. Null where the access is not allowed.
std::byte* find_global(launch_state& launch, std::uint64_t address, std::size_t size, access how);

/// Ends the launch: the access was not allowed, or not aligned. Returns null.
const instruction* access_failed(thread& t, const instruction* at, space where,
                                 std::uint64_t address, std::size_t size);

inline std::byte* locate_global(launch_state& launch, std::uint64_t address, std::size_t size,
                                access how) {
  for (const memory_range& range : launch.recent)
    if (address >= range.begin && address < range.end && size <= range.end - address &&
        (how == access::read || range.writable))
      return reinterpret_cast<std::byte*>(address);
  return find_global(launch, address, size, how);
}

inline std::byte* locate_in(std::byte* begin, std::size_t bytes, std::uint64_t address,
                            std::size_t size) {
  const std::uint64_t offset = address & 0xFFFFFFFFU;  // these windows have 32-bit addresses
  return offset + size <= bytes ? begin + offset : nullptr;
}

/// Where parameters of kernels are: only for reading.
inline std::byte* locate_parameter(thread& t, std::uint64_t address, std::size_t size, access how) {
  if (how == access::write) return nullptr;
  return locate_in(t.launch->parameters.data(), t.launch->parameters.size(), address, size);
}

template <space Space>
std::byte* locate_unaligned(thread& t, std::uint64_t address, std::size_t size, access how) {
  if constexpr (Space == space::shared)
    return locate_in(t.block->shared.data(), t.block->shared.size(), address, size);
  if constexpr (Space == space::local)
    return locate_in(t.local.data(), t.local.size(), address, size);
  if constexpr (Space == space::param) return locate_parameter(t, address, size, how);
  if constexpr (Space == space::global || Space == space::constant)
    return locate_global(*t.launch, address, size, how);
  switch (address >> tag_shift) {
    case shared_tag:
      return locate_unaligned<space::shared>(t, address, size, how);
    case local_tag:
      return locate_unaligned<space::local>(t, address, size, how);
    case param_tag:
      return locate_parameter(t, address, size, how);
    default:
      return locate_global(*t.launch, address, size, how);
  }
}

/// Host memory behind `size` bytes (a power of two) at `address`, or null.
template <space Space>
std::byte* locate(thread& t, std::uint64_t address, std::size_t size, access how) {
  if ((address & (size - 1)) != 0) return nullptr;
  return locate_unaligned<Space>(t, address, size, how);
}

/// Device memory is shared with other launches and with the host, so accesses are single.
template <class T>
T load_single(const std::byte* at) noexcept {
  T value;
  __atomic_load(reinterpret_cast<const T*>(at), &value, __ATOMIC_RELAXED);
  return value;
}

template <class T>
void store_single(std::byte* at, T value) noexcept {
  __atomic_store(reinterpret_cast<T*>(at), &value, __ATOMIC_RELAXED);
}

}  // namespace cugraft_sim::ptx
