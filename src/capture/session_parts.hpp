// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/held_capture.hpp"
#include "capture/node_params.hpp"
#include "cugraft/capture.hpp"
#include "cugraft/launch.hpp"
#include "handles/open_sessions.hpp"
#include "model/graph.hpp"

// What a session is made of, and what a re-capture adds to it.

namespace cugraft {

struct node_note;

/// Makes a call once more, on a stream that is capturing, to ask the driver about it. Refers to
/// what it was made from.
class repetition {
 public:
  template <class F>
  explicit repetition(const F& call) noexcept
      : object_(&call), call_([](const void* object, CUstream stream) -> call_result {
          return (*static_cast<const F*>(object))(stream);
        }) {}

  call_result operator()(CUstream stream) const { return call_(object_, stream); }

 private:
  const void* object_;
  call_result (*call_)(const void*, CUstream);
};

/// What an engine does that compares each call as it is made, while the streams are held in a
/// capture that only foreign work goes into.
class call_comparer {
 public:
  call_comparer() = default;
  call_comparer(const call_comparer&) = delete;
  call_comparer& operator=(const call_comparer&) = delete;
  virtual ~call_comparer() = default;

  /// A call that is the graph's node at `position`, by kind and dependencies, does `now`. If it
  /// throws, the call counts as not made. A call that the driver refuses is the result.
  virtual call_result compare(std::uint32_t position, const node_note& note, std::string_view tag,
                              model::node_value&& now, const repetition& again) = 0;

  /// The same of a kernel launch that is the graph's node but for its grid and the values of its
  /// arguments, at least one of which differs. False: ask `compare`.
  virtual bool relaunch(std::uint32_t position, dim3 grid,
                        std::span<const detail::argument> arguments) noexcept = 0;

  virtual held_capture& held() noexcept = 0;

  /// One that is not in use, for a body of a conditional node on a stream of `context`.
  /// @throws std::bad_alloc
  virtual held_capture& held_for_body(CUcontext context) = 0;
};

/// What a re-capture adds to a capture; an engine implements it. A plain capture has none.
class capture_client {
 public:
  capture_client() = default;
  capture_client(const capture_client&) = delete;
  capture_client& operator=(const capture_client&) = delete;
  virtual ~capture_client() = default;

  /// Puts `stream` into capture.
  virtual call_result begin(CUstream stream, CUstreamCaptureMode mode) = 0;

  /// The client's own graph that is captured into; null where the capture makes one.
  virtual CUgraph target() const noexcept = 0;

  /// Whether the driver compares node by node as they come, so that `position` knows them; else
  /// what was captured is compared at the end.
  virtual bool matches_at_calls() const noexcept = 0;

  /// The graph whose nodes are matched.
  virtual const model::graph& expected() const noexcept = 0;

  /// Where calls are not captured but compared as they are made; else null.
  virtual call_comparer* comparer() noexcept { return nullptr; }

  /// Which node of the graph the driver is at with `node`; empty if the engine does not know it.
  virtual std::optional<std::uint32_t> position(CUgraphNode node) const noexcept = 0;

  /// Whether the session's allocations are the graph's own, whose addresses it hands out, and empty
  /// nodes stand for them in the capture; else the driver makes them.
  virtual bool hands_out_memory() const noexcept = 0;

  /// The session was given up or its capture broken: nothing of it may be used. May come twice.
  virtual void dropped() noexcept = 0;

