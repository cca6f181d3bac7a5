// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "capture/fork_stream.hpp"
#include "capture/host_payload.hpp"
#include "capture/node_positions.hpp"
#include "capture/session_parts.hpp"
#include "capture/tree.hpp"
#include "cugraft/capture.hpp"

namespace cugraft {

namespace detail {

/// A conditional node of a session, with its bodies, which are captures of their own: a body whose
/// capture fails in place takes the process down later (driver facts, After a failed capture).
struct open_conditional {
  CUgraphNode node = nullptr;  ///< in a body an empty node in its place; null if it was tracked
  std::uint32_t position = 0;
  model::conditional_value value;
  std::vector<std::shared_ptr<session_state>> bodies;
  std::vector<CUgraph> graphs;  ///< that are filled; once the node is there
};

/// A graph that was embedded into a body, to be put in place with it: no driver takes a graph out
/// of one child node into another (docs/driver/observations.md).
struct body_child {
  CUgraphNode node = nullptr;  ///< null if it was tracked
  CUgraph copy = nullptr;
};

/// An open capture or re-capture: what its streams, events and builders are, and what went in.
///
/// Calls on its streams may come from any thread, one at a time, as all else: a launch that an
/// engine compares as it is made takes no lock.
struct session_state final : recorder, std::enable_shared_from_this<session_state> {
  /// Nothing is begun yet.
  /// @throws usage_error  if `origin` cannot capture: it is capturing, or the legacy stream
  session_state(stream_ref origin, capture_mode mode, std::unique_ptr<capture_client> client);

  /// A body of `parent`, on a stream of its own.
  session_state(session_state& parent, stream_ref stream, std::unique_ptr<capture_client> client);

  /// Destroys what a body captured and nobody took.
  ~session_state() override;

  /// Begins the driver's capture, and lets calls find the session from then on.
  /// @throws capture_error, usage_error
  void begin();

  // What cugraft's calls do on the session's streams.
  void launch(stream_ref stream, const launch_config& config, const kernel& kernel,
              void* const* arguments) override;
  void copy(stream_ref stream, void* dst, const void* src, std::size_t bytes) override;
  void fill(stream_ref stream, void* dst, std::uint32_t value, std::size_t count,
            unsigned element_size) override;
  void copy_rows(stream_ref stream, const row_copy& rows) override;
  void fill_rows(stream_ref stream, const row_fill& rows) override;
  void host_call(stream_ref stream, host_function function) override;
  void record(stream_ref stream, event_ref event, bool external) override;
  void wait(stream_ref stream, event_ref event, bool external) override;
  void destroying(stream_ref stream) noexcept override;
  std::uint64_t capture_id() const noexcept override { return capture_id_; }
  std::string describe() const override;

  // What builders do. A builder is named by its index.
  stream_ref stream_of(std::uint32_t builder) const;
  bool is_building(std::uint32_t builder) const noexcept;
  bool has_failed() const noexcept;
  std::vector<std::uint32_t> fork(std::uint32_t builder, std::size_t count);
  std::uint32_t fork(std::uint32_t builder, stream_ref onto);
  void join(std::uint32_t builder, std::span<const std::uint32_t> forks);
  void keep(std::uint32_t builder, std::shared_ptr<const void> owner);
  void tag(std::uint32_t builder, std::string_view name);
  void* allocate(std::uint32_t builder, std::size_t bytes);
  void free(std::uint32_t builder, void* pointer);
  /// @return whether the driver's graph has it; not in a session that has failed
  bool embed(std::uint32_t builder, const graph_state& child, bool moves);
  condition create_condition(std::uint32_t builder, std::optional<unsigned> default_value);
  /// `type` is a CUgraphConditionalNodeType. @return the bodies, open
  std::vector<std::shared_ptr<session_state>> open_bodies(std::uint32_t builder,
                                                          condition condition, int type,
                                                          std::uint32_t size);
  void close_body(std::uint32_t builder);

  // An eager run: builders as ever, but what they do runs at once. See session_eager.cpp.
  /// Opens the session without a capture; what is enqueued on its streams never comes to it.
  void begin_eager();
  bool is_eager() const noexcept { return is_eager_; }
  /// @throws unsupported_error  in an eager run
  void refuse_embedding() const;
  /// The first stream waits for forks that are still open, and what was kept lives until it has
  /// passed; the session is over. `gives_up`: also frees what was allocated and not freed, and
  /// hands failures to the report function.
  /// @throws cuda_error
  void end_eager(bool gives_up);

