// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <span>

#include "cugraft/cugraft.hpp"
#include "demo_model.hpp"
#include "native_exec.hpp"

namespace cugraft::cli {

/// Host time of one step.
struct step_cost {
  std::chrono::nanoseconds prepare{};  ///< until the step could be launched; eager: was enqueued
  std::chrono::nanoseconds total{};    ///< until its results were there
};

/// Runs each step by launching every piece of work again.
class eager_way {
 public:
  eager_way(const decoder& decoder, stream_ref stream, const model_shape& shape);

  step_cost run(const decode_step& step);
  decode_state& state() noexcept { return state_; }

 private:
  const decoder& decoder_;
  stream_ref stream_;
  decode_state state_;
};

/// Captures each step anew and gives the capture to `cuGraphExecUpdate`: what programs do without
/// cugraft.
class whole_update_way {
 public:
  whole_update_way(const decoder& decoder, stream_ref stream, const model_shape& shape,
                   const decode_step& first);

  step_cost run(const decode_step& step);
  decode_state& state() noexcept { return state_; }

 private:
  graph capture_step(const decode_step& step);

  const decoder& decoder_;
  stream_ref stream_;
  decode_state state_;
  graph template_;
  native_exec exec_;
};

/// Re-captures each step into one graph, and updates one executable with what changed.
class recapture_way {
 public:
  recapture_way(const decoder& decoder, stream_ref stream, const model_shape& shape,
                const decode_step& first, engine with);

  step_cost run(const decode_step& step);
  decode_state& state() noexcept { return state_; }

  std::size_t node_count() const { return graph_.node_count(); }

  /// Of the last step.
  const change_report& report() const noexcept { return report_; }
  const exec_update& update() const noexcept { return update_; }

 private:
  const decoder& decoder_;
  stream_ref stream_;
  decode_state state_;
  recapture_options options_;
  graph graph_;
  graph_exec exec_;
  change_report report_;
  exec_update update_;
};

}  // namespace cugraft::cli
