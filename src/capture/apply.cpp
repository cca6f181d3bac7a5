// SPDX-License-Identifier: Apache-2.0
#include "capture/apply.hpp"

#include <utility>

#include "capture/failures.hpp"
#include "driver/call.hpp"
#include "model/difference.hpp"

namespace cugraft {
namespace {

// Nodes that hold the old launch attributes meanwhile: an attribute can only be put back whole by
// copying it from a node that has it (driver facts, User objects and attributes).
class attribute_store {
 public:
  explicit attribute_store(const driver_table& table) noexcept : table_(table) {}
  attribute_store(const attribute_store&) = delete;
  attribute_store& operator=(const attribute_store&) = delete;
  ~attribute_store() {
    if (graph_ != nullptr) discard_graph(table_, graph_);
  }

  call_result save(CUgraphNode node, CUgraphNode* holder) {
    if (graph_ == nullptr)
      if (const CUresult code = table_.graph_create(&graph_, 0); code != CUDA_SUCCESS)
        return {code, "cuGraphCreate"};
    CUDA_KERNEL_NODE_PARAMS params = {};
    if (const CUresult code = table_.graph_kernel_node_get_params(node, &params);
        code != CUDA_SUCCESS)
      return {code, "cuGraphKernelNodeGetParams"};
    if (const CUresult code = table_.graph_add_kernel_node(holder, graph_, nullptr, 0, &params);
        code != CUDA_SUCCESS)
      return {code, "cuGraphAddKernelNode"};
    return {table_.graph_kernel_node_copy_attributes(*holder, node),
            "cuGraphKernelNodeCopyAttributes"};
  }

 private:
  const driver_table& table_;
  CUgraph graph_ = nullptr;
};

struct applied_node {
  CUgraphNode old_attributes = nullptr;
  bool attributes = false;
};

call_result set_node(detail::graph_state& graph, const raw_change& change, attribute_store& store,
                     applied_node& done) {
  const CUgraphNode node = graph.node_handles[change.position];
  if (done.attributes) {
    if (const call_result saved = store.save(node, &done.old_attributes); !saved.ok()) {
      done.attributes = false;  // untouched
      return saved;
    }
  }
  const call_result set = write_node(*graph.table, node, change.after);
  if (!set.ok() || !done.attributes) return set;
  return {graph.table->graph_kernel_node_copy_attributes(node, change.attributes_from),
          "cuGraphKernelNodeCopyAttributes"};
}

void put_back(detail::graph_state& graph, const raw_change& change, const applied_node& done,
              const std::shared_ptr<const void>& keeper) noexcept {
  const CUgraphNode node = graph.node_handles[change.position];
  const CUgraphNode attributes = done.attributes ? done.old_attributes : nullptr;
  bool restored = write_node(*graph.table, node, change.before).ok();
  if (attributes != nullptr)
    restored &= graph.table->graph_kernel_node_copy_attributes(node, attributes) == CUDA_SUCCESS;
  if (!restored) graph.damaged.push_back({change.position, attributes, keeper});  // reserved
}

}  // namespace

call_result apply_changes(detail::graph_state& graph, std::span<const raw_change> changes) {
  if (!changes.empty()) require_context(graph);
  std::vector<applied_node> done(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i)
    done[i].attributes = changes[i].attributes_from != nullptr &&
                         model::attributes_differ(changes[i].before, changes[i].after);
  graph.damaged.reserve(graph.damaged.size() + changes.size());
  const auto store = std::make_shared<attribute_store>(*graph.table);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const call_result set = set_node(graph, changes[i], *store, done[i]);
    if (set.ok()) continue;
    for (std::size_t back = i + 1; back-- > 0;) put_back(graph, changes[back], done[back], store);
    return set;
  }
  return {};
}

void repair(detail::graph_state& graph) {
  if (!graph.damaged.empty()) require_context(graph);
  while (!graph.damaged.empty()) {
    const damaged_node& damaged = graph.damaged.back();
    const CUgraphNode node = graph.node_handles[damaged.node];
    const call_result set = write_node(*graph.table, node, graph.nodes.value(damaged.node));
    check(set.code, set.function, graph.handle);
    if (damaged.attributes_from != nullptr)
      check(graph.table->graph_kernel_node_copy_attributes(node, damaged.attributes_from),
            "cuGraphKernelNodeCopyAttributes", graph.handle);
    graph.damaged.pop_back();
  }
}

}  // namespace cugraft