  /// Completes bodies that are open and puts them in place; inner ones first. To be called before
  /// what was captured is read. Their failures are the session's.
  void complete_bodies();

  /// @throws usage_error  if the session is over, or may not be ended on this thread
  void require_may_end() const;

  /// Reads where the driver is on every stream of the session, so that work which foreign code
  /// added last is seen; where calls are compared as they are made, any foreign work. To be called
  /// before `end`.
  void observe() noexcept;

  struct ended {
    call_result result;
    CUgraph graph = nullptr;               ///< the caller's; null if it failed
    std::vector<node_summary> unjoined{};  ///< leaves that no join reaches
  };

  /// Ends the driver's capture, whatever state it is in; afterwards all streams are idle and the
  /// session is over.
  ended end() noexcept;

  /// As `end`, for a session that is given up. Does nothing if it is over.
  void abandon() noexcept;

  // What went in; for those who end the session.
  const std::vector<node_note>& notes() const noexcept { return notes_; }
  const std::string& tag_text(std::uint32_t tag) const noexcept { return tree_->tags[tag]; }
  std::vector<std::shared_ptr<const void>>& kept() noexcept { return kept_; }
  /// What foreign code attached to the graphs that were embedded and compared.
  const owner_list& foreign_owners() const noexcept { return foreign_owners_; }
  layout_cache& layouts() noexcept { return layouts_; }
  const std::optional<session_failure>& failure() const noexcept { return failure_; }
  /// What foreign work was found, where calls are compared as they are made.
  const std::vector<node_summary>& foreign_work() const noexcept { return foreign_; }
  const std::string& foreign_text() const noexcept { return foreign_text_; }
  bool is_held_capture_broken() const noexcept { return is_held_broken_; }
  const model::structure& found() const noexcept { return found_; }
  /// What the found node at `position` is; positions before the first failure are the graph's.
  node_summary found_summary(std::size_t position) const;
  /// The context of that node, where the call that was refused made it; null if it is not known.
  CUcontext found_context(std::size_t position) const noexcept;
  /// How many of the graph's nodes came, as far as they are known to: those of the root, or all.
  std::size_t matched() const noexcept {
    return comparer_ != nullptr && is_whole() ? client_->expected().size() : matched_;
  }
  /// Whether nodes are known that cugraft did not launch; certain after `observe` of a whole
  /// session.
  bool has_foreign_nodes() const noexcept {
    if (matches_at_calls()) return notes_.size() < matched_;
    return foreign_inside_ || notes_.size() < captured_.size();
  }
  /// Whether an embedded graph has nodes that others made.
  bool has_foreign_inside() const noexcept { return foreign_inside_; }
  /// The conditional nodes that are in place, at every depth.
  const std::vector<known_conditional>& known_conditionals() const noexcept {
    return conditionals_;
  }
  /// Notes the nodes of embedded graphs, as `captured` has them.
  void note_embedded(const captured_graph& captured);
  /// The nodes of a capture that is compared at its end, in the order of their creation; after
  /// `note_found`.
  const std::vector<CUgraphNode>& captured() const noexcept { return captured_; }
  node_positions& captured_positions() noexcept { return captured_positions_; }
  /// What is noted of such a node; null where foreign code made it.
  const node_note* note_at(std::size_t position) const noexcept {
    const std::uint32_t note = captured_notes_[position];
    return note == no_note ? nullptr : &notes_[note];
  }
  /// Where what was allocated or freed is not what the graph's node at that position does.
  std::optional<model::structure_mismatch> first_memory_mismatch() const;
  /// What is noted of the found node at `position`; null where foreign code made it, or where the
  /// driver matched it.
  const node_note* found_note(std::size_t position) const noexcept;
  /// Whether anything was allocated or freed by builders.
  bool has_memory() const noexcept { return !allocations_.empty(); }
  capture_client* client() const noexcept { return client_.get(); }
  std::vector<fork_stream>& fork_streams() noexcept { return fork_streams_; }
  /// Whether `found` is what was captured and tracked; false where it could not be read.
  bool is_found_known() const noexcept { return !found_unknown_; }
  /// Whether what was read differs from the graph so far.
  bool has_found_mismatch() const noexcept {
    return !matches_at_calls() && matched_ < captured_.size();
  }
  /// Makes `found` and `matched` what the driver has so far. Does nothing once that was done.
  /// @throws cuda_error  where the capture has to be read, and cannot be
  void note_found();
  stream_ref origin() const noexcept { return origin_; }
  CUcontext context() const noexcept { return context_; }
  /// Whether streams of several contexts took part, as far as cugraft saw them.
  bool spans_contexts() const noexcept { return spans_contexts_; }
  capture_mode mode() const noexcept { return mode_; }
  const driver_table& table() const noexcept { return *table_; }
  std::vector<std::string> open_forks() const;
  /// The nodes that cugraft put in, in the order of the calls.
  std::vector<CUgraphNode> known_nodes() const;

