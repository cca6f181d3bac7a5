// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "cuda_api.hpp"
#include "graph.hpp"
#include "operation.hpp"

namespace cugraft_sim {

class recapture;
struct stream;

/// One capture, from its begin to its end, over all streams that take part.
struct capture_sequence {
  cuuint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  bool active = true;  ///< false once it was invalidated
  bool ended = false;
  stream* origin = nullptr;
  std::vector<stream*> streams;  ///< the origin first, then in the order of joining
  std::shared_ptr<graph> target;
  bool made_target = false;                ///< the graph is the capture's until it ends well
  std::unique_ptr<recapture> recapturing;  ///< null for a plain capture

  /// Roots of what counts as joined beside the origin's dependencies: nodes that a caller took out
  /// of a dependency set (driver-rules 2.2).
  std::vector<graph_node*> released;

  /// Work of streams that were destroyed in between.
  std::vector<graph_node*> orphaned;

  ~capture_sequence();
};

/// Dependencies on different nodes, in the order in which they came.
class dependency_set {
 public:
  dependency_set() = default;
  explicit dependency_set(const std::vector<dependency>& of) { merge(of); }

  /// Adds a dependency, unless there is one on the same node, which stays as it is.
  void add(const dependency& added);
  void merge(const std::vector<dependency>& added);
  void clear();

  const std::vector<dependency>& list() const noexcept { return list_; }

 private:
  std::vector<dependency> list_;
  std::unordered_set<const graph_node*> nodes_;  // of a list that is long
};

struct stream_capture {
  std::shared_ptr<capture_sequence> sequence;
  dependency_set dependencies;   ///< of the next node
  std::vector<graph_node*> own;  ///< those of them that a call on this stream made

  // What cuStreamGetCaptureInfo handed out: valid until the next call on the stream.
  std::vector<CUgraphNode> shown_nodes;
  std::vector<CUgraphEdgeData> shown_edges;
};

struct captured_record {
  std::shared_ptr<capture_sequence> sequence;
  std::vector<dependency> dependencies;
};

/// What all begin calls check: the stream, its state and the mode.
CUresult check_begin(const stream& origin, CUstreamCaptureMode mode);

/// Begins a capture on `origin` into `target`, after `check_begin`.
capture_sequence& begin_sequence(stream& origin, CUstreamCaptureMode mode,
                                 std::shared_ptr<graph> target);

/// Those between their begin and their end. Needs the lock.
const std::vector<std::shared_ptr<capture_sequence>>& open_captures() noexcept;

/// Ends a sequence: no stream captures any more. It does not look at the graph.
void close_sequence(capture_sequence& which);

/// An error kills the sequence; it must still be ended.
void invalidate(capture_sequence& which);

/// Ends a sequence without a result: the graph is gone, as after every failed end (facts).
void abandon_sequence(capture_sequence& which);

/// Whether some work of the sequence is not joined to its origin.
bool has_unjoined_work(const capture_sequence& of);

/// Whether the legacy stream of the current context is barred by a capture.
bool legacy_is_barred();

/// The calling thread's mode (driver-rules 2.3).
CUstreamCaptureMode& thread_capture_mode() noexcept;

}  // namespace cugraft_sim
