// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cugraft/detail/export.hpp"
#include "cugraft/launch.hpp"

namespace cugraft {

/// Which threads' unsafe calls, as allocations, end a capture (driver rules, 2.3; driver facts,
/// Order, handles, capture).
enum class capture_mode {
  global,         ///< any thread's
  thread_local_,  ///< those of the thread that began; the default
  relaxed,        ///< nobody's; the session may be ended on any thread
};

class graph;

namespace detail {
struct access;
struct session_state;
struct graph_state;
}  // namespace detail

/// Names one stream of an open session: owns nothing, and is cheap to copy.
///
/// Once the session has ended, or the builder is joined or closed, every call that adds work is a
/// `usage_error`; such an error does no harm to the session. In a re-capture a mismatch shows at
/// the session's end and nowhere else; until then calls put nothing on any stream, but forks,
/// waits, joins and bodies are still tracked. Thread safety: one thread at a time for a session.
class CUGRAFT_API graph_builder {
 public:
  /// The stream, for everything that takes one.
  /// @throws usage_error  if the builder is no longer building
  stream_ref stream() const;

  /// So that `launch(builder, ...)` works.
  operator stream_ref() const { return stream(); }

  /// False once the session has ended or was abandoned, or the builder is joined or closed.
  bool is_building() const noexcept;

  /// Whether a mismatch is known already, so that a body may return early; true at the latest at
  /// the end.
  bool has_failed() const noexcept;

  /// Whether the body runs without a graph, see `captured`: work runs at once, and there are no
  /// conditions and no `embed`.
  bool is_eager() const noexcept;

  /// `count` further builders behind the work so far, on streams of the library's own with this
  /// one's priority and flags. Calls `cuEventRecord` and `cuStreamWaitEvent`.
  /// @throws usage_error, cuda_error
  [[nodiscard]] std::vector<graph_builder> fork(std::size_t count);

  /// The same onto the caller's stream, which belongs to the session until its end.
  /// @throws usage_error  if `onto` is capturing, or of another driver
  /// @throws cuda_error
  [[nodiscard]] graph_builder fork(stream_ref onto);

  /// Lets later work here wait for that of `forks`, and closes them. A fork without work needs no
  /// join.
  /// @throws usage_error  if one is of another session, or closed
  /// @throws cuda_error
  void join(std::span<const graph_builder> forks);
  void join(const graph_builder& fork) { join({&fork, 1}); }

  /// Adds a host node. The function is owned as by `keep`. Calls `cuLaunchHostFunc`.
  /// @throws usage_error, cuda_error
  void host_call(host_function function);

  /// Keeps `owner` with the graph and its executables as long as any of them can run this session's
  /// work: until a later re-capture, and the update that brings it in, have replaced it.
  ///
  /// It may be let go on any thread, in one of cugraft's own or inside any of its calls, so its
  /// destructor must not wait for a lock that is held around one. It may call CUDA.
  /// @throws usage_error
  void keep(std::shared_ptr<const void> owner);

  /// Adds an allocation node and gives its address, which is the graph's: a re-capture hands out
  /// the same ones in order, and another size is a mismatch. Calls `cuMemAllocAsync`.
  ///
  /// Each launch makes the memory anew at that address; `graph::allocations` says what such nodes
  /// forbid. In a session that has failed the address is valid inside the session only: nothing is
  /// there.
  /// @throws usage_error  for 0 bytes
  /// @throws cuda_error
  void* allocate(std::size_t bytes);

  /// Adds a node that frees what `allocate` gave. Calls `cuMemFreeAsync`.
  /// @throws usage_error  if `pointer` is no allocation of this graph that was made in this session
  ///                      and not freed in it
  /// @throws cuda_error
  void free(void* pointer);

  /// Adds a child graph node with a clone of the content of `child`. What that needs alive is kept,
  /// and tags go along. Calls `cuGraphAddNode`; where the driver refuses, the session has failed.
  /// @throws usage_error        if `child` is empty, lost, in a session or of another driver, or
  ///                            holds what a child graph may not (conditions) or a clone does not
  ///                            take along (allocations)
  /// @throws unsupported_error  if the builder is eager
  /// @throws cuda_error
  void embed(const graph& child);

  /// As above, but the content is moved in where the driver refuses to clone it: with allocation
  /// nodes, from 12.9 on. @post `child` is empty if its content was moved
  /// @throws usage_error, cuda_error  as above
  /// @throws unsupported_error        also on an older driver
  void embed(graph&& child);

  /// Makes a condition with its value at the start of each launch; `std::nullopt`: undefined. It
  /// serves one conditional node. Calls `cuGraphConditionalHandleCreate` on the root of the graph;
  /// where the driver refuses, the session has failed. A graph with a condition that no node uses
  /// cannot be instantiated (driver facts, Conditions).
  ///
  /// In a re-capture the k-th condition is the graph's k-th, with the same handle; another default
  /// value is a mismatch.
  /// @throws unsupported_error  if the builder is eager
  /// @throws usage_error, cuda_error
  condition create_condition(std::optional<unsigned> default_value = 0u);

