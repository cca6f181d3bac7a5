// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "capture/failures.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"

// How a body that was captured by itself comes into the body graph of its conditional node.

namespace cugraft {
namespace {

constexpr bool may_be_in_body(node_kind kind) noexcept {
  switch (kind) {
    case node_kind::kernel:
    case node_kind::copy:
    case node_kind::fill:
    case node_kind::child_graph:
    case node_kind::empty:
    case node_kind::conditional:
      return true;
    default:
      return false;
  }
}

// Device code may change such a node; its attributes cannot be copied (driver rules, 5.1).
bool is_device_updatable(const driver_table& table, CUgraphNode kernel) {
  CUkernelNodeAttrValue value = {};
  const CUresult result = table.graph_kernel_node_get_attribute(
      kernel, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value);
  // A driver that does not know it, or does not let it be read, has no such node.
  if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED) return false;
  check(result, "cuGraphKernelNodeGetAttribute");
  return value.deviceUpdatableKernelNode.deviceUpdatable != 0;
}

auto with_context(const CUDA_KERNEL_NODE_PARAMS& read) {
  decltype(CUgraphNodeParams::kernel) params = {};
  params.func = read.func;
  params.gridDimX = read.gridDimX;
  params.gridDimY = read.gridDimY;
  params.gridDimZ = read.gridDimZ;
  params.blockDimX = read.blockDimX;
  params.blockDimY = read.blockDimY;
  params.blockDimZ = read.blockDimZ;
  params.sharedMemBytes = read.sharedMemBytes;
  params.kernelParams = read.kernelParams;
  params.extra = read.extra;
  params.kern = read.kern;
  params.ctx = read.ctx;
  return params;
}

auto with_context(const CUDA_MEMSET_NODE_PARAMS& read, CUcontext context) {
  decltype(CUgraphNodeParams::memset) params = {};
  params.dst = read.dst;
  params.pitch = read.pitch;
  params.value = read.value;
  params.elementSize = read.elementSize;
  params.width = read.width;
  params.height = read.height;
  params.ctx = context;
  return params;
}

// What makes a node do the same; of copies and fills the context cannot be read before 13.2, so it
// is taken for the session's.
call_result params_of(const driver_table& table, CUgraphNode node, node_kind kind,
                      CUcontext context, CUgraphNodeParams& params) {
  params.type = static_cast<CUgraphNodeType>(kind);
  switch (kind) {
    case node_kind::kernel: {
      CUDA_KERNEL_NODE_PARAMS read = {};
      const CUresult result = table.graph_kernel_node_get_params(node, &read);
      params.kernel = with_context(read);
      return {result, "cuGraphKernelNodeGetParams"};
    }
    case node_kind::copy:
      params.memcpy.copyCtx = context;
      return {table.graph_memcpy_node_get_params(node, &params.memcpy.copyParams),
              "cuGraphMemcpyNodeGetParams"};
    case node_kind::fill: {
      CUDA_MEMSET_NODE_PARAMS read = {};
      const CUresult result = table.graph_memset_node_get_params(node, &read);
      params.memset = with_context(read, context);
      return {result, "cuGraphMemsetNodeGetParams"};
    }
    case node_kind::child_graph:
      return {table.graph_child_graph_node_get_graph(node, &params.graph.graph),
              "cuGraphChildGraphNodeGetGraph"};
    default:
      return {};
  }
}

// `node` is told by its path in the body.
std::string forbidden_text(const node_path& body, node_summary node, bool is_updatable) {
  node.path.steps.insert(node.path.steps.begin(), body.steps.begin(), body.steps.end());
  return describe_node(node) +
         (is_updatable ? ", which device code may update: its attributes cannot be moved into a "
                         "body; launch it without that attribute"
                       : ": a conditional body holds kernels, copies, fills, child graphs, "
                         "conditional and empty nodes only; enqueue it outside of the body");
}

}  // namespace

