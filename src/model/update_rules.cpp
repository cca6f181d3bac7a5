// SPDX-License-Identifier: Apache-2.0
#include "model/update_rules.hpp"

#include <algorithm>
#include <array>

namespace cugraft {
namespace {

using model::rule_row;

constexpr auto patchable = verdict::patchable;
constexpr auto needs_instantiate = verdict::needs_instantiate;

struct entry {
  rule_row row;
  update_rule rule;
};

constexpr entry entries[] = {
    {rule_row::graph_structure,
     {"graph.structure",
      "The graph has other nodes or edges than the one that the executable was made from; "
      "instantiate anew.",
      "driver facts, User objects and attributes", needs_instantiate}},
    {rule_row::exec_unknown,
     {"exec.unknown",
      "Which values the executable holds is not known: held_values::unknown says so, or the driver "
      "did not take the graph's values at its adoption. Instantiate anew; where it is borrowed, "
      "have "
      "its owner do so, or borrow it while it holds what the graph holds.",
      "driver facts, User objects and attributes", needs_instantiate}},
    {rule_row::exec_origin,
     {"exec.origin",
      "The driver refused the new value of the first node and its old one too: an executable takes "
      "nodes only of the graph that it was instantiated from. Give that graph, or instantiate "
      "anew.",
      "driver facts, Setters", needs_instantiate}},
    {rule_row::exec_single,
     {"exec.single",
      "The graph allocates or frees memory, or has conditions, and allows one executable at a "
      "time. "
      "Update with destroy_first, or close what executables it has and instantiate.",
      "driver facts, Setters", needs_instantiate}},
    {rule_row::opaque,
     {"opaque",
      "The parameters of this node were not read, so nothing says what an executable would have to "
      "take; instantiate anew.",
      "driver rules 5.2", needs_instantiate}},
    {rule_row::kernel_cluster,
     {"kernel.cluster",
      "An executable keeps its cluster sizes: the driver answers an update with success and goes "
      "on "
      "running the old one. Instantiate anew.",
      "driver facts, Whole-graph update", needs_instantiate}},
    {rule_row::kernel_cooperative,
     {"kernel.cooperative",
      "A kernel cannot become cooperative, or cease to be, in an executable (error 910). "
      "Instantiate "
      "anew.",
      "driver facts, Whole-graph update", needs_instantiate}},
    {rule_row::kernel_priority_in_use,
     {"kernel.priority_in_use",
      "In an executable that was instantiated with use_node_priority, or elsewhere, so that nobody "
      "knows, priorities are fixed. "
      "Instantiate anew, or without that option.",
      "driver rules 4.3", needs_instantiate}},
    {rule_row::kernel_attribute,
     {"kernel.attribute",
      "No setter of an executable takes launch attributes, and whether a whole-graph update "
      "carries "
      "this one over is not known. Instantiate anew.",
      "driver facts, Setters", needs_instantiate}},
    {rule_row::kernel_function_foreign,
     {"kernel.function.foreign",
      "The function can be patched. The kernel was not launched by cugraft: launch attributes that "
      "this driver does not let read may differ and would not be carried over. Launch it through "
      "cugraft, or instantiate anew if it uses such attributes.",
      "driver facts, Setters", patchable}},
    {rule_row::kernel_function,
     {"kernel.function",
      "The function can be patched, with another parameter layout too, as long as it belongs to "
      "the "
      "same context; update() does it.",
      "driver facts, Setters", patchable}},
    {rule_row::kernel_grid,
     {"kernel.grid", "The grid can be patched; update() does it.", "driver facts, Setters",
      patchable}},
    {rule_row::kernel_block,
     {"kernel.block", "The block can be patched; update() does it.", "driver rules 5.2",
      patchable}},
    {rule_row::kernel_shared_memory,
     {"kernel.shared_memory", "Dynamic shared memory can be patched; update() does it.",
      "driver rules 5.2", patchable}},
    {rule_row::kernel_arguments,
     {"kernel.arguments", "Arguments can be patched; update() does it.", "driver facts, Setters",
      patchable}},
    {rule_row::kernel_priority,
     {"kernel.priority",
      "The graph has the new priority. The executable was instantiated without use_node_priority "
      "and "
      "runs every node at the priority of its launch, so there is nothing to do.",
      "driver rules 6.3", patchable}},
    {rule_row::copy_2d,
     {"copy.2d",
      "An executable takes no change of a copy of more than one row, or from or to an array, by "
      "any "
      "call. Instantiate anew, or copy row by row.",
      "driver facts, Setters", needs_instantiate}},
    {rule_row::copy_memory_kind,
     {"copy.memory_kind",
      "A copy cannot go from or to another kind of memory in an executable. Instantiate anew.",
      "driver facts, Setters", needs_instantiate}},
    {rule_row::copy_size,
     {"copy.size", "The size of a copy of one row can be patched; update() does it.",
      "driver facts, Whole-graph update", patchable}},
    {rule_row::copy_address,
     {"copy.address",
      "Addresses of a copy of one row can be patched, as long as both memories belong to the same "
      "contexts as before; update() does it.",
      "driver rules 5.2", patchable}},
    {rule_row::fill_rows,
     {"fill.rows",
      "A fill cannot turn from one row to several, or back, in an executable. Instantiate anew.",
      "driver facts, Whole-graph update", needs_instantiate}},
    {rule_row::fill_2d_shape,
     {"fill.2d.shape",
      "Width, height, pitch and element size of a fill of several rows are fixed in an executable. "
      "Instantiate anew.",
      "driver facts, Setters", needs_instantiate}},
    {rule_row::fill_2d_value,
     {"fill.2d.value",
      "Value and destination of a fill of several rows can be patched; update() does it.",
      "driver facts, Setters", patchable}},
    {rule_row::fill_1d,
     {"fill.1d",
      "Value, destination, width and element size of a fill of one row can be patched; update() "
      "does "
      "it. The driver refuses a width that does not fit what it reserved.",
      "driver rules 4.3", patchable}},
    {rule_row::host_function,
     {"host.function", "Host function and its data can be patched; update() does it.",
      "driver facts, Whole-graph update", patchable}},
    {rule_row::event_event,
     {"event.event", "The event can be patched; update() does it.",
      "driver facts, Whole-graph update", patchable}},
    {rule_row::memory_fixed,
     {"memory.fixed",
      "Size, device and address of an allocation, and what a free frees, are fixed for the node's "
      "life; capture a new graph.",
      "driver rules 5.1", needs_instantiate}},
};

constexpr std::size_t row_count = std::size(entries);

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < row_count; ++i)
    if (entries[i].row != static_cast<rule_row>(i)) return false;
  return static_cast<std::size_t>(rule_row::memory_fixed) + 1 == row_count;
}
static_assert(rows_are_in_order());

constexpr auto rules = [] {
  std::array<update_rule, row_count> result{};
  for (std::size_t i = 0; i < row_count; ++i) result[i] = entries[i].rule;
  return result;
}();

}  // namespace

const update_rule& model::rule(rule_row row) noexcept {
  return rules[static_cast<std::size_t>(row)];
}

std::span<const update_rule> update_rules() noexcept { return rules; }

const update_rule* find_update_rule(std::string_view id) noexcept {
  const auto found = std::ranges::find(rules, id, &update_rule::id);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace cugraft
