// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cugraft/capture.hpp"
#include "cugraft/change_report.hpp"
#include "cugraft/detail/export.hpp"
#include "cugraft/event.hpp"
#include "cugraft/node_params.hpp"

namespace cugraft {

/// Which launch attributes are read of kernels that cugraft did not launch itself; of those that it
/// did it knows all. The same on every engine.
enum class attribute_check {
  none,
  semantic,  ///< cluster size, cooperative, priority
  all,  ///< every attribute that this driver lets read; about 40 ns each (driver facts). What it
        ///< does not let read is never guessed: see the rule `kernel.function.foreign`
};

/// How a re-capture is done.
struct recapture_options {
  capture_mode mode = capture_mode::thread_local_;
  engine with = engine::automatic;
  mismatch_hook on_mismatch{};

  /// Reports what would change and touches nothing: neither the graph nor its generation.
  bool compare_only = false;

  attribute_check attributes = attribute_check::semantic;

  /// For the forms with a body: where `native` or `direct` cannot finish, for foreign work for
  /// instance, the body runs once more with `compare`.
  bool may_rerun_body = false;

  /// Another structure replaces the graph instead of failing, and any content one that cannot be
  /// read back: what was captured is the graph from then on, so that `get` changes. Executables go
  /// on running what they hold, from a graph that lives until `graph_exec::update` instantiates
  /// them anew. The report says `structure_replaced` and no changes; `on_mismatch` is not asked.
  /// `automatic` then means `compare`; `native` and `direct` need `may_rerun_body`. Not for
  /// borrowed graphs, `compare_only` and `update_from`: `usage_error`. What allocates (`allocate`)
  /// is replaced each time, because its memory has other addresses then.
  bool replace_structure = false;

  /// `native` only, for graphs that cannot be cloned (allocation nodes): the driver works on the
  /// graph itself, and a failure loses it (driver rules, 3.1 R9); so do a hook that rejects, an
  /// exception, and a session that is given up. Executables go on launching. Not with another
  /// engine, `compare_only` nor borrowed graphs: `usage_error`.
  bool in_place = false;

  native_hook on_native_mismatch{};  ///< `native` only: the driver's own arguments
};

/// An open re-capture, and the builder of the stream on which it began. Move-only.
///
/// The k-th node that is captured is matched with the graph's k-th: kind, dependencies with edge
/// data, then parameters. A mismatch shows at `end` or `try_end` and nowhere else, on every engine,
/// and goes before a failure of the capture. Ends belong on the thread that began the session,
/// unless relaxed; `abandon` and the destructor work on any.
class CUGRAFT_API recapture_session : public graph_builder {
 public:
  /// @post `other` has no session
  recapture_session(recapture_session&& other) noexcept;

  /// Abandons the session that `*this` had. @post `other` has no session
  recapture_session& operator=(recapture_session&& other) noexcept;

  /// Abandons the session if it is open. Never throws; a failure goes to the report function.
  ~recapture_session();

  /// Ends the capture, and applies to the graph what changed, all or nothing. An exception of a
  /// hook leaves unchanged, and nothing is applied.
  /// @post the session is over and its streams are idle, also when it throws anything but
  /// `usage_error`
  /// @throws recapture_error  if it failed; the graph is what it was
  /// @throws usage_error      if the session is over, or on another thread than it began; no harm
  /// is done
  change_report end();

  /// As `end`, with the failure as a value.
  /// @throws usage_error  as `end`
  recapture_result try_end();

  /// Ends the capture; the graph is what it was. Does nothing if the session is over.
  void abandon() noexcept;

 private:
  friend struct detail::access;

  recapture_session() = default;

  std::shared_ptr<detail::session_state> own_;  // whatever is assigned to the builder
};

/// How a graph is instantiated.
struct instantiate_options {
  bool auto_free_on_launch = false;  ///< each launch first frees what the last one left allocated
  bool device_launch = false;        ///< kernels may launch it; not with `auto_free_on_launch`
  bool use_node_priority = false;  ///< the nodes' priorities count, not that of the launch's stream
  std::optional<stream_ref> upload{};  ///< uploads at once, in this stream's order
};

/// Digest of a graph's structure at every depth: kinds, kernel functions, dependencies with edge
/// data, all in creation order, but no other parameter. Means something within one process.
///
/// Equal ones: a re-capture meets no structural mismatch.
struct structure_fingerprint {
  std::array<std::uint64_t, 2> value{};

