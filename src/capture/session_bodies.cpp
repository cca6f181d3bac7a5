// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "capture/captured_graph.hpp"
#include "capture/failures.hpp"
#include "capture/held_body.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"

// Conditional nodes of a session, and their bodies: captures of their own on streams of ours, which
// are put into the body graphs when they are complete (session_place.cpp). A capture into a body
// that fails would take the process down later (driver facts, After a failed capture).

namespace cugraft {
namespace {

// A body of a re-capture: it tracks as its session does, and is compared with it.
class body_client final : public capture_client {
 public:
  explicit body_client(const driver_table& table) : table_(table) {}

  call_result begin(CUstream stream, CUstreamCaptureMode mode) override {
    return {table_.stream_begin_capture(stream, mode), "cuStreamBeginCapture"};
  }
  CUgraph target() const noexcept override { return nullptr; }
  bool matches_at_calls() const noexcept override { return false; }
  const model::graph& expected() const noexcept override { return nothing_; }
  std::optional<std::uint32_t> position(CUgraphNode) const noexcept override { return {}; }
  bool hands_out_memory() const noexcept override { return false; }  // bodies hold none
  void dropped() noexcept override {}
  void over(detail::session_state&) noexcept override {}

 private:
  const driver_table& table_;
  model::graph nothing_;  // what is expected is part of the whole
};

constexpr auto switch_condition = static_cast<int>(CU_GRAPH_COND_TYPE_WHILE) + 1;  // 12.8

CUgraphNodeParams conditional_params(const model::conditional_value& value, CUcontext context) {
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = value.handle;
  params.conditional.type = static_cast<CUgraphConditionalNodeType>(value.type);
  params.conditional.size = value.size;
  params.conditional.ctx = context;
  return params;
}

CUgraphNodeParams empty_params() {
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_EMPTY;
  return params;
}

}  // namespace

namespace detail {

session_state::session_state(session_state& parent, stream_ref stream,
                             std::unique_ptr<capture_client> client)
    : table_(parent.table_),
      origin_(stream),
      mode_(parent.mode_),
      context_(parent.context_),
      client_(std::move(client)),
      comparer_(client_ ? client_->comparer() : nullptr),
      parent_(&parent),
      tree_(parent.tree_),
      mutex_(tree_->mutex),
      described_("a body of " + parent.describe()),
      layouts_(*table_) {
  add_lane(stream, false);
}

session_state::~session_state() { discard_content(); }

condition session_state::create_condition(std::uint32_t builder,
                                          std::optional<unsigned> default_value) {
  const std::lock_guard lock(mutex_);
  require_building(builder);
  refuse_if_eager("condition", "ask graph_builder::is_eager, and do without");
  driver_of(*table_).require(feature::conditional_nodes, "leave out the condition");
  tree_->conditions.reserve(tree_->conditions.size() + 1);
  session_state& whole = root();
  CUgraphConditionalHandle handle = 0;
  if (!whole.failure_ && !whole.matches_at_calls()) {
    const context_scope current(context::borrow(driver_of(*table_), context_));
    const CUresult made = table_->graph_conditional_handle_create(
        &handle, whole.captured_graph_, context_, default_value.value_or(0),
        default_value ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0);
    // Its number may be gone, and conditions are told apart by their numbers.
    if (made != CUDA_SUCCESS)
      whole.fail({mismatch::driver_failure, {made, "cuGraphConditionalHandleCreate"}});
  }
  if (whole.failure_ || whole.matches_at_calls())
    handle = whole.expected_condition(tree_->conditions.size());
  tree_->conditions.push_back({handle, default_value});
  return {handle};
}

// Of a session that has failed: what the k-th condition would be.
std::uint64_t session_state::expected_condition(std::size_t index) const {
  std::vector<std::uint64_t> handles;
  const model::structure none;
  const model::structure& nodes = client_ ? client_->expected().structure() : none;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (const auto* each = nodes.condition(i)) handles.push_back(each->handle);
  std::sort(handles.begin(), handles.end());
  return index < handles.size() ? handles[index] : index + 1;
}

made_condition& session_state::require_condition(condition condition) {
  const auto found =
      std::ranges::find(tree_->conditions, condition.handle, &made_condition::handle);
  if (found == tree_->conditions.end())
    throw usage_error("condition " + std::to_string(condition.handle) + " is not one of " +
                      describe() + ": make it there with create_condition");
  if (found->is_used)
    throw usage_error("condition " + std::to_string(condition.handle) +
                      " has a conditional node already, and serves one: make another");
  return *found;
}

// The number of the next node, which is asked before it is made.
std::uint32_t session_state::count_nodes() const {
  if (comparer_ != nullptr) return count_found();
  if (failure_) return static_cast<std::uint32_t>(client_ ? found_.size() : notes_.size());
  std::size_t count = 0;
  check(table_->graph_get_nodes(captured_graph_, nullptr, &count), "cuGraphGetNodes",
        captured_graph_);
  return static_cast<std::uint32_t>(count);
}

std::unique_ptr<capture_client> session_state::make_body_client(CUcontext context) {
  if (comparer_ != nullptr) return make_held_body(*comparer_, client_->expected(), context);
  return client_ ? std::make_unique<body_client>(*table_) : nullptr;
}

std::vector<std::shared_ptr<session_state>> session_state::open_bodies(std::uint32_t builder,
                                                                       condition condition,
                                                                       int type,
                                                                       std::uint32_t size) {
  std::vector<stream_ref> streams;
  CUcontext context = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const lane& where = lanes_[require_building(builder).lane];
    require_own_thread(where);
    refuse_if_eager("conditional node", "ask graph_builder::is_eager, and do without");
    require_condition(condition);
    if (size == 0) throw usage_error("switch_case: 0 bodies; a switch has at least one");
    if (type == switch_condition || size > 1)
      driver_of(*table_).require(feature::conditional_switch, "use if_then for each body");
    context = where.context;
    for (std::uint32_t i = 0; i < size; ++i) streams.push_back(take_fork_stream(where));
  }
  std::vector<std::shared_ptr<session_state>> bodies;
  try {
    for (const stream_ref stream : streams) {
      bodies.push_back(std::make_shared<session_state>(*this, stream, make_body_client(context)));
      bodies.back()->begin();
    }
    const std::lock_guard lock(mutex_);
    add_conditional(builder, require_condition(condition), type, bodies);
  } catch (...) {
    for (const auto& body : bodies) body->abandon();
    throw;
  }
  return bodies;
}

void session_state::add_conditional(std::uint32_t builder, made_condition& condition, int type,
                                    const std::vector<std::shared_ptr<session_state>>& bodies) {
  lane& where = lanes_[require_building(builder).lane];
  open_conditional entry;
  entry.value = {type, static_cast<std::uint32_t>(bodies.size()), condition.handle,
                 condition.default_value};
  entry.position = count_nodes();
  entry.bodies = bodies;
  for (std::uint32_t i = 0; i < bodies.size(); ++i) {
    bodies[i]->parent_entry_ = static_cast<std::uint32_t>(open_conditionals_.size());
    bodies[i]->body_ = i;
  }
  open_conditionals_.reserve(open_conditionals_.size() + 1);
  if (comparer_ != nullptr)
    compare_conditional(where, entry.value, bodies);
  else
    put_in(where, entry);
  condition.is_used = true;
  open_conditionals_.push_back(std::move(entry));
}

// Puts the node of `entry` into what is captured.
void session_state::put_in(lane& where, open_conditional& entry) {
  conditionals_.reserve(conditionals_.size() + 1);
  entry.graphs.reserve(entry.bodies.size());
  std::vector<CUgraph> of_node;
  of_node.reserve(entry.bodies.size());
  CUgraphNodeParams params =
      parent_ == nullptr ? conditional_params(entry.value, context_) : empty_params();
  const std::size_t notes = notes_.size();
  add_by_hand(where, node_kind::conditional, {}, params);
  if (notes_.size() > notes) {
    entry.node = notes_.back().node;
    const auto position = failure_ ? captured_positions_.find(entry.node) : std::nullopt;
    if (position) {
      entry.position = *position;
      found_.set_condition(*position, entry.value);
    }
    if (parent_ == nullptr && !failure_) {
      const CUgraph* const made = params.conditional.phGraph_out;
      entry.graphs.assign(made, made + entry.value.size);
      of_node = entry.graphs;
      conditionals_.push_back({entry.node, entry.value, std::move(of_node)});
    }
  } else if (client_ && found_.size() > 0) {
    entry.position = static_cast<std::uint32_t>(found_.size() - 1);
    found_.set_condition(entry.position, entry.value);
  }
}

// A node that no stream call makes: it goes behind the stream's work, and the stream goes on behind
// it. Where the driver fails, what it did is not known, and the session has failed.
void session_state::add_by_hand(lane& where, node_kind kind, node_note note,
                                CUgraphNodeParams& params) {
  note.tag = tree_->tag;
  ++where.added;
  where.joined = false;
  if (!failure_ && matches_at_calls())
    fail({mismatch::driver_failure,
          {newer::error_graph_recapture_failure, "cuStreamBeginRecaptureToGraph"}});
  if (failure_ || !refresh(where)) return track(where, kind, std::move(note));
  if (notes_.size() == notes_.capacity()) notes_.reserve(2 * notes_.size() + 16);
  const context_scope current(context::borrow(driver_of(*table_), context_));
  const driver_front& front = where.at;
  CUgraphNode made = nullptr;
  call_result result{table_->graph_add_node(&made, captured_graph_, front.nodes.data(),
                                            front.edges.empty() ? nullptr : front.edges.data(),
                                            front.nodes.size(), &params),
                     "cuGraphAddNode"};
  if (result.ok())
    result = {table_->stream_update_capture_dependencies(where.stream.get(), &made, nullptr, 1,
                                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES),
              "cuStreamUpdateCaptureDependencies"};
  if (made == nullptr) {
    fail({mismatch::driver_failure,
          result.ok() ? call_result{CUDA_ERROR_UNKNOWN, result.function} : result});
    return track(where, kind, std::move(note));
  }
  note.node = made;
  notes_.push_back(std::move(note));
  where.at.nodes.assign(1, made);  // where it is, even if the driver says that it failed
  where.at.edges.assign(1, {});
  if (result.ok())
    refresh(where, true);
  else
    fail({mismatch::driver_failure, result});
}

node_path session_state::path_of_body() const {
  node_path path;
  if (parent_->parent_ != nullptr) path = parent_->path_of_body();
  path.steps.push_back({parent_->open_conditionals_[parent_entry_].position, body_});
  return path;
}

std::string session_state::name_of_body() const {
  if (parent_entry_ >= parent_->open_conditionals_.size()) return described_;  // not added yet
  return "body " + std::to_string(body_) + " of node " + to_string(path_of_body());
}

void session_state::require_may_close() const {
  if (parent_ == nullptr)
    throw usage_error("close: the builder of " + identify(origin_.get()) +
                      " is no conditional body: a session is ended by end(), a fork by join()");
  if (mode_ != capture_mode::relaxed && thread_ != std::this_thread::get_id())
    throw usage_error("close: " + name_of_body() +
                      " must be closed on the thread that opened it, or its session be begun in "
                      "the relaxed mode; it stays open");
  for (const open_conditional& each : open_conditionals_)
    for (const auto& inner : each.bodies)
      if (inner->phase_ == phase::open)
        throw usage_error("close: " + inner->name_of_body() + " is still open in " +
                          name_of_body() + ": close the inner one first");
}

void session_state::close_body(std::uint32_t builder) {
  const std::lock_guard lock(mutex_);
  const builder_entry& closed = require_building(builder);
  require_may_close();
  if (builder != 0)
    throw usage_error("close: the builder of " + identify(lanes_[closed.lane].stream.get()) +
                      " is a fork in " + name_of_body() + ": join it, and close the body");
  if (may_be_refused() && is_sound())
    if (const std::string refused = refused_content(); !refused.empty())
      throw usage_error("close: " + name_of_body() + " holds " + refused);
  complete();
}

void session_state::complete_bodies() {
  const std::lock_guard lock(mutex_);
  try {
    for (open_conditional& each : open_conditionals_)
      for (const auto& body : each.bodies) body->complete();
  } catch (const cuda_error& thrown) {
    tree_->functions.push_back(thrown.function());
    fail({mismatch::driver_failure,
          {static_cast<CUresult>(thrown.code()), tree_->functions.back().c_str()}});
    drop_bodies();
    found_unknown_ = true;
  }
  if (comparer_ != nullptr) return;
  if (!failure_)
    take_notes_of_bodies();
  else if (client_ && !found_unknown_)
    note_found_bodies();
}

// Whether it may still be put in place. Sees what foreign code did last.
bool session_state::is_sound() {
  if (failure_ || root().failure_) return false;
  return is_readable();
}

bool session_state::is_readable() {
  if (comparer_ != nullptr)
    look_for_foreign_work();
  else
    for (lane& each : lanes_)
      if (failure_ || !refresh(each)) return false;
  return !failure_;
}

void session_state::complete() {
  if (phase_ != phase::open) return;
  for (open_conditional& each : open_conditionals_)
    for (const auto& inner : each.bodies) {
      inner->complete();
      found_unknown_ |= inner->found_unknown_;
    }
  if (is_readable()) {
    const std::string refused = refused_content();
    if (!refused.empty())
      fail({mismatch::driver_failure,
            {CUDA_ERROR_NOT_SUPPORTED, "cuGraphAddNode"},
            false,
            name_of_body() + ", which holds " + refused});
  }
  if (client_ && comparer_ == nullptr)
    found_body_ = whole_found(failure_ ? found_tree{found_, {}}
                                       : found_tree{content_.structure, names_of(content_)});
  end_body();
  session_state& whole = root();
  std::move(kept_.begin(), kept_.end(), std::back_inserter(whole.kept_));
  kept_.clear();
  std::move(foreign_owners_.begin(), foreign_owners_.end(),
            std::back_inserter(whole.foreign_owners_));
  foreign_owners_.clear();
  if (parent_->parent_ == nullptr && !whole.failure_ && comparer_ == nullptr) {
    const CUgraph into = parent_->open_conditionals_[parent_entry_].graphs[body_];
    if (const call_result result = place(into); !result.ok())
      whole.fail({mismatch::driver_failure, result, false, name_of_body()});
  }
}

// Ends the body's capture; what was captured is kept until it is put in place.
void session_state::end_body() {
  std::vector<node_summary> unjoined;
  if (comparer_ != nullptr && !failure_) unjoined = leaves_compared();
  ended over = end_driver_capture();
  if (!unjoined.empty() && over.result.ok())
    over = {{CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "cuStreamEndCapture"}, {}, std::move(unjoined)};
  phase_ = phase::over;
  over_because_ = "it was closed";
  close_recorder(*this);
  capture_id_ = 0;
  content_graph_ = over.graph;
  if (failure_ || over.result.ok()) return;
  session_failure failure = failed_end(over.result);
  failure.place = name_of_body();
  failure.unjoined = std::move(over.unjoined);
  const node_path path = path_of_body();
  for (node_summary& leaf : failure.unjoined)
    leaf.path.steps.insert(leaf.path.steps.begin(), path.steps.begin(), path.steps.end());
  failure_ = failure;
  parent_->fail(std::move(failure));
}

// Whatever it has captured is of no use.
void session_state::drop() noexcept {
  drop_bodies();
  if (phase_ == phase::open) {
    const ended over = end_driver_capture();
    phase_ = phase::over;
    close_recorder(*this);
    capture_id_ = 0;
    content_graph_ = over.graph;
  }
  discard_content();
}

void session_state::drop_bodies() noexcept {
  for (open_conditional& each : open_conditionals_)
    for (const auto& body : each.bodies) body->drop();
}

void session_state::discard_content() noexcept {
  if (content_graph_ != nullptr) discard_graph(*table_, std::exchange(content_graph_, nullptr));
  for (const body_child& each : std::exchange(body_children_, {}))
    discard_graph(*table_, each.copy);
}

}  // namespace detail
}  // namespace cugraft
