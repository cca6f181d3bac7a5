// SPDX-License-Identifier: Apache-2.0
#include "engines/native/changes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/host_payload.hpp"
#include "driver/call.hpp"
#include "engines/outcome.hpp"
#include "model/difference.hpp"

namespace cugraft {
namespace {

model::kernel_value kernel_of(const model::graph& graph, std::uint32_t node,
                              const CUDA_KERNEL_NODE_PARAMS_v3& params, bool& is_complete) {
  model::kernel_value kernel;
  kernel.function =
      params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern);
  kernel.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
  kernel.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  kernel.shared_memory_bytes = params.sharedMemBytes;
  // Another function's layout could only be had from the driver, in whose call this runs.
  is_complete = graph.kernel(node).function == kernel.function;
  if (!is_complete) return kernel;
  kernel.layout = graph.layout(node);
  kernel.arguments = packed_arguments(params.kernelParams, params.extra, *kernel.layout);
  return kernel;
}

model::attributes new_attributes(const change_source& source, std::uint32_t node,
                                 const node_note* note) {
  return attributes_now(source.graph, note, source.copy.node(node), source.attributes);
}

// What the node does now; `row` is null where the driver saw no difference.
model::node_value value_now(const change_source& source, std::uint32_t node, native_row* row,
                            const node_note* note) {
  model::node_value now;
  if (row == nullptr) {
    now = source.graph.nodes.value(node);
  } else if (row->is_complete) {
    now = std::move(row->value);
    now.owner = source.graph.nodes.owner(node);
  } else {
    now = read_node(*source.graph.table, source.copy.node(node), source.session.layouts(),
                    attribute_check::none);
    const auto* const called = std::get_if<model::kernel_value>(&row->value.data);
    const auto* const read = std::get_if<model::kernel_value>(&now.data);
    if (called != nullptr && read != nullptr && called->function != read->function)
      throw not_written{node};
  }
  if (note != nullptr && note->owner) now.owner = note->owner;
  if (auto* kernel = std::get_if<model::kernel_value>(&now.data))
    kernel->attributes = new_attributes(source, node, note);
  return now;
}

bool may_differ(const change_source& source, std::uint32_t node, const native_row* row,
                const node_note* note) {
  if (row != nullptr) return true;
  if (source.graph.nodes.kind(node) != node_kind::kernel) return false;
  model::kernel_view view = source.graph.nodes.kernel(node);
  if (note != nullptr && note->attributes) {
    view.attributes = &*note->attributes;
    return !source.graph.nodes.same(node, view);
  }
  if (source.attributes == attribute_check::none) return false;
  const model::attributes read = new_attributes(source, node, note);
  view.attributes = &read;
  return !source.graph.nodes.same(node, view);
}

// The value of an attribute outside the semantic ones; zero where there is none, which is the
// default.
launch_attribute attribute_of(const model::node_value& kernel, unsigned id) {
  for (const launch_attribute& each : std::get<model::kernel_value>(kernel.data).attributes.others)
    if (each.id == id) return each;
  return {.id = id};
}

// What cannot be read back counts as not written.
void require_attribute(const change_source& source, const raw_change& change, unsigned id) {
  const launch_attribute wanted = attribute_of(change.after, id);
  if (wanted.value == attribute_of(change.before, id).value) return;
  CUkernelNodeAttrValue read = {};
  const CUresult result = source.graph.table->graph_kernel_node_get_attribute(
      source.copy.node(change.position), static_cast<CUkernelNodeAttrID>(id), &read);
  launch_attribute found{.id = id};
  static_assert(sizeof found.value == sizeof read);
  std::memcpy(found.value.data(), &read, sizeof read);
  if (result != CUDA_SUCCESS || found.value != wanted.value) throw not_written{change.position};
}

// Launch attributes are copied from the working copy, so they have to be there.
void require_attributes(const change_source& source, const raw_change& change) {
  if (!model::attributes_differ(change.before, change.after)) return;
  const CUgraphNode copied = source.copy.node(change.position);
  const model::node_value read =
      read_node(*source.graph.table, copied, source.session.layouts(), attribute_check::semantic);
  if (model::attributes_differ(read, change.after)) throw not_written{change.position};
  const auto& before = std::get<model::kernel_value>(change.before.data).attributes;
  const auto& after = std::get<model::kernel_value>(change.after.data).attributes;
  if (before.known_to != model::known::everything || after.known_to != model::known::everything)
    return;  // of a foreign launch nobody knows the others
  for (const launch_attribute& each : before.others) require_attribute(source, change, each.id);
  for (const launch_attribute& each : after.others) require_attribute(source, change, each.id);
}

// Whether the copy holds what the callback said, by the first node that it told of.
bool is_written(const change_source& source, const recapture_outcome& outcome) {
  const auto told =
      std::find_if(outcome.changes.begin(), outcome.changes.end(),
                   [](const raw_change& change) { return change.native_status.has_value(); });
  if (told == outcome.changes.end()) return true;
  const model::node_value read = read_node(*source.graph.table, source.copy.node(told->position),
                                           source.session.layouts(), attribute_check::none);
  return model::differences(read, told->after).empty();
}

// One node tells of all: the driver either keeps them or makes them anew.
void require_handles(const change_source& source) {
  CUgraphNode any = nullptr;
  std::size_t count = 1;
  check(source.graph.table->graph_get_nodes(source.copy.handle(), &any, &count), "cuGraphGetNodes");
  if (!source.copy.position(any)) throw handles_changed{};
}

}  // namespace