  /// Where calls are compared as they are made: the last nodes of streams that the session's first
  /// one does not wait for.
  std::vector<node_summary> leaves_unjoined() const;

  /// Likewise: whether every node of the graph came, at every depth.
  bool is_whole() const noexcept;

  /// Likewise: makes `found` what came, with what is inside of its nodes.
  void note_found_tree();

  /// Lets go of what was given to the session; builders may outlive it.
  void drop_contents() noexcept;

 private:
  static constexpr std::uint32_t no_note = ~std::uint32_t{0};
  enum class phase { fresh, open, over };
  // Of addresses that no memory has: the bits above those that processors translate differ.
  static constexpr std::uintptr_t first_placeholder = std::uintptr_t{1} << 62;
  struct builder_entry {
    std::uint32_t lane = 0;
    bool open = true;
  };

  template <class Enqueue>
  void add_node(stream_ref stream, node_kind kind, node_note note, const Enqueue& enqueue);
  void add_node(lane& where, node_kind kind, node_note note, const call_result& enqueued);
  void add_memory_node(stream_ref stream, node_note note,
                       const std::function<call_result()>& enqueue);
  void stand_in(stream_ref stream, node_note note);
  void stand_in_for_copy(stream_ref stream, const model::copy_value& copy);
  bool copies_own_memory(const void* dst, const void* src) const noexcept;
  std::uintptr_t allocate_on(stream_ref stream, std::size_t bytes, std::uintptr_t own);
  std::uintptr_t next_own_address();
  call_result unjoined_memory(const std::vector<node_summary>& unjoined) const noexcept;
  void note_unread(const std::exception& thrown) noexcept;
  std::uintptr_t take_placeholder(std::size_t bytes) noexcept;
  void add_by_hand(lane& where, node_kind kind, node_note note, CUgraphNodeParams& params);
  void add_conditional(std::uint32_t builder, made_condition& condition, int type,
                       const std::vector<std::shared_ptr<session_state>>& bodies);
  void put_in(lane& where, open_conditional& entry);
  session_state& root() noexcept { return parent_ == nullptr ? *this : parent_->root(); }
  const session_state& root() const noexcept {
    return parent_ == nullptr ? *this : parent_->root();
  }
  std::uint32_t count_nodes() const;
  std::uint64_t expected_condition(std::size_t index) const;
  made_condition& require_condition(condition condition);
  node_path path_of_body() const;
  std::string name_of_body() const;
  void require_may_close() const;
  bool is_sound();
  bool is_readable();
  captured_graph read_level() const;
  std::string forbidden_node() const;
  void complete();
  void end_body();
  void drop() noexcept;
  void drop_bodies() noexcept;
  void discard_content() noexcept;
  bool copy_for_body(const graph_state& child);
  call_result place(CUgraph into);
  call_result place_node(std::size_t index, CUgraph into, std::vector<CUgraphNode>& placed);
  call_result place_conditional(open_conditional& entry, CUgraphNode node,
                                const CUgraphNodeParams& params);
  void take_notes_of_bodies();
  void note_inside_children(captured_graph& captured);
  void note_found_bodies();
  found_tree whole_found(found_tree base) const;
  std::vector<std::pair<std::string, std::string>> names_of(const captured_graph& level) const;
  void record_event(lane& where, CUevent event);
  void record_launch_events(lane& where, const launch_config& config);
  void wait_event(lane& where, CUevent event);