  friend auto operator<=>(const structure_fingerprint&, const structure_fingerprint&) = default;
};

class graph_exec;

/// An allocation node of a graph, as `graph::allocations` lists it.
struct graph_allocation {
  node_path path;
  void* pointer = nullptr;  ///< the same at every launch, as long as the graph lives
  std::size_t bytes = 0;
  int device = 0;  ///< ordinal
  /// The graph's own free of it. Empty: a launch leaves the memory, and the next one is refused
  /// until it was freed (`free_async`), unless `instantiate_options::auto_free_on_launch`.
  std::optional<node_path> freed_at{};
  /// Not made by `graph_builder::allocate`: `compare` refuses the graph.
  bool is_foreign = false;
};

/// A copy node that reads host memory, as `graph::host_sources` lists it.
struct host_source {
  node_path path;
  const void* pointer = nullptr;  ///< of the first byte
  std::size_t width_bytes = 0;    ///< of a row
  std::size_t rows = 1;
  bool is_pinned = false;  ///< page-locked, as a `host_buffer` is; else pageable
};

/// Refers to one node of a graph by its path, and shares the graph's state. Thread safety: as
/// `graph`.
class CUGRAFT_API node_ref {
 public:
  /// Empty, as after a move: it can be assigned to and destroyed, nothing else.
  node_ref() = default;

  node_kind kind() const;

  /// Of a kernel: its name in the image. Valid until the graph changes.
  std::string_view name() const;

  /// As `graph_builder::tag` set it; "" if not. Valid until the graph changes.
  std::string_view tag() const;

  const node_path& path() const noexcept;

  /// The nodes of the same graph that this one waits for.
  std::vector<node_ref> dependencies() const;

  /// The native handle; it is replaced where the structure is.
  CUgraphNode get() const;

  // What the node does. Each throws `usage_error` if it is of another kind, or its parameters
  // cannot be read.
  kernel_node_params kernel_params() const;
  copy_node_params copy_params() const;
  fill_node_params fill_params() const;
  host_node_params host_params() const;
  CUevent event() const;

  /// Gives the node another launch, as `launch` makes it: the complement of a re-capture, where it
  /// is known which node changes. Executables follow by `graph_exec::update`; the result says what
  /// they can do about it. The generation is one more if anything changed.
  ///
  /// Calls `cuGraphKernelNodeSetParams`, and where launch attributes differ
  /// `cuGraphKernelNodeCopyAttributes`, all or nothing. A priority that is not set stays what it
  /// is, and so do edges: `programmatic_serialization` has to say what they are. What the new
  /// launch needs lives as long as the graph or an executable can run it.
  /// @throws usage_error       if it does not fit the kernel (see `launch`), the node is no kernel,
  ///                           or a session is open
  /// @throws graph_lost_error  if the graph is lost
  /// @throws cuda_error        if the driver refuses; the graph is what it was
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

  /// Another copy. Which memory a side of kind `unified` is of is asked for by its address
  /// (`cuPointerGetAttribute`); memory that the driver does not know is the host's.
  /// Calls `cuGraphMemcpyNodeSetParams`.
  /// @throws usage_error, graph_lost_error, cuda_error  as above
  node_update update(const copy_node_params& copy);

  // The same for the other kinds. Call `cuGraphMemsetNodeSetParams`, `cuGraphHostNodeSetParams`,
  // `cuGraphEventRecordNodeSetEvent` or `cuGraphEventWaitNodeSetEvent`. Of two host functions that
  // are the same the node's own stays.
  node_update update(const fill_node_params& fill);
  node_update update(host_function function);
  node_update update(event_ref event);

 private:
  friend struct detail::access;

  node_update update_launch(const launch_config& config, const kernel& kernel,
                            std::span<const detail::argument> arguments, bool check_sizes);
  node_update update_argument_bytes(std::size_t index, detail::argument argument);

  std::shared_ptr<detail::graph_state> graph_;
  node_path path_;
};

/// A graph that can be re-captured. Move-only.
///
/// Sessions, node references and executables share its state: it may be moved or destroyed before
/// them. Thread safety: a graph, its sessions, node references and executables are used by one
/// thread at a time; different graphs are independent. Functions that throw give `usage_error` on
/// an empty graph and `graph_lost_error` on a lost one.
///
/// Of a graph from elsewhere the context is not known until a re-capture matched it. Until then
/// what instantiates it, updates an executable of it or sets its nodes needs one current on the
/// thread, as drivers do (docs/driver/observations.md), and gives `usage_error` where there is
/// none.
class CUGRAFT_API graph {
 public:
  /// An empty graph. Calls `cuGraphCreate`.
  /// @throws cuda_error
  explicit graph(const driver& driver);

