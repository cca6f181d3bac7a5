// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <utility>

#include "base/identify.hpp"
#include "capture/failures.hpp"
#include "capture/graph_state.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"

// Child graphs of a session, and what is found inside of nodes.

namespace cugraft {
namespace {

using name_list = std::vector<std::pair<std::string, std::string>>;

// As that of `inside`, of which nothing but the handles is another.
bool is_alike(const captured_graph& captured, const std::vector<std::uint32_t>& positions,
              const model::structure& inside) {
  if (positions.size() != inside.size()) return false;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (captured.structure.kind(positions[i]) != inside.kind(i) ||
        captured.structure.dependencies(positions[i]).size() != inside.dependencies(i).size())
      return false;
  return true;
}

embedded_graph knowledge_of(const detail::graph_state& child, session_tree& tree) {
  embedded_graph result{child.nodes.structure(), {}};
  for (std::size_t i = 0; i < child.nodes.size(); ++i) {
    node_note& note = result.notes.emplace_back();
    if (!child.nodes.tag(i).empty()) {
      tree.tags.emplace_back(child.nodes.tag(i));
      note.tag = static_cast<std::uint32_t>(tree.tags.size() - 1);
    }
    note.owner = child.nodes.owner(i);
    if (child.nodes.kind(i) != node_kind::kernel) continue;
    note.layout = child.nodes.layout(i);
    // Of a foreign kernel the engine reads what `attribute_check` says.
    const model::attributes& attributes = *child.nodes.kernel(i).attributes;
    if (attributes.known_to == model::known::everything) note.attributes = attributes;
  }
  return result;
}

name_list names_inside(const embedded_graph& inside, const session_tree& tree) {
  name_list names;
  for (const node_note& note : inside.notes)
    names.emplace_back(note.layout ? note.layout->name : std::string(), tree.tags[note.tag]);
  return names;
}

// Puts graphs that lie inside of each other into one tree, level by level.
class tree_builder {
 public:
  using inner_trees = std::function<std::vector<const found_tree*>(std::uint32_t)>;

  /// `inside` says what is in a node of the root of `base`, where `base` does not have it.
  tree_builder(const found_tree& base, const inner_trees& inside) : base_(base), inside_(inside) {
    add_level({&base, 0});
    for (std::uint32_t node = 0; node < places_.size(); ++node) add_inner(node);
  }

  found_tree take() { return std::move(result_); }

 private:
  struct place {
    const found_tree* tree = nullptr;
    std::size_t index = 0;  // of a level, or a node
  };

  void add_level(place from) {
    const model::level of = from.tree->nodes.level(from.index);
    const auto first = static_cast<std::uint32_t>(result_.nodes.size());
    std::vector<model::dependency> edges;
    for (std::size_t node = of.first; node < of.first + of.count; ++node) {
      const auto dependencies = from.tree->nodes.dependencies(node);
      edges.assign(dependencies.begin(), dependencies.end());
      for (model::dependency& edge : edges) edge.node = edge.node - of.first + first;
      result_.nodes.append(from.tree->nodes.kind(node), edges);
      if (const auto* condition = from.tree->nodes.condition(node))
        result_.nodes.set_condition(result_.nodes.size() - 1, *condition);
      result_.names.push_back(node < from.tree->names.size() ? from.tree->names[node]
                                                             : name_list::value_type());
      places_.push_back({from.tree, node});
    }
  }

  void add_inner(std::uint32_t node) {
    const place of = places_[node];
    const auto [first, count] = of.tree->nodes.levels_in(of.index);
    for (std::uint32_t body = 0; body < count; ++body) begin(node, body, {of.tree, first + body});
    if (count > 0 || of.tree != &base_) return;
    std::uint32_t body = 0;
    for (const found_tree* const each : inside_(node)) begin(node, body++, {each, 0});
  }

  void begin(std::uint32_t node, std::uint32_t body, place from) {
    result_.nodes.begin_level(node, body);
    add_level(from);
  }

