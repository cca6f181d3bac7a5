// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cugraft/detail/export.hpp"
#include "cugraft/graph_exec.hpp"

namespace cugraft {

/// When `captured` runs its body eagerly, and how much it keeps.
struct captured_policy {
  unsigned warm_up_runs = 0;  ///< eager runs before the first capture, and after `reset`

  /// Further runs of the body that one call may make: to capture where a re-capture by `native` or
  /// `direct` met another structure or work it does not take, and eagerly after a broken capture.
  /// 0: at most one run per call, which implies the engine `compare` (another named one is a
  /// `usage_error`); a call whose capture breaks then throws. `recapture_options::may_rerun_body`
  /// has no say.
  unsigned retries = 1;

  /// Broken captures in a row, after which every call is eager, until `reset`; 0: never.
  unsigned give_up_after = 3;

  std::size_t max_executables = 8;  ///< structures kept, the least recently used goes first

  /// `compare_only` is a `usage_error`; `replace_structure` and `may_rerun_body` are `captured`'s
  /// to choose.
  recapture_options recapture{};
  instantiate_options instantiate{};

  /// Structures that went from the cache in a row, with no call between whose structure was in it,
  /// after which every call is eager, until `reset`; 0: never.
  unsigned give_up_after_evictions = 64;

  /// The least recently used structure goes before another is instantiated, not after: less memory
  /// at the peak, but if making the new executable fails the old one is gone.
  bool evict_first = false;
};

/// How often a step was made, and the host time it took.
struct step_time {
  std::uint64_t count = 0;
  std::chrono::nanoseconds total{};

  /// 0 if it was never made.
  std::chrono::nanoseconds mean() const noexcept {
    return count == 0 ? total : total / static_cast<std::int64_t>(count);
  }
};

/// What the steps of calls took on the host, those that failed included.
struct captured_times {
  step_time capture{};      ///< into a new graph
  step_time recapture{};    ///< into one that is there
  step_time instantiate{};  ///< the first executable of a graph
  step_time update{};       ///< of an executable, by whatever way
  step_time launch{};
  step_time eager{};        ///< the body without a graph
  step_time cached_call{};  ///< whole calls that found their structure in the cache and launched
};

/// What a `captured` did so far, and why.
struct captured_stats {
  std::uint64_t calls = 0;
  std::uint64_t body_runs = 0;
  std::uint64_t eager_runs = 0;     ///< warm-up, after broken captures, and once given up
  std::uint64_t captures = 0;       ///< graphs that came into the cache
  std::uint64_t recaptures = 0;     ///< calls that brought a graph of the cache up to date
  std::uint64_t patched = 0;        ///< updates by the setters of nodes
  std::uint64_t whole_updates = 0;  ///< updates by `cuGraphExecUpdate`
  std::uint64_t instantiations =
      0;                         ///< of new graphs, and anew where nothing else applies a change
  std::uint64_t cache_hits = 0;  ///< calls whose structure was in the cache
  std::uint64_t cache_misses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t broken_captures = 0;  ///< and graphs that could not be brought up to date

  /// Of the latest broken capture, or re-capture that had to be made another way; another structure
  /// is none.
  std::optional<recapture_failure> last_failure{};

  std::size_t executables = 0;  ///< in the cache now, each with its graph
  std::size_t nodes = 0;        ///< of those graphs, at every depth
  /// Of those: arguments of kernels, and memory that nodes allocate. What the driver takes for each
  /// node comes on top; it tells nobody.
  std::size_t bytes = 0;
  bool has_given_up = false;  ///< every call is eager, until `reset`
  captured_times times{};

  /// Host time of a call that finds its structure in the cache, with all that it does. 0 if there
  /// was none.
  CUGRAFT_API std::chrono::nanoseconds graph_call() const noexcept;

  /// Host time of an eager call; 0 if there was none. `warm_up_runs` of 2 or more gives one that
  /// does not load code for the first time.
  CUGRAFT_API std::chrono::nanoseconds eager_call() const noexcept;

  /// The break-even: calls of one structure after which its capture and instantiation have paid
  /// for themselves. Empty if that is not known, or if an eager call is the cheaper one, on the
  /// host: what the device gains by a graph is not in it.
  CUGRAFT_API std::optional<std::uint64_t> break_even() const noexcept;
};

/// A few lines: what was done how often, the times of each step, the cache, the last failure, and
/// whether the graph is worth it here.
CUGRAFT_API std::string to_text(const captured_stats& stats);

/// The front door: a body that runs as a graph. Copies share their state.
///
/// The first call captures and instantiates; later ones re-capture, update and launch. Another
/// structure is looked up in a small cache of pairs of graph and executable, by its
/// `structure_fingerprint`. A broken capture drops the partial work and makes the body run eagerly
/// once; the next call tries again, and after `give_up_after` in a row every call is eager, of
/// which the report function is told. The body never runs more often per call than the policy says.
/// Nothing is captured or instantiated before the first call.
///
/// What was launched goes on by itself after `reset` and destruction. The stream must outlive all
/// copies. Thread safety: one thread at a time, copies included; others are independent.
class CUGRAFT_API captured {
 public:
  /// In an eager run the builder's `is_eager` is true, and it has no conditions and no `embed`;
  /// forks run on real streams, what `keep` is given lives until the stream has passed the run, and
  /// what is allocated and not freed stays so.
  /// @throws usage_error  if `body` is empty, `stream` is the legacy one, or the policy contradicts
  ///                      itself
  captured(stream_ref stream, std::function<void(graph_builder&)> body,
           captured_policy policy = {});

  /// Runs the body's work once, in the stream's order. An exception of the body leaves unchanged;
  /// nothing of a capture runs then, and the next call works.
  /// @throws capture_error, cuda_error  where the policy leaves no other way; also if a hook
  ///                                    rejected a change, or the launch failed
  /// @throws usage_error                if the stream is capturing, or in the body itself
  /// @throws unsupported_error          if the engine that the policy names needs a newer driver
  void operator()();

  /// @throws usage_error  if it was moved from
  captured_stats stats() const;

  /// Drops graphs and executables, and starts again with the warm-up, also after giving up. Counts
  /// stay.
  /// @throws usage_error  in the body itself, or if it was moved from
  void reset();

 private:
  friend struct detail::access;
  struct state;

  std::shared_ptr<state> state_;
};

}  // namespace cugraft