namespace detail {

// What the body holds so far, child graphs included; of its own conditional nodes only the places.
captured_graph session_state::read_level() const {
  captured_graph level = read_tree(*table_, captured_graph_, known_nodes(), {});
  for (const open_conditional& each : open_conditionals_)
    if (const auto position = level.positions.find(each.node))
      level.structure.set_condition(*position, each.value);
  return level;
}

// The first node that a body may not hold (driver rules, 7), and what to do; empty if there is
// none.
std::string session_state::forbidden_node() const {
  for (std::size_t i = 0; i < content_.nodes.size(); ++i) {
    const node_kind kind = content_.structure.kind(i);
    const bool is_own = content_.structure.level(0).has(i);
    const bool is_updatable =
        kind == node_kind::kernel && is_own && is_device_updatable(*table_, content_.nodes[i]);
    if (may_be_in_body(kind) && !is_updatable) continue;
    node_summary summary{content_.structure.path_of(i), kind, {}, {}};
    for (const node_note& note : notes_)
      if (note.node == content_.nodes[i]) {
        if (note.layout) summary.name = note.layout->name;
        summary.tag = tree_->tags[note.tag];
      }
    return forbidden_text(path_of_body(), std::move(summary), is_updatable);
  }
  return {};
}

// The same where calls are compared as they are made: what matched is in the graph's body already.
std::string session_state::forbidden_found() const {
  if (!found_noted_) return {};
  const found_tree found = whole_found({found_, {}});
  for (std::size_t i = 0; i < found.nodes.size(); ++i) {
    if (may_be_in_body(found.nodes.kind(i))) continue;
    const auto& [name, tag] = found.names[i];
    return forbidden_text(path_of_body(), {found.nodes.path_of(i), found.nodes.kind(i), name, tag},
                          false);
  }
  return {};
}

// Reads what the body holds, if the driver has it. In a session that has failed all else comes
// first.
std::string session_state::refused_content() {
  if (comparer_ == nullptr) content_ = read_level();
  if (root().failure_) return {};
  return comparer_ != nullptr ? forbidden_found() : forbidden_node();
}

call_result session_state::place(CUgraph into) {
  const context_scope current(context::borrow(driver_of(*table_), context_));
  const std::size_t count = content_.structure.level(0).count;
  std::vector<CUgraphNode> placed(count);
  for (std::size_t i = 0; i < count; ++i)
    if (const call_result result = place_node(i, into, placed); !result.ok()) return result;
  for (node_note& note : notes_)
    if (const auto position = content_.positions.find(note.node)) note.node = placed[*position];
  discard_content();
  return {};
}

call_result session_state::place_node(std::size_t index, CUgraph into,
                                      std::vector<CUgraphNode>& placed) {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;
  for (const model::dependency& each : content_.structure.dependencies(index)) {
    nodes.push_back(placed[each.node]);
    CUgraphEdgeData& edge = edges.emplace_back();
    edge.from_port = each.data.from_port;
    edge.to_port = each.data.to_port;
    edge.type = each.data.type;
  }
  const CUgraphNode from = content_.nodes[index];
  const node_kind kind = content_.structure.kind(index);
  const auto nested = std::ranges::find(open_conditionals_, from, &open_conditional::node);
  const bool is_nested = nested != open_conditionals_.end();
  const auto child = std::ranges::find(body_children_, from, &body_child::node);
  CUgraphNodeParams params = {};
  if (is_nested) {
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = nested->value.handle;
    params.conditional.type = static_cast<CUgraphConditionalNodeType>(nested->value.type);
    params.conditional.size = nested->value.size;
    params.conditional.ctx = context_;
  } else if (child != body_children_.end()) {
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = child->copy;
  } else if (const auto read = params_of(*table_, from, kind, context_, params); !read.ok()) {
    return read;
  }
  const CUresult made = table_->graph_add_node(&placed[index], into, nodes.data(), edges.data(),
                                               nodes.size(), &params);
  if (made != CUDA_SUCCESS) return {made, "cuGraphAddNode"};
  if (is_nested) return place_conditional(*nested, placed[index], params);
  if (kind != node_kind::kernel) return {};
  return {table_->graph_kernel_node_copy_attributes(placed[index], from),
          "cuGraphKernelNodeCopyAttributes"};
}

call_result session_state::place_conditional(open_conditional& entry, CUgraphNode node,
                                             const CUgraphNodeParams& params) {
  const CUgraph* const made = params.conditional.phGraph_out;
  entry.graphs.assign(made, made + entry.value.size);
  root().conditionals_.push_back({node, entry.value, entry.graphs});
  for (std::size_t i = 0; i < entry.bodies.size(); ++i)
    if (const call_result result = entry.bodies[i]->place(entry.graphs[i]); !result.ok())
      return result;
  return {};
}

void session_state::take_notes_of_bodies() {
  for (open_conditional& each : open_conditionals_) {
    for (const auto& body : each.bodies) {
      body->take_notes_of_bodies();
      std::move(body->notes_.begin(), body->notes_.end(), std::back_inserter(notes_));
      body->notes_.clear();
    }
  }
}

}  // namespace detail
}  // namespace cugraft
