// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "capture/graph_state.hpp"
#include "capture/held_capture.hpp"
#include "capture/session.hpp"

namespace cugraft {

/// What `direct` keeps with a graph: the captures that hold the streams of a session and of the
/// bodies that are open at one time, and a stream aside in each context, on which the driver is
/// asked about calls that it alone can judge.
class direct_memory final : public engine_memory {
 public:
  direct_memory(const driver_table& table, CUcontext context) noexcept
      : held(table, context), table_(&table), context_(context) {}
  ~direct_memory() override { forget(); }

  static direct_memory& of(detail::graph_state& graph, CUcontext context);

  /// Captures one call by itself, on a stream of `context`. `*node` is what it made, which lives
  /// until `forget`.
  /// @return the refusal of a call that would have ended any capture
  /// @throws cuda_error  for a call that failed and did nothing
  /// @throws std::bad_alloc
  call_result capture_aside(const repetition& again, CUcontext context, CUgraphNode* node);

  /// Destroys what was captured aside.
  void forget() noexcept;

  held_capture held;

  /// A capture that holds no streams now, for a body whose stream is of `context`.
  /// @throws std::bad_alloc
  held_capture& held_for_body(CUcontext context);

 private:
  const driver_table* table_;
  CUcontext context_;
  CUstream aside_in(CUcontext context);

  std::deque<std::pair<CUcontext, held_capture>> bodies_;  // stable addresses
  std::vector<std::pair<CUcontext, stream>> aside_;
  std::vector<CUgraph> captured_;
};

}  // namespace cugraft