  /// Takes over `graph`, which is destroyed with the result, and reads it.
  /// @throws usage_error  if `graph` is null
  /// @throws cuda_error
  static graph from_native_handle(const driver& driver, CUgraph graph);

  /// A graph that somebody else owns and keeps alive, captured by the CUDA runtime, a library or a
  /// framework for instance. It is never destroyed here.
  ///
  /// Its owner may edit it, but not during a session, an update or `instantiate`: it is read afresh
  /// by each re-capture, `update_from`, `instantiate`, and update of an executable that does more
  /// than patch; `resync` reads it too. What was edited counts as a change that `resync` found.
  /// Nobody knows whether its nodes were made by hand, so `automatic` means `compare`, and `native`
  /// is refused. Nodes that cannot be read back (conditions), and allocations, are refused by the
  /// re-capture, before it begins.
  ///
  /// What a re-capture brings in (kernels, host functions, owners) is kept by the result, which
  /// must outlive whatever the owner makes of the graph; `release` leaves it with the owner's graph
  /// instead. Nodes that a failed re-capture could not put back are put back at the latest when the
  /// result goes.
  /// @throws usage_error, cuda_error  as above
  static graph borrow(const driver& driver, CUgraph graph);

  /// @post `other` is empty
  graph(graph&& other) noexcept;
  graph& operator=(graph&& other) noexcept;

  /// As `reset`.
  ~graph();

  /// Begins a re-capture on `stream`, which need not be the one that the graph was captured on.
  ///
  /// One session of a graph at a time. `native` calls `cuStreamBeginRecaptureToGraph`, the other
  /// engines `cuStreamBeginCapture`. Nothing of the graph changes before the session's end, but for
  /// `in_place`.
  /// @throws usage_error        if the stream is capturing or the legacy one, a session is open,
  /// the
  ///                            options contradict, or the engine that was named does not take the
  ///                            graph
  /// @throws unsupported_error  if the engine that was named needs a newer driver: `native`
  /// needs 13.3
  /// @throws capture_error      if the driver refuses
  [[nodiscard]] recapture_session begin_recapture(stream_ref stream,
                                                  const recapture_options& options = {});

  /// The same.
  [[nodiscard]] recapture_session recapture(stream_ref stream,
                                            const recapture_options& options = {});

  /// Re-captures what `body` enqueues. An exception of `body` leaves unchanged, after the capture
  /// was ended; the graph is what it was, and `last_failure` has the reason if there was one.
  /// @throws recapture_error  if it failed; the graph is what it was
  /// @throws usage_error, unsupported_error, capture_error  as `begin_recapture`
  template <capture_body F>
  change_report recapture(stream_ref stream, F&& body, const recapture_options& options = {}) {
    return try_recapture(stream, body, options).report();
  }

  /// As above, with the failure as a value.
  template <capture_body F>
  recapture_result try_recapture(stream_ref stream, F&& body,
                                 const recapture_options& options = {}) {
    return run_body(stream, std::ref(body), options);
  }

  /// Compares with `other`, a graph that was captured elsewhere, and takes its parameters over, as
  /// a re-capture with `compare` does. `other` stays the caller's and may be destroyed at return:
  /// if anything changed, a clone of it is kept for its user objects. Host functions in it are
  /// unknown to cugraft, so they count as changed unless function and data are the same. Of a
  /// cugraft::graph give the graph: its handle does not show what its nodes need.
  /// @throws recapture_error        if the structure differs; the graph is what it was
  /// @throws usage_error            if `other` is null, this graph or the handle of another
  ///                                cugraft::graph, a session is open, or an option does not apply:
  ///                                another engine than `compare`, `on_native_mismatch`,
  ///                                `replace_structure`; on a borrowed graph also `in_place`
  /// @throws recapture_error        also if the graph allocates: another capture has its memory at
  ///                                other addresses
  /// @throws cuda_error             if `other` cannot be read
  /// @throws not_implemented_error  if the graph holds nodes that cannot be read back
  change_report update_from(CUgraph other, const recapture_options& options = {});

  /// As above; `other` is kept as long as something of it is needed, or if it is borrowed a clone
  /// of it.
  /// @throws usage_error  also if `other` is of another driver or context, or in a session
  change_report update_from(graph other, const recapture_options& options = {});

