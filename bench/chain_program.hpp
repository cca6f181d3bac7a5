// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "cugraft/cugraft.hpp"

namespace cugraft::bench {

/// The driver that is measured: `$CUGRAFT_DRIVER` or the system's, else the simulated one.
const driver& measured_driver();

/// Whether `measured_driver` is a stand-in, whose figures say nothing about any GPU.
bool is_stand_in();

/// A chain of kernels on one stream, of which a chosen share differs from round to round.
class chain_program {
 public:
  /// `changed` of the `size` nodes differ, evenly spread.
  chain_program(std::size_t size, std::size_t changed);

  const context& get_context() const noexcept { return context_; }
  stream_ref stream() const noexcept { return stream_; }
  std::size_t size() const noexcept { return size_; }

  /// Enqueues the chain with the values of the present round.
  void enqueue(stream_ref stream) const;

  /// Gives the changing nodes other values.
  void next_round() noexcept { ++round_; }

  graph capture_now() const;
  change_report recapture_into(graph& graph, engine with) const;

 private:
  bool changes(std::size_t node) const noexcept;

  std::size_t size_;
  std::size_t changed_;
  int round_ = 0;
  context context_;
  library library_;
  typed_kernel<void(float*, int, float, int)> kernel_;
  cugraft::stream stream_;
  device_buffer buffer_;
};

/// Sizes of chains, in nodes.
std::span<const std::size_t> chain_sizes() noexcept;

/// Shares of changed nodes, in per cent.
std::span<const int> changed_shares() noexcept;

/// How many of `size` nodes are `per_cent` of them; at least one unless it is none.
std::size_t changed_nodes(std::size_t size, int per_cent) noexcept;

}  // namespace cugraft::bench
