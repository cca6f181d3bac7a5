// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "cugraft/cugraft.hpp"

namespace cugraft::bench {

/// The driver that is measured: `$CUGRAFT_DRIVER` or the system's, else the simulated one.
const driver& measured_driver();

/// What the programs share.
struct workbench {
  explicit workbench(const driver& driver);

  cugraft::context context;
  typed_kernel<void(float*, int, float, int)> chain;  ///< see kernels/chain.cu
};

/// That of `measured_driver`.
const workbench& measured_workbench();

/// A chain of kernels on one stream, of which a chosen share differs from round to round.
class chain_program {
 public:
  /// `changed` of the `size` nodes differ, evenly spread.
  chain_program(std::size_t size, std::size_t changed);

  stream_ref stream() const noexcept { return stream_; }
  std::size_t size() const noexcept { return size_; }

  /// Enqueues the chain with the values of the present round.
  void enqueue(stream_ref stream) const;

  /// Gives the changing nodes other values.
  void next_round() noexcept { ++round_; }

  graph capture_now() const;
  change_report recapture_into(graph& graph, engine with) const;

 private:
  std::size_t size_;
  std::size_t changed_;
  int round_ = 0;
  cugraft::stream stream_;
  device_buffer buffer_;
};

/// Sizes of chains, in nodes.
std::span<const std::size_t> chain_sizes() noexcept;

/// How many of the nodes change.
struct share {
  const char* name;  ///< in ids
  int per_cent;      ///< 0 of "one"
  bool is_one;

  /// Of `size` nodes; at least one unless it is none.
  std::size_t of(std::size_t size) const noexcept;
};

/// None, one, 1, 10 and 100 per cent.
std::span<const share> shares() noexcept;

/// Whether the `i`-th of `size` is one of `chosen`, which are evenly spread.
bool is_evenly_chosen(std::size_t i, std::size_t chosen, std::size_t size) noexcept;

/// How often what takes a launch of `size` nodes is measured. Fixed, because Google Benchmark
/// repeats until the measured part of the loop has taken long enough, and the part that is not
/// measured may take a hundred times as long.
int rounds_of(std::size_t size) noexcept;

}  // namespace cugraft::bench
