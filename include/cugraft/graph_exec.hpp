// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cugraft/detail/export.hpp"
#include "cugraft/graph.hpp"
#include "cugraft/node_params.hpp"

namespace cugraft {

/// How an executable was brought up to date.
enum class update_method {
  automatic,     ///< asked for, never answered: the cheapest that can apply all changes. That is
                 ///< `patched`, and `whole` for more than half of the nodes and at least 32 (driver
                 ///< facts, Whole-graph update against patching), but for what is borrowed
  none,          ///< there was nothing to do
  patched,       ///< each changed node by its own setter
  whole,         ///< `cuGraphExecUpdate`
  instantiated,  ///< a new executable took the old one's place
};

/// How an executable may be updated.
struct update_options {
  bool may_instantiate = true;  ///< a change that nothing else applies makes a new executable

  /// Destroys the old executable before the new one is made, as graphs that allow one executable
  /// need (allocation or conditional nodes). If making it fails there is none.
  bool destroy_first = false;

  /// One method only; `instantiated` needs `may_instantiate`, `none` is a `usage_error`.
  update_method force = update_method::automatic;
};

/// A change that the executable did not take, or that led to a new one.
struct refusal {
  node_summary node;
  std::string rule;  ///< id of the row of `update_rules`; "" if none foresaw it
  verdict predicted = verdict::unchanged;  ///< by that row
  update_method tried{};                   ///< what the driver was asked for
  int code = 0;                            ///< its `CUresult`; 0 if it was not asked
  std::string function;                    ///< the driver function
  int update_result = 0;                   ///< `CUgraphExecUpdateResult` of `cuGraphExecUpdate`
};

/// What an update did. A refused update is an answer: nothing changed then.
struct exec_update {
  update_method method = update_method::none;
  std::size_t nodes_patched = 0;
  std::vector<refusal> refused{};  ///< also what led to `instantiated`
  bool up_to_date = false;
  std::size_t driver_calls = 0;

  explicit operator bool() const noexcept { return up_to_date; }
};

/// What an executable from elsewhere holds; the caller knows, and no driver tells.
enum class held_values {
  as_graph,  ///< the graph's values as they are now
  unknown,   ///< an adopted one is instantiated anew at the first update, a borrowed one refuses it
             ///< (`exec.unknown` in `update_rules`)
};

namespace detail {
struct exec_state;
}  // namespace detail

/// Refers to one node of an executable by its path. What is set here the executable alone does, and
/// the graph knows nothing of it. Does not keep the executable alive: once that is gone, every call
/// but `path` is a `usage_error`, and so is each of an empty one. Thread safety: as `graph`.
class CUGRAFT_API exec_node_ref {
 public:
  /// Empty, as after a move: it can be assigned to and destroyed, nothing else.
  exec_node_ref() = default;

  const node_path& path() const noexcept { return path_; }

  /// The node of the graph: its kind, name, tag, dependencies and native handle.
  node_ref in_graph() const;

  // What the executable holds, which may be older than what the graph has, or set by `update`.
  // Each throws `usage_error` if the node is of another kind, or its parameters cannot be read.
  kernel_node_params kernel_params() const;
  copy_node_params copy_params() const;
  fill_node_params fill_params() const;
  host_node_params host_params() const;
  CUevent event() const;

  /// Gives the node another launch, as `launch` makes it, for the launches of the executable that
  /// come; those that are enqueued keep the values of their time. The graph's value is back after
  /// the next `graph_exec::update`; until then `graph_exec::is_current` is false. What the new
  /// launch needs lives as long as the executable can run it.
  ///
  /// Calls `cuGraphExecKernelNodeSetParams`. Which changes an executable takes is in
  /// `update_rules`; one that it does not take is refused, and nothing changed then. A priority
  /// that is not set stays what it is, and so do edges: `programmatic_serialization` has to say
  /// what they are.
  /// @throws usage_error  if it does not fit the kernel (see `launch`), the node is no kernel, or a
  ///                      session of the graph is open
  /// @throws cuda_error   if a call fails that is no refusal
  template <class... Args>
  node_update update(const launch_config& config, const kernel& kernel, const Args&... arguments) {
    const std::array<detail::argument, sizeof...(Args)> list{detail::argument_of(arguments)...};
    return update_launch(config, kernel, list, true);
  }