  // Where calls are compared as they are made: session_direct.cpp, session_direct_bodies.cpp.
  friend struct cugraft::lane;
  void compare_call(lane& where, node_note&& note, model::node_value&& now,
                    const repetition& again);
  void diverge();
  bool is_next(lane& where, node_kind kind, bool programmatic);
  void compare_launch(lane& where, node_note note, const launch_config& config,
                      const kernel& kernel, void* const* arguments);
  void compare_copy(lane& where, void* dst, const void* src, std::size_t bytes);
  void compare_fill(lane& where, void* dst, std::uint32_t value, std::size_t count,
                    unsigned element_size);
  void compare_copy(lane& where, const row_copy& rows);
  void compare_fill(lane& where, const row_fill& rows);
  void compare_memory(lane& where, node_note note);
  void compare_host_call(lane& where, std::shared_ptr<const void> owner);
  void compare_event(lane& where, node_kind kind, event_ref event);
  void link_held(lane& from, lane& to, bool is_new);
  void record_held(lane& where, event_ref event);
  void wait_held(stream_ref stream, event_ref event);
  void bring_in_held(lane& made);
  bool keeps_holding(const call_result& result);
  bool has_event(event_ref event) const;
  void note_foreign_work(const std::string& what);
  bool look_at_lane(const lane& where, CUgraphNode other = nullptr);
  void wait_as_noted(lane& where, CUevent event);
  node_summary describe_foreign(CUgraphNode node);
  void look_for_foreign_work();
  std::vector<node_summary> leaves_compared() const;
  void compare_embedded(lane& where, const graph_state& child);
  void compare_inside(const graph_state& child);
  void compare_conditional(lane& where, const model::conditional_value& value,
                           const std::vector<std::shared_ptr<session_state>>& bodies);
  void start_comparing(const model::level& level) noexcept;
  void compare_holder(lane& where, model::node_value&& now);
  std::unique_ptr<capture_client> make_body_client(CUcontext context);
  std::string forbidden_found() const;
  std::string refused_content();
  bool may_be_refused() const noexcept { return comparer_ == nullptr || found_noted_; }
  std::uint32_t count_found() const noexcept {
    return found_noted_ ? static_cast<std::uint32_t>(found_.size())
                        : static_cast<std::uint32_t>(matched_ - first_expected_);
  }
  bool tracks_calls() const noexcept { return failure_ || comparer_ != nullptr; }

  // Eager runs: session_eager.cpp.
  void refuse_if_eager(const char* asked, const char* instead) const;
  void link_eager(lane& from, lane& to);
  std::uintptr_t allocate_eagerly(stream_ref stream, std::size_t bytes) const;
  void free_eagerly(stream_ref stream, std::uintptr_t address) const;
  void release_behind_work(owner_list& kept);

  void require_open() const;
  void require_own_thread(const lane& where) const;
  const builder_entry& require_building(std::uint32_t builder) const;
  lane& lane_of(stream_ref stream);
  lane& add_lane(stream_ref stream, bool is_capturing);
  lane& bring_in(stream_ref stream);
  void take_out_last() noexcept;
  lane* find_lane(stream_ref stream) noexcept;
  bool ask(const lane& where, capture_answer& now);
  bool refresh(lane& where, bool own = false);
  bool matches_at_calls() const noexcept { return client_ && client_->matches_at_calls(); }
  bool is_clients(CUgraph graph) const noexcept { return client_ && graph == client_->target(); }
  bool read_front();
  void note_captured();
  void name_first_difference();
  bool keeps_going(lane& asked, const call_result& result);
  bool is_where_expected(const lane& where, std::size_t matched, bool programmatic);
  std::size_t first_tracked() const noexcept;
  void track(lane& where, node_kind kind, node_note note);
  void fail(session_failure failure);
  void give_up();
  void hold_streams() noexcept;
  void hold(stream_ref stream) noexcept;
  void end_held(CUgraph left, bool is_dirty) noexcept;
  CUevent link_event(CUcontext context);
  void link(lane& from, lane& to, bool is_new);
  void wait_or_take_out(lane& where, bool is_new, CUevent event);
  std::vector<node_summary> unjoined_leaves();
  std::uint32_t add_builder(const lane& where);
  stream_ref take_fork_stream(const lane& like);
  ended end_driver_capture() noexcept;

  const driver_table* table_;
  bool is_eager_ = false;
  stream_ref origin_;
  capture_mode mode_;
  std::thread::id thread_ = std::this_thread::get_id();
  CUcontext context_ = nullptr;
  bool spans_contexts_ = false;
  std::unique_ptr<capture_client> client_;
  call_comparer* comparer_ = nullptr;
  bool is_comparing_ = false;               // each call so far was the graph's next node
  const model::graph* expected_ = nullptr;  // where calls are compared as they are made
  // Likewise, its nodes that are compared: those of the root, or of a body.
  std::size_t first_expected_ = 0, end_expected_ = 0;

