// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "step_clock.hpp"
#include "step_program.hpp"

namespace cugraft::bench {

/// How a step without cugraft comes from its capture to an executable.
enum class manual_way {
  update,       ///< `cuGraphExecUpdate`
  instantiate,  ///< a new executable, because the update is known to be refused
};

/// A loop that captures its step anew each time, written with the driver's own calls.
class manual_loop {
 public:
  /// Captures and instantiates. @throws error
  explicit manual_loop(const step_program& program);
  manual_loop(const manual_loop&) = delete;
  manual_loop& operator=(const manual_loop&) = delete;
  ~manual_loop();

  /// One step: capture, update or instantiation, launch, destruction of the capture.
  /// @throws error
  void run(manual_way way, step_clock& watch);

 private:
  CUgraph capture(step_clock& watch) const;
  void destroy(CUgraph graph) const;
  void destroy_executable();

  const step_program& program_;
  const raw_driver& raw_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace cugraft::bench
