// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// What a simulated device claims to be: the limits of an H200.
namespace cugraft_sim::device_facts {

struct limits {
  int x, y, z;
};

inline constexpr int max_block_threads = 1024;
inline constexpr limits max_block{1024, 1024, 64};
inline constexpr limits max_grid{2147483647, 65535, 65535};
inline constexpr int default_shared_bytes = 48 * 1024;
inline constexpr int opt_in_shared_bytes = 227 * 1024;
inline constexpr int multiprocessors = 132;
inline constexpr int max_multiprocessor_threads = 2048;
inline constexpr int max_cluster_blocks = 8;  ///< without the non-portable attribute
inline constexpr int max_non_portable_cluster_blocks = 16;
inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5;

/// Device memory that can be allocated at a time. An H200 has more, but it is the host's here.
inline constexpr std::size_t memory_bytes = std::size_t{16} << 30;

}  // namespace cugraft_sim::device_facts