  /// As `update_from`, with the failure as a value.
  recapture_result try_update_from(CUgraph other, const recapture_options& options = {});
  recapture_result try_update_from(graph other, const recapture_options& options = {});

  /// Makes an executable graph. Calls `cuGraphInstantiateWithParams`.
  /// @throws usage_error  if a session is open, or the graph allows one executable (allocation or
  ///                      conditional nodes) and has it
  /// @throws cuda_error
  [[nodiscard]] graph_exec instantiate(const instantiate_options& options = {});

  /// Number of nodes at the top level.
  std::size_t node_count() const;

  /// A node of the top level, in creation order.
  /// @throws usage_error  if there are not so many
  node_ref node(std::size_t index) const;

  /// A node at any depth.
  /// @throws usage_error  if the path leads nowhere
  node_ref node(const node_path& path) const;

  /// The first node with that tag, at any depth.
  std::optional<node_ref> find(std::string_view tag) const;

  /// The kernel node that is the `occurrence`-th of those with that name in the image, counted from
  /// 0 in creation order, at any depth.
  std::optional<node_ref> find_kernel(std::string_view name, std::size_t occurrence = 0) const;

  structure_fingerprint fingerprint() const;

  /// The allocation nodes of the top level, in creation order.
  ///
  /// A graph that has any, or frees memory of another, allows one executable at a time, no clone,
  /// no edit of its structure, and no whole-graph update or `update_from` by another capture
  /// (driver rules, 6.2). Memory that a launch leaves outlives graph and executable.
  std::vector<graph_allocation> allocations() const;

  /// The copy nodes of the top level that read host memory, in creation order. Calls
  /// `cuPointerGetAttribute`.
  ///
  /// Each launch reads the memory anew, and the graph owns none of it: what is not to outlive its
  /// scope or to be written meanwhile is to be kept (`graph_builder::keep`).
  /// @throws cuda_error
  std::vector<host_source> host_sources() const;

  /// 0 when made; one more for each applied change by a re-capture, `update_from`, `resync` or
  /// `node_ref::update`.
  std::uint64_t generation() const;

  /// Whether a failure with `in_place` lost the graph: it can then be destroyed, nothing else.
  bool is_lost() const noexcept;

  /// Whether `borrow` made it.
  bool is_borrowed() const noexcept;

  /// Of the latest re-capture that failed, also when a body's own exception left the call.
  std::optional<recapture_failure> last_failure() const;

  /// The native handle. The same through every re-capture, but for `replace_structure`.
  CUgraph get() const;

  /// Gives the handle up; the caller keeps it alive as long as an executable of it is updated. What
  /// its nodes need alive is attached to it, as a user object.
  /// @post `*this` is empty
  /// @throws usage_error  if a session is open
  CUgraph release();

  /// Lets go of the graph: it is destroyed with the last session, node reference and executable
  /// that share it, unless it is borrowed. A failure goes to the report function. @post `*this` is
  /// empty
  void reset() noexcept;

  /// As `reset`, but a failure is thrown. @post `*this` is empty, also when it throws
  /// @throws cuda_error
  void close();

  /// Whether there is a graph; true for a lost one too.
  explicit operator bool() const noexcept;

  /// Reads the graph again after edits through `get`, or by the owner of a borrowed one.
  /// Executables keep the values that they hold. Of launch attributes it sees cluster size,
  /// cooperative and priority, and after a re-capture with `attribute_check::all` what the driver
  /// lets read. Child graphs and the bodies of conditional nodes that cugraft made are read too.
  /// What is inside nodes that it does not read, as conditional nodes of others, it cannot tell:
  /// executables of such a graph are then made anew by the next update.
  /// @throws usage_error  if a session is open
  /// @throws cuda_error
  void resync();

 private:
  friend struct detail::access;

  explicit graph(std::shared_ptr<detail::graph_state> state) noexcept;

  recapture_result run_body(stream_ref stream, std::function<void(graph_builder&)> body,
                            const recapture_options& options);

  std::shared_ptr<detail::graph_state> state_;
};

template <capture_body F>
graph capture(stream_ref stream, F&& body, capture_mode mode) {
  capture_session session = begin_capture(stream, mode);
  body(static_cast<graph_builder&>(session));
  return session.end();
}

static_assert(!std::is_copy_constructible_v<graph> && std::is_nothrow_move_assignable_v<graph>);
static_assert(!std::is_copy_constructible_v<recapture_session>);
static_assert(std::is_nothrow_move_assignable_v<recapture_session>);

}  // namespace cugraft