  /// The session is over, and its streams are idle.
  virtual void over(detail::session_state& session) noexcept = 0;
};

/// What `graph_builder::allocate` or `free` put in, or a copy of memory that the graph allocates.
struct memory_call {
  node_kind kind = node_kind::allocation;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;                    ///< of an allocation
  std::optional<model::copy_value> copy{};  ///< of a copy
};

/// One node that cugraft itself put into the capture.
struct node_note {
  CUgraphNode node = nullptr;  ///< where calls are compared as they are made: one that is embedded
  std::uint32_t tag = 0;       ///< index into the session's tags
  std::shared_ptr<const void> owner{};
  std::optional<model::attributes> attributes{};  ///< of a kernel
  std::shared_ptr<const model::kernel_layout> layout{};
  bool programmatic = false;            ///< a kernel that may start before the kernels ahead end
  std::optional<memory_call> memory{};  ///< of a node that allocates or frees, or stands for one
  CUcontext context = nullptr;
  std::shared_ptr<const struct embedded_graph> inside{};  ///< of a child graph
};

/// What cugraft knows of a graph that a session embeds.
struct embedded_graph {
  model::structure structure;
  std::vector<node_note> notes;  ///< by position; without handles
};

/// Why a session can no longer succeed.
struct session_failure {
  mismatch why = mismatch::driver_failure;
  call_result call;
  bool foreign = false;                  ///< a call that cugraft did not make
  std::string place{};                   ///< "body 0 of node 2", if it was in a body
  std::vector<node_summary> unjoined{};  ///< leaves in that body which no join reaches
};

/// A driver's dependency set, as it was read.
struct driver_front {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;
};

/// What a driver says of a stream's capture. The lists are the driver's own, until the next call.
struct capture_answer {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;

  bool is_in(std::uint64_t capture) const noexcept {
    return status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id == capture;
  }
};

/// The data of its `i`-th edge.
inline model::edge_data edge_data_of(const driver_front& front, std::size_t i) noexcept {
  return {front.edges[i].from_port, front.edges[i].to_port, front.edges[i].type};
}

namespace detail {
struct session_state;
}

/// One stream of a session.
struct lane final : launch_filter {
  lane(stream_ref of, detail::session_state& in) noexcept : stream(of), session(in) {}

  bool takes(const launch_config& config, const kernel& kernel,
             std::span<const detail::argument> arguments) noexcept override;
  bool takes_copy(void* dst, const void* src, std::size_t bytes) noexcept override;
  bool takes_fill(void* dst, std::uint32_t value, std::size_t count,
                  unsigned element_size) noexcept override;

  stream_ref stream;
  detail::session_state& session;
  CUcontext context = nullptr;
  bool is_of_session_context = true;
  int priority = 0;
  bool blocking = false;                 ///< synchronises with the legacy stream
  driver_front at;                       ///< as last read
  std::vector<model::dependency> front;  ///< the same as positions, where they are known
  std::uint64_t added = 0;               ///< how often something was added
  bool joined = true;                    ///< another stream of the session waits for all of it
  CUgraphNode marker = nullptr;          ///< where calls are compared as they are made

 private:
  bool is_ahead(node_kind kind) const noexcept;
  void take_next() noexcept;
};

/// What an event stands for that was recorded in a session.
struct event_note {
  lane* source = nullptr;
  std::uint64_t added = 0;  ///< of `source`, at the record
  driver_front at;
  std::vector<model::dependency> front;
  bool is_recorded = false;  ///< by the driver too, where calls are compared as they are made
};

/// A condition that was made in a session.
struct made_condition {
  std::uint64_t handle = 0;
  std::optional<unsigned> default_value{};
  bool is_used = false;
};

/// What a session and the bodies in it have in common.
struct session_tree {
  std::mutex mutex;
  bool has_failed = false;
  bool has_diverged = false;  ///< a call that was compared is not the graph's next node
  std::deque<std::string> tags{std::string()};  // stable addresses
  std::uint32_t tag = 0;                        ///< of the nodes that come
  const std::string* tag_text = &tags.front();  ///< the same
  std::vector<made_condition> conditions;
  std::deque<std::string> functions;  ///< names that failures refer to
};

/// What a graph holds, as far as it can be told: a tree with names and tags.
struct found_tree {
  model::structure nodes;
  std::vector<std::pair<std::string, std::string>> names;  ///< name and tag, by position
};

}  // namespace cugraft