  const found_tree& base_;
  const inner_trees& inside_;
  found_tree result_;
  std::vector<place> places_;  // where each node comes from
};

}  // namespace

namespace detail {

// Of a body; a failure fails the session.
// @return whether there is a copy
bool session_state::copy_for_body(const graph_state& child) {
  if (parent_ == nullptr || failure_) return false;
  body_children_.reserve(body_children_.size() + 1);
  const context_scope current(context::borrow(driver_of(*table_), context_));
  CUgraph copy = nullptr;
  const CUresult made = table_->graph_clone(&copy, child.handle);
  if (copy != nullptr) body_children_.push_back({nullptr, copy});  // reserved
  if (made == CUDA_SUCCESS) return true;
  fail({mismatch::driver_failure, {made, "cuGraphClone"}});
  return false;
}

bool session_state::embed(std::uint32_t builder, const graph_state& child, bool moves) {
  const std::lock_guard lock(mutex_);
  lane& where = lanes_[require_building(builder).lane];
  require_own_thread(where);
  kept_.reserve(kept_.size() + 1);
  root().foreign_inside_ |= child.has_foreign_nodes;
  if (!child.record->kept.empty() || child.record->foreign) kept_.push_back(child.record);
  if (comparer_ != nullptr) {
    compare_embedded(where, child);
    return false;
  }
  node_note note;
  note.inside = std::make_shared<const embedded_graph>(knowledge_of(child, *tree_));
  const auto inside = note.inside;
  newer::child_graph_params content{child.handle, moves ? newer::child_graph_move : 0};
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_GRAPH;
  newer::set_child_graph(params, content);
  const bool is_copied = copy_for_body(child);
  const std::size_t notes = notes_.size();
  add_by_hand(where, node_kind::child_graph, std::move(note), params);
  const bool is_there = notes_.size() > notes;
  if (is_copied && is_there) body_children_.back().node = notes_.back().node;
  if (!is_there && client_ && found_.size() > 0)
    found_children_.insert_or_assign(static_cast<std::uint32_t>(found_.size() - 1),
                                     found_tree{inside->structure, names_inside(*inside, *tree_)});
  return is_there;
}

void session_state::note_embedded(const captured_graph& captured) {
  const std::size_t count = notes_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::shared_ptr<const embedded_graph> inside = notes_[i].inside;
    const auto position = inside ? captured.positions.find(notes_[i].node) : std::nullopt;
    if (!position) continue;
    const auto positions = positions_inside(captured.structure, *position);
    if (!is_alike(captured, positions, inside->structure)) continue;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      notes_.push_back(inside->notes[k]);
      notes_.back().node = captured.nodes[positions[k]];
    }
  }
}

// Of a session that has failed: reads what its child graphs hold, and where its conditions are.
void session_state::note_inside_children(captured_graph& captured) {
  for (open_conditional& each : open_conditionals_) {
    const auto position = captured.positions.find(each.node);
    if (!position) continue;
    each.position = *position;
    captured.structure.set_condition(*position, each.value);
  }
  for (std::uint32_t i = 0; i < captured.nodes.size(); ++i) {
    if (captured.structure.kind(i) != node_kind::child_graph) continue;
    captured_graph child = read_tree(*table_, child_graph_of(*table_, captured.nodes[i]), {}, {});
    found_tree& found = found_children_[i];
    found.nodes = std::move(child.structure);
    const auto note = std::ranges::find(notes_, captured.nodes[i], &node_note::node);
    if (note != notes_.end() && note->inside)
      found.names = names_inside(*note->inside, *tree_);
    else
      foreign_inside_ = true;
  }
}

// With what is inside of its nodes, as far as it is not there already.
found_tree session_state::whole_found(found_tree base) const {
  if (base.names.empty())
    for (std::size_t i = 0; i < base.nodes.size(); ++i) {
      const node_summary summary = found_summary(i);
      base.names.emplace_back(summary.name, summary.tag);
    }
  const tree_builder::inner_trees inside = [this](std::uint32_t node) {
    std::vector<const found_tree*> trees;
    if (const auto child = found_children_.find(node); child != found_children_.end())
      trees.push_back(&child->second);
    for (const open_conditional& each : open_conditionals_)
      if (each.position == node)
        for (const auto& body : each.bodies) trees.push_back(&body->found_body_);
    return trees;
  };
  return tree_builder(base, inside).take();
}

name_list session_state::names_of(const captured_graph& level) const {
  name_list names(level.nodes.size());
  for (const node_note& note : notes_)
    if (const auto position = level.positions.find(note.node))
      names[*position] = {note.layout ? note.layout->name : std::string(), tree_->tags[note.tag]};
  return names;
}

// Of a session that has failed, once its bodies are complete.
void session_state::note_found_bodies() {
  if (bodies_noted_) return;
  found_tree whole = whole_found({found_, {}});
  found_ = std::move(whole.nodes);
  found_names_ = std::move(whole.names);
  bodies_noted_ = true;
  for (const open_conditional& each : open_conditionals_)
    for (const auto& body : each.bodies) {
      foreign_inside_ |= body->has_foreign_nodes();
      found_unknown_ |= body->found_unknown_;
    }
}

}  // namespace detail
}  // namespace cugraft
