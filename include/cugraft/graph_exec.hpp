// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cugraft/detail/export.hpp"
#include "cugraft/graph.hpp"

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

  /// Brings the graph's present values in, all or nothing: a refusal puts back what was set.
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
  struct state;

  graph_exec();

  std::unique_ptr<state> state_;
};

static_assert(!std::is_copy_constructible_v<graph_exec>);
static_assert(std::is_nothrow_move_assignable_v<graph_exec>);

}  // namespace cugraft