  session_state* parent_ = nullptr;            // of a body, as long as it is open
  std::uint32_t parent_entry_ = 0, body_ = 0;  // which conditional node and body of the parent
  std::shared_ptr<session_tree> tree_;
  std::mutex& mutex_;
  std::atomic<phase> phase_{phase::fresh};
  std::atomic<std::uint64_t> capture_id_{0};
  std::deque<lane> lanes_;  // stable addresses
  std::vector<builder_entry> builders_;
  std::vector<fork_stream>
      fork_streams_;  // streams of ours: taken from the graph, given back at the end
  std::size_t fork_streams_used_ = 0;
  std::map<CUcontext, event> link_events_;  // an event is recorded in its own context only
  CUgraph captured_graph_ = nullptr;

  std::vector<node_note> notes_;
  std::vector<open_conditional> open_conditionals_;
  std::vector<known_conditional> conditionals_;  // of the root: those in place, at every depth
  bool foreign_inside_ = false;
  captured_graph content_;  // of a body: its nodes, with those inside of child graphs
  CUgraph content_graph_ = nullptr;
  std::vector<body_child> body_children_;
  std::string described_;                                         // of a body
  std::unordered_map<std::uint32_t, found_tree> found_children_;  // of a session that failed
  found_tree found_body_;                                         // of a body, when it is complete
  bool bodies_noted_ = false;
  std::vector<std::pair<std::string, std::string>> found_names_;
  std::vector<std::shared_ptr<const void>> kept_;
  owner_list foreign_owners_;
  layout_cache layouts_;

  std::optional<session_failure> failure_;
  std::size_t matched_ = 0;  // where calls are compared as they are made, the next node's position
  driver_front at_read_;
  std::vector<model::dependency> front_read_;    // the same as positions
  std::vector<model::dependency> front_before_;  // of the node that is being added
  bool held_ = false;
  std::string over_because_;
  model::structure found_;                // re-captures: what was matched, then what was tracked
  std::vector<node_note> tracked_notes_;  // of the last found nodes, which came after a failure
  std::vector<CUgraphNode> captured_;
  node_positions captured_positions_;
  std::vector<std::uint32_t> captured_notes_;  // by position, index in notes_ or no_note
  struct {
    std::size_t position = 0;
    std::shared_ptr<const model::kernel_layout> layout{};
  } foreign_difference_;        // the first node that differs, where it is a kernel of foreign code
  bool is_clean_ = false;       // no foreign work was found
  bool is_held_ended_ = false;  // what held the streams is over
  std::vector<node_summary> foreign_;
  std::string foreign_text_;
  bool is_held_broken_ = false;
  bool found_noted_ = false;
  bool found_unknown_ = false;
  std::unordered_map<CUevent, event_note> events_;

  struct session_allocation {
    std::uintptr_t address = 0;
    std::uintptr_t own = 0;  ///< of the graph's allocation that it is matched with; 0 if none
    std::size_t bytes = 0;
    bool is_freed = false;
  };
  std::vector<session_allocation> allocations_;      // of builders, in the order of the calls
  std::vector<std::uint32_t> expected_allocations_;  // nodes of the graph
  std::optional<CUresult> leaves_unread_;            // why it is not known what is not joined
  std::uintptr_t next_placeholder_ = first_placeholder;
};

}  // namespace detail

/// @throws usage_error  if `stream` is the legacy stream, which cannot capture
void refuse_legacy(stream_ref stream);

/// Ends the capture on `stream` until the driver says that it is over. @return the first result
call_result end_capture(const driver_table& table, CUstream stream, CUgraph* graph) noexcept;

/// Behind kernels a programmatic launch makes programmatic edges (driver facts, Order, handles).
void make_programmatic(std::vector<model::dependency>& front, const model::structure& nodes);

/// What a driver makes of a copy that is captured (docs/driver/observations.md).
model::copy_value copy_of(const void* dst, const void* src, std::size_t bytes) noexcept;
model::copy_value copy_of(const row_copy& rows) noexcept;
model::fill_value fill_of(void* dst, std::uint32_t value, std::size_t count,
                          unsigned element_size) noexcept;

/// The driver's launch of a kernel.
call_result driver_launch(const driver_table& table, CUstream stream, const launch_config& config,
                          const kernel& kernel, void* const* arguments);
call_result driver_copy(const driver_table& table, CUstream stream, void* dst, const void* src,
                        std::size_t bytes) noexcept;
call_result driver_fill(const driver_table& table, CUstream stream, void* dst, std::uint32_t value,
                        std::size_t count, unsigned element_size) noexcept;
call_result driver_copy(const driver_table& table, CUstream stream, const row_copy& rows) noexcept;
call_result driver_fill(const driver_table& table, CUstream stream, const row_fill& rows) noexcept;

}  // namespace cugraft