native_row make_row(const model::graph& graph, std::uint32_t node, recapture_status status,
                    const CUgraphNodeParams& params) {
  native_row row;
  row.node = node;
  row.status = status;
  row.value.kind = static_cast<node_kind>(params.type);
  switch (row.value.kind) {
    case node_kind::kernel:
      row.value.data = kernel_of(graph, node, params.kernel, row.is_complete);
      break;
    case node_kind::copy:
      row.value.data = copy_value_of(params.memcpy.copyParams);
      break;
    case node_kind::fill:
      row.value.data = fill_value_of(params.memset);
      break;
    case node_kind::host:
      row.value.data = model::host_value{reinterpret_cast<std::uintptr_t>(params.host.fn),
                                         reinterpret_cast<std::uintptr_t>(params.host.userData)};
      break;
    case node_kind::event_record:
      row.value.data = model::event_value{params.eventRecord.event};
      break;
    case node_kind::event_wait:
      row.value.data = model::event_value{params.eventWait.event};
      break;
    default:
      row.is_complete = false;
  }
  return row;
}

std::vector<const node_note*> notes_by_node(const change_source& source) {
  std::vector<const node_note*> notes(source.graph.nodes.size());
  for (const node_note& note : source.session.notes())
    if (const auto position = source.copy.position(note.node)) notes[*position] = &note;
  return notes;
}

copy_content collect_changes(const change_source& source, std::vector<native_row>& rows,
                             recapture_outcome& outcome) {
  const model::graph& graph = source.graph.nodes;
  if (graph.size() != 0) require_handles(source);
  const std::vector<const node_note*> notes = notes_by_node(source);
  std::vector<native_row*> row_of(rows.empty() ? 0 : graph.size());
  for (native_row& row : rows) row_of[row.node] = &row;
  copy_content content;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    const node_note* const note = notes[node];
    native_row* const row = row_of.empty() ? nullptr : row_of[node];
    if (!may_differ(source, node, row, note)) {
      note_owner(source.graph, node, note, outcome);
      continue;
    }
    const model::node_value before = graph.value(node);
    model::node_value now = value_now(source, node, row, note);
    if (graph.same(node, now) || same_payload(before, now)) {
      content.set_back.push_back(node);
      // A host node goes on with its own function, at its address; another owner is taken over.
      if (payload_of(before) == nullptr) note_owner(source.graph, node, note, outcome);
      continue;
    }
    raw_change& change =
        add_change(outcome, source.graph, node, tag_now(source.graph, source.session, node, note),
                   std::move(now));
    if (row != nullptr) change.native_status = row->status;
    change.attributes_from = source.copy.node(node);
    require_attributes(source, change);
  }
  content.is_written = is_written(source, outcome);
  return content;
}

}  // namespace cugraft
