// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "chain_program.hpp"
#include "raw_driver.hpp"

namespace cugraft::bench {

/// What the work of a step looks like.
enum class step_shape {
  chain,       ///< kernels on one stream
  mix,         ///< two streams that fork and join; every tenth node is a copy or a fill
  decode,      ///< the demo's layers: eleven kernels, a copy and a fill beside them
  copy_2d,     ///< a chain with a two-dimensional copy in the middle
  allocation,  ///< a chain between an allocation and its release
};

/// The names of the ids.
const char* to_string(step_shape shape) noexcept;

/// A step's work, of which a chosen share differs from round to round, as driver calls and as calls
/// of cugraft.
class step_program {
 public:
  /// `changed` of the `size` nodes differ, evenly spread.
  step_program(step_shape shape, std::size_t size, std::size_t changed);

  stream_ref stream() const noexcept { return origin_; }
  std::size_t size() const noexcept { return size_; }
  /// How many nodes a re-capture finds changed in each round.
  std::size_t changed() const noexcept;

  /// Gives the changing nodes other values.
  void next_round() noexcept { ++round_; }

  /// Enqueues the step with the driver's own calls, on `stream` of the program.
  void enqueue_raw() const;

  /// The same with cugraft's calls. @pre the shape is a chain, a mix or a decode loop
  void enqueue(graph_builder& builder) const;

  /// Makes the program's context current, as the driver's own calls need it.
  void make_current() const;

 private:
  enum class action { kernel, copy, fill, copy_2d, allocation, release };

  action action_of(std::size_t node) const noexcept;
  bool changes(std::size_t node) const noexcept;
  std::uint32_t value_of(std::size_t node) const noexcept { return changes(node) ? round_ : 0; }
  float* target_of(std::size_t node) const noexcept;
  std::size_t layer() const noexcept;
  bool is_beside(std::size_t node) const noexcept;
  bool begins_layer(std::size_t node) const noexcept;
  bool ends_layer(std::size_t node) const noexcept;
  void enqueue_raw(std::size_t node, CUstream stream) const;
  void launch_raw(std::size_t node, CUstream stream) const;
  void copy_2d_raw(CUstream stream) const;
  void link_raw(CUstream from, CUstream to) const;
  void enqueue(std::size_t node, stream_ref stream) const;

  step_shape shape_;
  std::size_t size_;
  std::size_t changed_;
  std::uint32_t round_ = 0;
  const raw_driver& raw_;
  cugraft::stream origin_;
  cugraft::stream side_;
  event link_;
  device_buffer values_;  // what kernels write
  device_buffer copied_;  // what copies and fills write, two places for each node
  device_buffer source_;  // of copies
  mutable CUdeviceptr allocated_ = 0;
};

}  // namespace cugraft::bench
