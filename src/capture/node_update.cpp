// SPDX-License-Identifier: Apache-2.0
#include "capture/node_update.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include "capture/apply.hpp"
#include "capture/failures.hpp"
#include "capture/graph_edit.hpp"
#include "driver/call.hpp"
#include "handles/ownership.hpp"
#include "model/difference.hpp"
#include "model/update_rules.hpp"

namespace cugraft {
namespace {

// A node with launch attributes as they are wanted, from which they can be copied: no setter takes
// all of them back (driver facts, User objects and attributes).
class attribute_source {
 public:
  explicit attribute_source(const driver_table& table) noexcept : table_(table) {}
  attribute_source(const attribute_source&) = delete;
  attribute_source& operator=(const attribute_source&) = delete;
  ~attribute_source() {
    if (graph_ != nullptr) discard_graph(table_, graph_);
  }

  // @throws cuda_error
  CUgraphNode make(CUgraphNode like, const model::node_value& value) {
    graph_ = make_graph(table_);
    CUDA_KERNEL_NODE_PARAMS params = {};
    check(table_.graph_kernel_node_get_params(like, &params), "cuGraphKernelNodeGetParams", like);
    CUgraphNode made = nullptr;
    check(table_.graph_add_kernel_node(&made, graph_, nullptr, 0, &params), "cuGraphAddKernelNode",
          like);
    const call_result set = write_node(table_, made, value);
    check(set.code, set.function, like);
    set_all(made, like, std::get<model::kernel_value>(value.data).attributes);
    return made;
  }

 private:
  void set_all(CUgraphNode made, CUgraphNode like, const model::attributes& attributes) {
    const auto set = [&](unsigned id, const CUkernelNodeAttrValue& value) {
      check(
          table_.graph_kernel_node_set_attribute(made, static_cast<CUkernelNodeAttrID>(id), &value),
          "cuGraphKernelNodeSetAttribute", like);
    };
    CUkernelNodeAttrValue value = {};
    value.priority = attributes.priority;
    set(CU_LAUNCH_ATTRIBUTE_PRIORITY, value);
    value = {};
    value.cooperative = attributes.cooperative ? 1 : 0;
    set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value);
    if (attributes.cluster) {
      value = {};
      value.clusterDim = {attributes.cluster->x, attributes.cluster->y, attributes.cluster->z};
      set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value);
    }
    for (const launch_attribute& each : attributes.others) {
      if (each.id == CU_LAUNCH_ATTRIBUTE_IGNORE) continue;
      std::memcpy(&value, each.value.data(), sizeof value);
      set(each.id, value);
    }
  }

  const driver_table& table_;
  CUgraph graph_ = nullptr;
};

node_update result_of(const model::judgement& judgement) {
  node_update result;
  result.effect = judgement.effect;
  if (judgement.rule != nullptr) result.rule = judgement.rule->id;
  return result;
}

node_update refused(model::rule_row row) {
  node_update result = result_of({model::rule(row).effect, &model::rule(row)});
  result.applied = false;
  return result;
}

// What keeps alive what the executable runs once `node` does `now`: what it has from its graph, and
// the owners of the values that are its own.
record_ptr record_with(const executable& exec, std::uint32_t node, const model::node_value& now) {
  const record_ptr base = exec.record_of_graph ? exec.record_of_graph : exec.box->current();
  owner_list owners{now.owner};
  for (const old_values::entry& other : exec.old.all())
    if (other.node != node) owners.push_back(other.value->owner);
  return make_record(std::move(owners), {base});
}

}  // namespace

node_update update_node(detail::graph_state& graph, std::uint32_t node, model::node_value after) {
  const model::node_value before = graph.nodes.value(node);
  const node_update result = result_of(model::judge(before, after));
  const bool is_same = result.effect == verdict::unchanged;
  const bool is_same_owner = before.owner == after.owner;
  if (is_same && is_same_owner) return result;
  repair(graph);
  attribute_source attributes(*graph.table);
  raw_change change;
  change.position = node;
  if (model::attributes_differ(before, after))
    change.attributes_from = attributes.make(graph.node_handles[node], after);
  change.before = before;
  change.after = std::move(after);
  graph_edit edit(graph);
  edit.set_value(node, before, change.after);
  if (!is_same_owner) edit.renew_record(graph.record->kept, graph.record->foreign);
  if (!is_same) {
    const call_result set = apply_changes(graph, {&change, 1});
    check(set.code, set.function, graph.node_handles[node], graph.handle);
  }
  edit.commit();  // from here on nothing fails
  if (!is_same) graph.stamp = new_stamp();
  ++graph.generation;
  return result;
}

model::node_value value_of(const executable& exec, std::uint32_t node) {
  const old_values::entry* const own = exec.old.find(node);
  return own != nullptr ? *own->value : exec.graph->nodes.value(node);
}

node_update override_node(executable& exec, std::uint32_t node, model::node_value after) {
  if (exec.structure_changed) return refused(model::rule_row::graph_structure);
  if (!exec.are_values_known) return refused(model::rule_row::exec_unknown);
  const auto before = std::make_shared<const model::node_value>(value_of(exec, node));
  node_update result = result_of(model::judge(*before, after, traits_of(exec)));
  result.applied = result.effect <= verdict::patchable;
  const bool is_same_owner = before->owner == after.owner;
  if (!result.applied || (result.effect == verdict::unchanged && is_same_owner)) return result;
  const auto now = std::make_shared<const model::node_value>(std::move(after));
  record_list record;
  if (!is_same_owner) record.push_back(record_with(exec, node, *now));
  const bool is_new = exec.old.add(node, before);
  const patch change{node, before.get(), now.get()};
  const patch_result done = patch_nodes(exec, {&change, 1});
  if (!done.call.ok()) {
    if (is_new) exec.old.erase(node);
    if (done.is_foreign) result = refused(model::rule_row::exec_origin);
    result.applied = false;
    result.code = static_cast<int>(done.call.code);
    result.function = done.call.function;
    return result;
  }
  exec.old.find(node)->value = now;  // from here on nothing fails
  if (record.empty()) return result;
  if (!exec.record_of_graph) exec.record_of_graph = exec.box->current();
  exec.box->replace(std::move(record), exec.was_launched);
  exec.was_launched = exec.is_borrowed;
  return result;
}

}  // namespace cugraft