  /// As above; arguments convert to the kernel's parameter types as in a function call.
  template <class... P>
  node_update update(const launch_config& config, const typed_kernel<void(P...)>& kernel,
                     std::type_identity_t<P>... arguments) {
    const std::array<detail::argument, sizeof...(P)> list{detail::argument_of(arguments)...};
    return update_launch(config, kernel.untyped(), list, false);
  }

  /// One argument of a kernel node, by its place in the kernel's declaration; all else stays.
  template <class T>
  node_update update_argument(std::size_t index, const T& value) {
    return update_argument_bytes(index, detail::argument_of(value));
  }

  // The same for the other kinds. Call `cuGraphExecMemcpyNodeSetParams`,
  // `cuGraphExecMemsetNodeSetParams`, `cuGraphExecHostNodeSetParams`,
  // `cuGraphExecEventRecordNodeSetEvent` or `cuGraphExecEventWaitNodeSetEvent`.
  node_update update(const copy_node_params& copy);
  node_update update(const fill_node_params& fill);
  node_update update(host_function function);
  node_update update(event_ref event);

  /// Switches the node off, for the launches that come: it then does nothing and keeps its
  /// parameters and dependencies. For kernels, copies and fills only (driver rules, 5.2). It stays
  /// off through updates and in an executable that an update instantiates, as long as the graph has
  /// the node. Calls `cuGraphNodeSetEnabled`.
  /// @throws usage_error  for another kind
  /// @throws cuda_error   the node is then what it was
  void disable();

  /// Switches it on again. @throws usage_error, cuda_error  as `disable`
  void enable();

  /// Whether the node is on. Calls `cuGraphNodeGetEnabled`.
  /// @throws usage_error, cuda_error  as `disable`
  bool is_enabled() const;

 private:
  friend struct detail::access;

  node_update update_launch(const launch_config& config, const kernel& kernel,
                            std::span<const detail::argument> arguments, bool check_sizes);
  node_update update_argument_bytes(std::size_t index, detail::argument argument);

  std::weak_ptr<detail::exec_state> exec_;
  node_path path_;
};

/// An executable graph. Move-only; keeps the graph's state alive.
///
/// It knows which values it holds, so that an update touches only the nodes that differ. Launches
/// that are enqueued keep the values of their time. Several executables of one graph are
/// independent. Thread safety: as `graph`.
class CUGRAFT_API graph_exec {
 public:
  /// Takes over `exec`, which was instantiated from `graph`, a borrowed graph for instance.
  ///
  /// The result is as one that `instantiate` made, with the options that `cuGraphExecGetFlags`
  /// tells of: not of `use_node_priority` (docs/driver/observations.md), so that a change of
  /// priority is not patched, and one that is instantiated anew goes without. Launches must have
  /// ended before it is instantiated anew where its values are unknown. With `as_graph` it is
  /// updated from the graph once (`cuGraphExecUpdate`), so that the driver keeps for its launches
  /// what the graph's nodes need: user objects that only the executable had are dropped (driver
  /// facts, User objects and attributes). Where the driver refuses that, the values count as
  /// unknown.
  ///
  /// An executable takes nodes of the graph that it was instantiated from only (driver facts,
  /// Setters). One of another graph shows when a patch is refused, with `exec.origin`; it is then
  /// instantiated anew, if it may be.
  /// @throws usage_error  if `exec` is null or a `graph_exec` has it, or `graph` is
  ///                      empty, of another driver, or in a session; `exec` stays the caller's
  /// @throws cuda_error   the same
  static graph_exec adopt(const driver& driver, CUgraphExec exec, graph& graph,
                          held_values held = held_values::as_graph);

