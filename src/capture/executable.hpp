// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capture/graph_state.hpp"
#include "cugraft/graph_exec.hpp"
#include "handles/held_handle.hpp"
#include "model/difference.hpp"

// The driver's side of executable graphs: made, patched, updated, launched, destroyed.

namespace cugraft {

/// A driver's executable with what it holds and what its launches need.
struct executable : exec_values {
  executable(std::shared_ptr<detail::graph_state> graph, const instantiate_options& options);
  executable(const executable&) = delete;
  executable& operator=(const executable&) = delete;
  /// Destroys the executable, or leaves a borrowed one sound; a failure goes to the report
  /// function.
  ~executable();

  /// What is the driver's handle from now on; null: none. The former one is the caller's.
  CUgraphExec set_handle(CUgraphExec now) noexcept;

  std::shared_ptr<detail::graph_state> graph;
  held_handle<CUgraphExec> held;  ///< the handle, for whoever is given it a second time
  instantiate_options options;
  bool is_borrowed = false;         ///< somebody else's: never replaced or destroyed
  bool was_made_elsewhere = false;  ///< so that it may have been made with use_node_priority
  bool is_origin_known = true;   ///< it takes the graph's nodes: made here, or a patch has shown it
  bool are_values_known = true;  ///< it holds the graph's values but for `old`
  std::unique_ptr<owner_box> box;
  record_ptr record_of_graph{};  ///< of what it has from its graph, where nodes were overridden
  std::uint64_t generation = 0;
  bool was_launched = false;             ///< with what it holds now
  std::vector<std::uint32_t> damaged;    ///< nodes that a refused patch could not put back
  std::vector<CUgraphNode> disabled{};   ///< what was switched off through cugraft
  std::vector<CUgraphNode> unsettled{};  ///< of which a failed call may have left the switch wrong

  /// Retired records, and the event after which no launch needs them.
  struct retirement {
    std::size_t count = 0;
    event done;
  };
  std::deque<retirement> retirements;
};

/// Instantiates the graph as it is now and lets go of what `exec` had before, the old one last, or
/// first where `destroy_first`.
/// @throws cuda_error  the old executable is then what it was, unless `destroy_first`
void instantiate(executable& exec, bool destroy_first);

/// What the update rules have to know of an executable.
model::exec_traits traits_of(const executable& exec) noexcept;

/// How an executable that was made elsewhere was instantiated.
/// @throws cuda_error
instantiate_options options_of(const driver_table& table, CUgraphExec handle);

/// Makes `exec` the one of an executable that was made elsewhere, from its graph as `held` says;
/// see `graph_exec::adopt` and `graph_exec::borrow`.
///
/// One that is adopted refers to what its launches need from then on, as one that was made here:
/// `cuGraphExecUpdate` brings that in, with the values that it holds. Where the driver refuses
/// that, its values count as unknown.
/// @throws cuda_error  it is then the caller's
void take(executable& exec, CUgraphExec handle, held_values held, bool is_borrowed);

/// One node to be set in an executable; the values are the caller's.
struct patch {
  std::uint32_t node = 0;
  const model::node_value* old = nullptr;
  const model::node_value* now = nullptr;  ///< null: what the graph has
};

struct patch_result {
  call_result call;
  std::size_t failed_at = 0;     ///< index into the patches, if the call failed
  std::size_t driver_calls = 0;  ///< putting back included
  bool is_foreign = false;       ///< nothing was set: the executable takes no node of this graph
};

/// Sets nodes to their new values, all or nothing.
patch_result patch_nodes(executable& exec, std::span<const patch> patches);

struct whole_result {
  call_result call;
  int update_result = 0;                ///< CUgraphExecUpdateResult
  std::optional<std::uint32_t> node{};  ///< the one at fault, if the driver names it
};

/// Updates from the graph itself, the executable's own box included: the call replaces its user
/// objects by the graph's (driver facts, User objects and attributes).
/// @throws cuda_error  for a call that fails before the update
whole_result update_whole(executable& exec);

/// The executable holds the graph's present values from now on; `record` is the graph's, in a list
/// that was made before the driver was called.
void set_current(executable& exec, record_list record) noexcept;

/// Brings nodes that could not be put back to the value the executable is taken to hold.
/// @throws cuda_error
void repair(executable& exec);

/// Lets go of retired records that no launch needs any more. Never ends a capture.
void release_retired(executable& exec) noexcept;

/// @throws cuda_error
void launch(executable& exec, stream_ref stream);
void upload(executable& exec, stream_ref stream);

/// Destroys the driver's executable, if there is one, or leaves a borrowed one sound.
/// @throws cuda_error
void close(executable& exec);

}  // namespace cugraft
