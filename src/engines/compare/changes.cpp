// SPDX-License-Identifier: Apache-2.0
#include "engines/compare/changes.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "driver/call.hpp"
#include "engines/outcome.hpp"

namespace cugraft {
namespace {

class collector {
 public:
  collector(const captured_source& source, recapture_outcome& outcome)
      : source_(source), graph_(source.graph), outcome_(outcome) {}

  void compare(std::uint32_t position) {
    const CUgraphNode node = source_.session.captured()[position];
    const node_note* const note = source_.session.note_at(position);
    if (graph_.nodes.kind(position) == node_kind::kernel)
      compare_kernel(position, node, note);
    else if (graph_.nodes.kind(position) != node_kind::conditional)  // that matched with all it has
      compare_other(position, node, note);
  }

 private:
  // An unchanged kernel costs no allocation.
  void compare_kernel(std::uint32_t position, CUgraphNode node, const node_note* note) {
    CUDA_KERNEL_NODE_PARAMS params = {};
    check(graph_.table->graph_kernel_node_get_params(node, &params), "cuGraphKernelNodeGetParams");
    const CUfunction function = function_of(params);
    const auto& layout =
        note != nullptr && note->layout ? note->layout : source_.session.layouts().of(function);
    pack_arguments_into(arguments_, params.kernelParams, params.extra, *layout);
    const bool is_known = note != nullptr && note->attributes;
    if (!is_known) attributes_ = read_attributes(*graph_.table, node, source_.attributes);
    const model::attributes& attributes = is_known ? *note->attributes : attributes_;
    const model::kernel_view now{.function = function,
                                 .layout = same_layout(position, layout.get()),
                                 .grid = {params.gridDimX, params.gridDimY, params.gridDimZ},
                                 .block = {params.blockDimX, params.blockDimY, params.blockDimZ},
                                 .shared_memory_bytes = params.sharedMemBytes,
                                 .attributes = &attributes,
                                 .arguments = arguments_};
    if (graph_.nodes.same(position, now)) return note_owner(graph_, position, note, outcome_);
    model::kernel_value value;
    value.function = function;
    value.layout = now.layout == layout.get() ? layout : graph_.nodes.layout(position);
    value.grid = now.grid;
    value.block = now.block;
    value.shared_memory_bytes = now.shared_memory_bytes;
    value.attributes = attributes;
    value.arguments = arguments_;
    add(position, node, note, {node_kind::kernel, std::move(value), owner_of(position, note)});
  }

  void compare_other(std::uint32_t position, CUgraphNode node, const node_note* note) {
    const memory_call* const stood_in = note != nullptr && note->memory ? &*note->memory : nullptr;
    if (stood_in && !stood_in->copy) return;  // matched already: it has nothing to change
    model::node_value now =
        stood_in ? model::node_value{node_kind::copy, *stood_in->copy, {}}
                 : read_node(*graph_.table, node, source_.session.layouts(), source_.attributes);
    if (graph_.nodes.same(position, now)) return note_owner(graph_, position, note, outcome_);
    now.owner = owner_of(position, note);
    if (same_payload(graph_.nodes.value(position), now)) return;  // the graph's own stays
    add(position, node, note, std::move(now));
  }

  // The graph's own where it is the same, so that the comparison sees it in one glance.
  const model::kernel_layout* same_layout(std::uint32_t position,
                                          const model::kernel_layout* layout) {
    const model::kernel_layout* const own = graph_.nodes.layout(position).get();
    if (own == same_own_ && layout == same_captured_) return own;
    if (!model::same_layout(own, layout)) return layout;
    same_own_ = own;
    same_captured_ = layout;
    return own;
  }

  void add(std::uint32_t position, CUgraphNode node, const node_note* note, model::node_value now) {
    add_change(outcome_, graph_, position, tag_now(graph_, source_.session, position, note),
               std::move(now))
        .attributes_from = node;
  }

  const std::shared_ptr<const void>& owner_of(std::uint32_t position,
                                              const node_note* note) const noexcept {
    return note != nullptr && note->owner ? note->owner : graph_.nodes.owner(position);
  }

  const captured_source& source_;
  const detail::graph_state& graph_;
  recapture_outcome& outcome_;
  const model::kernel_layout* same_own_ = nullptr;  // the last two that were found the same
  const model::kernel_layout* same_captured_ = nullptr;
  model::argument_bytes arguments_;
  model::attributes attributes_;
};

}  // namespace

void collect_changes(const captured_source& source, recapture_outcome& outcome) {
  collector collect(source, outcome);
  for (std::uint32_t i = 0; i < source.graph.nodes.size(); ++i) collect.compare(i);
}

}  // namespace cugraft
