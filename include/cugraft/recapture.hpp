// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cugraft/detail/export.hpp"
#include "cugraft/graph_exec.hpp"

namespace cugraft {

/// When `captured` runs its body eagerly, and how much it keeps.
struct captured_policy {
  unsigned warm_up_runs = 0;  ///< eager runs before the first capture

  /// Further runs of the body that one call may make, the eager one after a broken capture
  /// included. 0: at most one run per call, which implies the engine `compare`.
  unsigned retries = 1;

  unsigned give_up_after = 3;       ///< broken captures in a row, after which every call is eager
  std::size_t max_executables = 8;  ///< structures kept, the least recently used goes first
  recapture_options recapture{};
  instantiate_options instantiate{};
};

/// What a `captured` did so far, and why.
struct captured_stats {
  std::uint64_t calls = 0;
  std::uint64_t body_runs = 0;
  std::uint64_t eager_runs = 0;
  std::uint64_t captures = 0;
  std::uint64_t recaptures = 0;
  std::uint64_t patched = 0;
  std::uint64_t whole_updates = 0;
  std::uint64_t instantiations = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t broken_captures = 0;
  std::optional<recapture_failure> last_failure{};
};

/// The front door: a body that runs as a graph. Copies share their state. Not delivered yet: throws
/// `not_implemented_error`.
///
/// The first call captures and instantiates; later ones re-capture, update and launch. Another
/// structure is looked up in a small cache of graphs and executables. A broken capture makes the
/// body run eagerly once. The body never runs more often per call than the policy says. Thread
/// safety: one thread at a time, copies included.
class CUGRAFT_API captured {
 public:
  /// In an eager run the builder's `is_eager` is true, and it has no conditions and no `embed`.
  /// @throws usage_error  if `body` is empty, or `stream` is the legacy one
  captured(stream_ref stream, std::function<void(graph_builder&)> body,
           captured_policy policy = {});

  /// Runs the body's work once, in the stream's order. Exceptions of the body leave unchanged.
  /// @throws capture_error, cuda_error  where the policy leaves no other way
  void operator()();

  captured_stats stats() const;

  /// Drops graphs and executables, and starts again with the warm-up.
  void reset();

 private:
  friend struct detail::access;
  struct state;

  std::shared_ptr<state> state_;
};

}  // namespace cugraft
