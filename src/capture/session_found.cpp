// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "capture/captured_graph.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"

// What a session has found so far: matched by the driver, read from what was captured, or tracked
// once it has failed.

namespace cugraft {
namespace {

// `nodes` and everything that they wait for.
std::unordered_set<CUgraphNode> ancestors(const driver_table& table,
                                          std::vector<CUgraphNode> nodes) {
  std::unordered_set<CUgraphNode> reached;
  while (!nodes.empty()) {
    const CUgraphNode node = nodes.back();
    nodes.pop_back();
    if (!reached.insert(node).second) continue;
    std::size_t count = 0;
    check(table.graph_node_get_dependencies(node, nullptr, nullptr, &count),
          "cuGraphNodeGetDependencies");
    if (count == 0) continue;
    std::vector<CUgraphNode> before(count);
    std::vector<CUgraphEdgeData> edges(count);
    check(table.graph_node_get_dependencies(node, before.data(), edges.data(), &count),
          "cuGraphNodeGetDependencies");
    nodes.insert(nodes.end(), before.begin(), before.end());
  }
  return reached;
}

}  // namespace

void make_programmatic(std::vector<model::dependency>& front, const model::structure& nodes) {
  for (model::dependency& each : front)
    if (nodes.kind(each.node) == node_kind::kernel) each.data = {1, 0, 1};
}

namespace detail {

void session_state::note_found() {
  if (found_noted_) return;
  if (!matches_at_calls()) {
    found_noted_ = true;
    return note_captured();
  }
  model::structure found;
  const model::structure& expected = client_->expected().structure();
  const auto to_found = [this](std::vector<model::dependency>& front) {
    for (model::dependency& each : front) each.node -= static_cast<std::uint32_t>(first_expected_);
  };
  std::vector<model::dependency> edges;
  for (std::size_t i = first_expected_; i < matched_ && i < expected.size(); ++i) {
    const auto dependencies = expected.dependencies(i);
    edges.assign(dependencies.begin(), dependencies.end());
    to_found(edges);
    found.append(expected.kind(i), edges);
    if (const auto* condition = expected.condition(i))
      found.set_condition(found.size() - 1, *condition);
  }
  found_ = std::move(found);  // from here on nothing fails
  found_noted_ = true;
  for (lane& each : lanes_) to_found(each.front);
  for (auto& [event, note] : events_) to_found(note.front);
}

// Of `found`, the first that was tracked; behind them there may be those inside of nodes.
std::size_t session_state::first_tracked() const noexcept {
  return found_.level(0).count - tracked_notes_.size();
}

// What the driver has is read; from here on positions are known, and what comes is tracked.
void session_state::note_captured() {
  found_unknown_ = true;  // until all is read
  // In a session that failed bodies are not in place, and what is inside of nodes is found apart.
  captured_graph captured = failure_
                                ? read_captured(*table_, captured_graph_, known_nodes())
                                : read_tree(*table_, captured_graph_, known_nodes(), conditionals_);
  if (failure_)
    note_inside_children(captured);
  else
    note_embedded(captured);
  captured_notes_.assign(captured.nodes.size(), no_note);
  for (std::uint32_t i = 0; i < notes_.size(); ++i)
    if (const auto position = captured.positions.find(notes_[i].node)) {
      captured_notes_[*position] = i;
      if (notes_[i].memory) captured.structure.set_kind(*position, notes_[i].memory->kind);
    }
  const auto front_of = [&](const driver_front& at) {
    std::vector<model::dependency> front;
    for (std::size_t i = 0; i < at.nodes.size(); ++i)
      if (const auto position = captured.positions.find(at.nodes[i]))
        front.push_back({*position, edge_data_of(at, i)});
    return front;
  };
  for (lane& each : lanes_) each.front = front_of(each.at);
  for (auto& [event, note] : events_) note.front = front_of(note.at);
  found_ = std::move(captured.structure);
  captured_ = std::move(captured.nodes);
  captured_positions_ = std::move(captured.positions);
  matched_ = captured_.size();
  name_first_difference();
  found_unknown_ = false;
}

// The node that a mismatch will name. Kernels of foreign code are not known otherwise.
void session_state::name_first_difference() {
  if (const auto memory = first_memory_mismatch()) matched_ = std::min(matched_, memory->position);
  const model::structure& expected = client_->expected().structure();
  // What has been put into a body that is open is not known yet.
  const bool is_partial =
      failure_ || std::ranges::any_of(open_conditionals_, [](const open_conditional& each) {
        return std::ranges::any_of(each.bodies,
                                   [](const auto& body) { return body->phase_ == phase::open; });
      });
  const auto differs = is_partial ? model::first_mismatch_of_roots(expected, found_)
                                  : model::first_mismatch(expected, found_);
  if (!differs) return;
  matched_ = std::min(matched_, differs->position);
  if (!found_.level(differs->level).has(differs->position)) return;
  if (found_.kind(differs->position) != node_kind::kernel || note_at(differs->position)) return;
  CUDA_KERNEL_NODE_PARAMS params = {};
  check(table_->graph_kernel_node_get_params(captured_[differs->position], &params),
        "cuGraphKernelNodeGetParams");
  foreign_difference_ = {differs->position, layouts_.of(function_of(params))};
}

std::vector<CUgraphNode> session_state::known_nodes() const {
  std::vector<CUgraphNode> known;
  for (const node_note& note : notes_)
    if (note.node != nullptr) known.push_back(note.node);
  return known;
}

// Whether the driver went on to a new node of the graph, and the node waits for what the graph's
// does: a driver may tell of a mismatch at the end only, or not look at the kind of an edge.
bool session_state::is_where_expected(const lane& where, std::size_t matched, bool programmatic) {
  if (where.front.size() != 1 || where.front.front().node < matched) return false;
  const model::graph& expected = client_->expected();
  if (programmatic) make_programmatic(front_before_, expected.structure());
  std::sort(front_before_.begin(), front_before_.end());
  const auto last = std::unique(front_before_.begin(), front_before_.end());
  const auto wanted = expected.structure().dependencies(where.front.front().node);
  return std::equal(front_before_.begin(), last, wanted.begin(), wanted.end());
}

void session_state::track(lane& where, node_kind kind, node_note note) {
  if (!client_) return;
  const auto position = static_cast<std::uint32_t>(found_.size());
  if (note.programmatic) make_programmatic(where.front, found_);
  if (tracked_notes_.size() == tracked_notes_.capacity())
    tracked_notes_.reserve(2 * tracked_notes_.size() + 8);
  found_.append(kind, where.front);
  tracked_notes_.push_back(std::move(note));
  where.front.assign(1, {position, {}});
}

const node_note* session_state::found_note(std::size_t position) const noexcept {
  const std::size_t first = first_tracked();
  if (position >= first && found_.level(0).has(position)) return &tracked_notes_[position - first];
  const bool is_known = !matches_at_calls() && position < captured_notes_.size();
  return is_known ? note_at(position) : nullptr;
}

node_summary session_state::found_summary(std::size_t position) const {
  if (position >= found_.size()) return {};
  node_summary summary{found_.path_of(position), found_.kind(position), {}, {}};
  if (bodies_noted_) {
    std::tie(summary.name, summary.tag) = found_names_[position];
    return summary;
  }
  if (position < first_tracked() && matches_at_calls()) {
    summary.name = client_->expected().name(first_expected_ + position);
    summary.tag = client_->expected().tag(first_expected_ + position);
    return summary;
  }
  const node_note* const note = found_note(position);
  if (note != nullptr) {
    if (note->layout) summary.name = note->layout->name;
    summary.tag = tree_->tags[note->tag];
  } else if (position == foreign_difference_.position && foreign_difference_.layout) {
    summary.name = foreign_difference_.layout->name;
  }
  return summary;
}

CUcontext session_state::found_context(std::size_t position) const noexcept {
  const std::size_t first = first_tracked();
  if (position >= found_.level(0).count) return nullptr;
  if (position >= first) return tracked_notes_[position - first].context;
  const bool is_all_known = notes_.size() == first;
  return is_all_known ? notes_[position].context : nullptr;
}

// The last nodes of streams that nobody waits for, as far as the origin does not reach them. Read
// before the end: afterwards the graph is gone (driver rules, 2.4).
std::vector<node_summary> session_state::unjoined_leaves() {
  std::vector<CUgraphNode> leaves;
  for (const lane& each : lanes_)
    if (each.stream != origin_ && !each.joined)
      leaves.insert(leaves.end(), each.at.nodes.begin(), each.at.nodes.end());
  if (leaves.empty()) return {};
  const std::unordered_set<CUgraphNode> reached = ancestors(*table_, lanes_.front().at.nodes);
  std::vector<CUgraphNode> all = nodes_of(*table_, captured_graph_);
  put_in_creation_order(all, known_nodes());
  std::vector<node_summary> result;
  for (const CUgraphNode leaf : leaves) {
    if (reached.contains(leaf)) continue;
    const auto position =
        matches_at_calls()
            ? client_->position(leaf).value()
            : static_cast<std::uint32_t>(std::find(all.begin(), all.end(), leaf) - all.begin());
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    check(table_->graph_node_get_type(leaf, &type), "cuGraphNodeGetType");
    node_summary summary{{{{position, 0}}}, static_cast<node_kind>(type), {}, {}};
    for (const node_note& note : notes_) {
      if (note.node != leaf) continue;
      if (note.layout) summary.name = note.layout->name;
      if (note.memory) summary.kind = note.memory->kind;
      summary.tag = tree_->tags[note.tag];
    }
    result.push_back(std::move(summary));
  }
  return result;
}

}  // namespace detail
}  // namespace cugraft