  /// Refers to the caller's `exec`, which is patched, but never replaced or destroyed. Changes that
  /// no patch applies are refused, whatever `may_instantiate` says. `whole` only if forced, because
  /// it drops the owner's user objects (driver facts). One of another graph is refused with
  /// `exec.origin`, and is what it was.
  ///
  /// The owner keeps `exec` alive as long as the result, and sets nothing in it meanwhile. It may
  /// launch it; but the result and `graph` must outlive the last launch, for they keep what patches
  /// brought in. What earlier patches brought in is let go behind launches by way of the result.
  /// @throws usage_error, cuda_error  as `adopt`
  static graph_exec borrow(const driver& driver, CUgraphExec exec, graph& graph,
                           held_values held = held_values::as_graph);

  /// @post `other` is empty
  graph_exec(graph_exec&& other) noexcept;
  graph_exec& operator=(graph_exec&& other) noexcept;

  /// Destroys the executable, unless it is borrowed; a launch that is running completes. A failure
  /// goes to the report function.
  ~graph_exec();

  /// Runs what the last `update` brought in, behind earlier work of `stream` and earlier launches
  /// of this executable. Calls `cuGraphLaunch`.
  /// @throws usage_error  if the stream is capturing: `graph_builder::embed` is for that
  /// @throws cuda_error
  void launch(stream_ref stream);

  /// Makes resources ready for the next launch, in the order of `stream`. Calls `cuGraphUpload`.
  /// @throws usage_error, cuda_error  as `launch`
  void upload(stream_ref stream);

  /// Brings the graph's present values in, all or nothing: a refusal puts back what was set. Nodes
  /// that were set in the executable alone (`node`) get the graph's values too; those that were
  /// switched off stay off.
  ///
  /// After a refusal, which `may_instantiate` = false and forced ways may bring, launches run what
  /// the executable held before, and `is_current` says so.
  ///
  /// Calls the setters of the nodes that changed since the last update and of no others, as
  /// `cuGraphExecKernelNodeSetParams`, or `cuGraphExecUpdate` where most of them did, or
  /// instantiates.
  /// @throws usage_error       if the options contradict, or a session of the graph is open; if
  ///                           `force` is `instantiated` and it is borrowed
  /// @throws graph_lost_error  if the graph is lost
  /// @throws cuda_error        if a call fails that is no refusal
  exec_update update(const update_options& options = {});

  /// A node of the top level, in creation order, to be set in this executable alone.
  /// @throws usage_error  if the graph has not so many nodes
  exec_node_ref node(std::size_t index) const;

  /// The same by its path, or as a node of the graph that this executable is of.
  /// @throws usage_error  if the path leads nowhere, or the node is of another graph
  exec_node_ref node(const node_path& path) const;
  exec_node_ref node(const node_ref& node) const;

  /// As `graph::find`.
  std::optional<exec_node_ref> find(std::string_view tag) const;

  /// As `graph::find_kernel`.
  std::optional<exec_node_ref> find_kernel(std::string_view name, std::size_t occurrence = 0) const;

  /// Whether it holds the graph's present values.
  bool is_current() const noexcept;

  /// The graph's generation whose values it holds.
  std::uint64_t generation() const;

  /// The native handle; it changes where an update instantiated.
  /// @throws usage_error  if empty
  CUgraphExec get() const;

  /// Gives the handle up. What launches need goes with it, as far as the driver's executable refers
  /// to it: not what was patched into a borrowed one. @post `*this` is empty
  /// @throws usage_error  if empty
  CUgraphExec release();

  /// As the destructor. @post `*this` is empty
  void reset() noexcept;

  /// As `reset`, but a failure is thrown. @post `*this` is empty, also when it throws
  /// @throws cuda_error
  void close();

  /// Whether there is an executable.
  explicit operator bool() const noexcept;

 private:
  friend struct detail::access;

  graph_exec();

  std::shared_ptr<detail::exec_state> state_;
};

static_assert(!std::is_copy_constructible_v<graph_exec>);
static_assert(std::is_nothrow_move_assignable_v<graph_exec>);

}  // namespace cugraft