  /// Adds a node whose body runs if the condition is not 0, and gives a builder for the body.
  ///
  /// A body is complete at its `close`, an inner one before the outer, at the latest at the
  /// session's end. Events of the parent must not be waited for inside (driver rules, 2.4: 902).
  /// A body is captured by itself, on a stream of the library's own, and put in place when the
  /// outermost one that has it is closed: until then a failure in it harms nothing (driver facts,
  /// After a failed capture). It holds kernels, copies, fills, child graphs and conditional nodes
  /// (driver rules, 7). Calls `cuGraphAddNode`.
  /// @throws usage_error        if the condition is used already, or of another session
  /// @throws unsupported_error  if the builder is eager
  /// @throws cuda_error
  [[nodiscard]] graph_builder if_then(condition condition);

  /// As `if_then`, and the body runs again as long as the condition is not 0 at its end.
  [[nodiscard]] graph_builder while_loop(condition condition);

  /// As `if_then`, with a second body that runs if the condition is 0. Minimum driver: 12.8.
  [[nodiscard]] std::array<graph_builder, 2> if_else(condition condition);

  /// As `if_then`, with `count` bodies, of which the condition's value picks one, or none if it is
  /// too great. Minimum driver: 12.8.
  [[nodiscard]] std::vector<graph_builder> switch_case(condition condition, std::size_t count);

  /// Fills the body by calling `body`, and closes it.
  template <std::invocable<graph_builder&> F>
  void if_then(condition condition, F&& body) {
    graph_builder builder = if_then(condition);
    body(builder);
    builder.close();
  }

  /// Fills the body by calling `body`, and closes it.
  template <std::invocable<graph_builder&> F>
  void while_loop(condition condition, F&& body) {
    graph_builder builder = while_loop(condition);
    body(builder);
    builder.close();
  }

  /// Completes a conditional body. On the thread that began, unless relaxed.
  /// @throws usage_error  if this is no body, one in it is still open, or it holds what a body may
  /// not; then it stays open
  /// @throws cuda_error
  void close();

  /// Names the nodes that are created after this call anywhere in the session; "" ends that.
  /// @throws usage_error
  void tag(std::string_view name);

 protected:
  friend struct detail::access;

  graph_builder() = default;

  std::shared_ptr<detail::session_state> session_;
  std::uint32_t stream_ = 0;
};

/// What a body of a graph is: any callable that takes a `graph_builder&` and returns nothing.
template <class F>
concept capture_body =
    std::invocable<F&, graph_builder&> && std::is_void_v<std::invoke_result_t<F&, graph_builder&>>;

/// An open capture, and the builder of the stream on which it began. Move-only.
///
/// `end` belongs on the thread that began it, unless relaxed; `abandon` and the destructor work on
/// any.
class CUGRAFT_API capture_session : public graph_builder {
 public:
  /// @post `other` has no session
  capture_session(capture_session&& other) noexcept;

  /// Abandons the session that `*this` had. @post `other` has no session
  capture_session& operator=(capture_session&& other) noexcept;

  /// Abandons the session if it is open. Never throws; a failure goes to the report function.
  ~capture_session();

  /// Ends the capture and gives the graph. Calls `cuStreamEndCapture`.
  /// @post the session is over and its streams are idle, also when it throws anything but
  /// `usage_error`
  /// @throws capture_error  if the capture was broken or a stream was not joined
  /// @throws usage_error    if the session is over, or on another thread than it began; no harm is
  /// done
  [[nodiscard]] graph end();

  /// Ends the capture and drops what was captured. Does nothing if the session is over.
  void abandon() noexcept;

 private:
  friend struct detail::access;

  capture_session() = default;

  std::shared_ptr<detail::session_state> own_;  // whatever is assigned to the builder
};

/// Begins a capture on `stream`. Calls `cuStreamBeginCapture`.
/// @throws usage_error    if the stream is capturing, or is the legacy stream
/// @throws capture_error  if the driver refuses
[[nodiscard]] CUGRAFT_API capture_session
begin_capture(stream_ref stream, capture_mode mode = capture_mode::thread_local_);

/// Captures what `body` enqueues into a new graph. An exception of `body` leaves unchanged, after
/// the capture was ended. Defined in `graph.hpp`.
/// @throws usage_error, capture_error  as `begin_capture` and `capture_session::end`
template <capture_body F>
[[nodiscard]] graph capture(stream_ref stream, F&& body,
                            capture_mode mode = capture_mode::thread_local_);

static_assert(!std::is_copy_constructible_v<capture_session>);
static_assert(std::is_nothrow_move_assignable_v<capture_session>);

}  // namespace cugraft
