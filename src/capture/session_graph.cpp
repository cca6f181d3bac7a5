// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "capture/graph_state.hpp"
#include "capture/session.hpp"

// What a session captured, as a graph's content.

namespace cugraft {
namespace {

// Whether builders made the node: only such memory keeps its address in a re-capture.
void note_memory(model::node_value& value, const node_note* note) {
  const bool is_foreign = note == nullptr || !note->memory;
  if (auto* const allocation = std::get_if<model::allocation_value>(&value.data))
    allocation->is_foreign = is_foreign;
  if (auto* const freed = std::get_if<model::free_value>(&value.data))
    freed->is_foreign = is_foreign;
}

// Owner, tag and attributes of the nodes that cugraft launched, which no driver can tell; launch
// attributes of the others as far as they can be read.
void complete_nodes(detail::graph_state& graph, const detail::session_state& session,
                    const std::vector<const node_note*>& notes) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const node_note* const note = notes[i];
    if (note != nullptr) graph.nodes.set_tag(i, std::string(session.tag_text(note->tag)));
    const bool is_kernel = graph.nodes.kind(i) == node_kind::kernel;
    if (note == nullptr && !is_kernel) continue;
    model::node_value value = graph.nodes.value(i);
    if (is_kernel)
      std::get<model::kernel_value>(value.data).attributes =
          note != nullptr && note->attributes
              ? *note->attributes
              : read_attributes(*graph.table, graph.node_handles[i], attribute_check::semantic);
    note_memory(value, note);
    if (note != nullptr) value.owner = note->owner;
    graph.nodes.assign(i, std::move(value));
  }
}

// What cugraft's calls say of each node; null where they did not make it.
std::vector<const node_note*> notes_of(const captured_graph& captured,
                                       const detail::session_state& session) {
  std::vector<const node_note*> notes(captured.nodes.size());
  for (const node_note& note : session.notes())
    if (const auto position = captured.positions.find(note.node)) notes[*position] = &note;
  return notes;
}

}  // namespace

void read_session_graph(detail::graph_state& graph, detail::session_state& session) {
  captured_graph captured =
      read_tree(*graph.table, graph.handle, session.known_nodes(), session.known_conditionals());
  session.note_embedded(captured);
  graph.origin = captured.in_order ? node_origin::stream_calls : node_origin::unknown;
  const std::vector<const node_note*> notes = notes_of(captured, session);
  graph_content content =
      read_content(*graph.table, std::move(captured), session.layouts(), attribute_check::none);
  graph.has_foreign_nodes =
      session.has_foreign_inside() || session.notes().size() < content.handles.size();
  graph.node_handles = std::move(content.handles);
  graph.conditionals = session.known_conditionals();
  graph.nodes = std::move(content.nodes);
  graph.context = session.context();
  graph.contexts.clear();
  if (session.spans_contexts()) graph.contexts.resize(notes.size());
  for (std::size_t i = 0; i < graph.contexts.size(); ++i)
    if (notes[i] != nullptr) graph.contexts[i] = notes[i]->context;
  graph.stamp = new_stamp();
  complete_nodes(graph, session, notes);
  graph.record = make_record(owners_of(graph.nodes), std::move(session.kept()));
  graph.fork_streams = std::move(session.fork_streams());
}

}  // namespace cugraft
