// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "capture/node_params.hpp"
#include "cugraft/event.hpp"
#include "driver/table.hpp"

namespace cugraft {

/// A capture in which the streams of a session are held while its calls are compared without it, so
/// that what others put on them does not run, and shows.
///
/// It goes into a graph of its own that has one empty node for each stream, its marker, which is
/// all that the stream waits for: without it a foreign wait between two of the streams would leave
/// no trace (driver facts, Conditions, captures held open, reading back). Graph and markers are
/// kept from one session to the next, which saves two thirds of the cost
/// (docs/driver/observations.md). Thread safety: one thread at a time.
class held_capture {
 public:
  held_capture(const driver_table& table, CUcontext context) noexcept
      : table_(&table), context_(context) {}
  held_capture(const held_capture&) = delete;
  held_capture& operator=(const held_capture&) = delete;
  ~held_capture();

  /// Begins to hold `origin`.
  call_result begin(CUstream origin, CUstreamCaptureMode mode) noexcept;

  /// Whether it holds streams: it has begun, and has not ended.
  bool is_open() const noexcept { return is_open_; }

  /// The marker of the stream that was held last.
  CUgraphNode last_marker() const noexcept { return markers_[used_ - 1]; }

  /// Holds `stream` as well. It comes in by a wait for an event of this object's own, which `from`
  /// records once.
  /// @throws cuda_error  if that event cannot be made
  call_result hold(CUstream from, CUstream stream);

  /// The graph that is captured into; null after its capture failed, which destroys it.
  CUgraph graph() const noexcept { return graph_; }

  /// The nodes of the graph beside the markers. `*asked` is the last call that was made for it.
  /// @throws std::bad_alloc
  std::vector<CUgraphNode> foreign_nodes(call_result* asked) const;

  /// The capture has ended; `survivor` is what the driver gave, since a capture that fails takes
  /// its graph with it (docs/driver/observations.md). One with work of others is not used again.
  void ended(CUgraph survivor, bool has_foreign_nodes) noexcept;

 private:
  call_result add_marker() noexcept;
  call_result record_link(CUstream from);
  void discard() noexcept;

  const driver_table* table_;
  CUcontext context_;
  CUgraph graph_ = nullptr;
  std::vector<CUgraphNode> markers_;
  std::size_t used_ = 0;
  bool is_open_ = false;
  bool has_unknown_node_ = false;  ///< of a call that failed and may have added one
  std::optional<event> link_;
  bool is_link_recorded_ = false;
};

}  // namespace cugraft
