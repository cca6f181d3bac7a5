// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capture/captured_graph.hpp"
#include "capture/exec_values.hpp"
#include "capture/fork_stream.hpp"
#include "capture/node_params.hpp"
#include "capture/owners.hpp"
#include "capture/tree.hpp"
#include "cugraft/graph.hpp"
#include "driver/table.hpp"
#include "handles/context_scope.hpp"
#include "handles/held_handle.hpp"
#include "model/graph.hpp"

namespace cugraft {

/// What an engine keeps with a graph from one re-capture to the next.
class engine_memory {
 public:
  engine_memory() = default;
  engine_memory(const engine_memory&) = delete;
  engine_memory& operator=(const engine_memory&) = delete;
  virtual ~engine_memory() = default;
};

/// Where a graph's nodes come from; decides which engine takes the graph.
enum class node_origin {
  stream_calls,  ///< one capture whose nodes all came from stream calls
  unknown,       ///< by hand, or before cugraft had the graph
};

/// A node of the driver's graph that may differ from the model.
struct damaged_node {
  std::uint32_t node = 0;
  CUgraphNode attributes_from =
      nullptr;  ///< a node with the right launch attributes; null: they are
  std::shared_ptr<const void> keeper{};  ///< of that node
};

namespace detail {

/// A graph, shared by its owner, sessions, node references and executables. One thread at a time.
struct graph_state {
  explicit graph_state(const driver_table& of) : table(&of) {}
  graph_state(const graph_state&) = delete;
  graph_state& operator=(const graph_state&) = delete;
  /// Destroys the graph, or leaves a borrowed one sound; a failure goes to the report function.
  ~graph_state();

  /// To be called when `handle` or `owns_handle` has changed.
  void note_handle() noexcept { held.set(table, owns_handle ? handle : nullptr); }

  const driver_table* table;
  CUgraph handle = nullptr;
  bool owns_handle = true;
  held_handle<CUgraph> held;    ///< the handle, if it is owned: somebody may be given it too
  bool is_borrowed = false;     ///< somebody else's, who may edit it at any time
  CUcontext context = nullptr;  ///< of the stream it was (re-)captured on; null if unknown
  /// By node, where the graph spans several contexts: empty if it does not; null: not known.
  std::vector<CUcontext> contexts{};
  node_origin origin = node_origin::unknown;
  bool has_foreign_nodes = true;  ///< some were not made by cugraft's calls, or nobody knows

  /// The most that a re-capture asked to be read of launches that cugraft did not make.
  attribute_check attributes = attribute_check::semantic;

  model::graph nodes;                           ///< what the driver's graph holds, node by node
  std::vector<CUgraphNode> node_handles;        ///< by position, inner graphs included
  std::vector<known_conditional> conditionals;  ///< those that cugraft made

  std::uint64_t generation = 0;
  std::uint64_t stamp = 0;  ///< changes with every content of the graph; see `new_stamp`
  record_ptr record = std::make_shared<const generation_record>();

  std::weak_ptr<session_state> open_session;
  bool is_updating = false;  ///< `update_from` is under way
  bool is_lost = false;      ///< a re-capture in place failed; see `refuse_lost`
  std::optional<recapture_failure> last_failure;
  std::vector<damaged_node> damaged;      ///< what a failed re-capture could not put back
  std::vector<exec_values*> executables;  ///< told before a node's value changes
  std::unique_ptr<engine_memory> native_memory, direct_memory;
  std::vector<fork_stream> fork_streams;  ///< of former sessions, for the next `fork`
};

}  // namespace detail

/// Whether nodes of this kind run in a context.
bool has_context(node_kind kind) noexcept;

/// The context of a node, by which an executable is told where a copy or a fill runs; null if it is
/// not known.
CUcontext context_of(const detail::graph_state& graph, std::uint32_t node) noexcept;

/// A number that no content of any graph had before.
std::uint64_t new_stamp() noexcept;

/// The graph must have no open session. `what` says what was asked, as "instantiate".
/// @throws usage_error
void refuse_while_open(const detail::graph_state& graph, std::string_view what);

/// The driver leaves a graph undefined in which it worked and failed: only destroying is left
/// (driver rules, 3.1 R9).
/// @throws graph_lost_error
void refuse_lost(const detail::graph_state& graph);

/// What a driver's graph holds.
struct graph_content {
  std::vector<CUgraphNode> handles;  ///< by position
  model::graph nodes;
};

/// Reads what the nodes of a graph do, and those inside of it.
/// @throws cuda_error
graph_content read_content(const driver_table& table, graph_structure structure,
                           layout_cache& layouts, attribute_check attributes);

/// Reads what `session` captured, which is the graph's handle, with what is known of cugraft's
/// calls.
/// @throws cuda_error
void read_session_graph(detail::graph_state& graph, detail::session_state& session);

/// The graph is what `fresh` is from now on, and `fresh` is nothing. Executables go on running what
/// they hold; what they were instantiated from lives until they are instantiated anew.
void replace_structure(detail::graph_state& graph, detail::graph_state& fresh);

/// An empty driver graph. @throws cuda_error
CUgraph make_graph(const driver_table& table);

/// Attaches to the driver's graph what its nodes point to, if cugraft keeps any of it, so that it
/// lives as long as that graph and what is made from it. @throws cuda_error
void give_owners_to_graph(const detail::graph_state& graph);

/// Destroys the driver's graph, or leaves a borrowed one sound. @throws cuda_error
void close_graph(detail::graph_state& graph);

/// Reads the graph again, after others edited it. Executables keep the values that they hold.
/// @throws cuda_error
void read_again(detail::graph_state& graph);

/// The same, if the graph is borrowed: its owner may have edited it. What could not be put back is
/// put back first. To be called before anything is compared with the graph or made from it.
/// @throws cuda_error
void read_afresh(detail::graph_state& graph);

/// Reads the launch attributes of the graph's kernels as far as `attributes` says and nobody knows
/// them; executables that hold other values of those nodes have the same attributes.
/// @throws cuda_error
void learn_attributes(detail::graph_state& graph, attribute_check attributes);

/// Makes the graph's context current for calls on it and its executables, if it is known.
class graph_context_scope {
 public:
  explicit graph_context_scope(const detail::graph_state& graph);

 private:
  std::optional<context_scope> scope_;
};

/// Some calls need a context current, whatever the graph's nodes are of: a driver answers an
/// instantiation without one with an error, and a kernel's setter with a crash
/// (docs/driver/observations.md). A graph that cugraft captured or matched brings its own.
/// @throws usage_error  if the graph's context is not known and the thread has none
void require_context(const detail::graph_state& graph);

/// Each node's owner, null where it has none.
owner_list owners_of(const model::graph& nodes);

/// What the owners of a graph's nodes and `kept` need alive, as a record to be shared; `foreign` is
/// what foreign code attached to the graph that it captured into, may be null.
record_ptr make_record(owner_list owners, owner_list kept,
                       std::shared_ptr<const void> foreign = nullptr);

}  // namespace cugraft
