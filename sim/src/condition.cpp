// SPDX-License-Identifier: Apache-2.0
#include "condition.hpp"

#include <algorithm>
#include <memory>

#include "context.hpp"
#include "entry.hpp"
#include "library.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

constexpr int conditional_switch = 2;  // CU_GRAPH_COND_TYPE_SWITCH, as an if with two bodies 12.8
constexpr int version_of_switch = 12080;

bool is_size(int kind, unsigned size) noexcept {
  const bool has_switch = the_state().version >= version_of_switch;
  switch (kind) {
    case CU_GRAPH_COND_TYPE_IF:
      return size == 1 || (size == 2 && has_switch);
    case CU_GRAPH_COND_TYPE_WHILE:
      return size == 1;
    case conditional_switch:
      return size > 0 && has_switch;
    default:
      return false;
  }
}

// A handle is a number only: that of another graph is taken where this one has the same number and
// no node uses it yet (facts).
condition* find_unused(graph& in, cuuint64_t handle) noexcept {
  std::vector<condition>& conditions = root_of(in).conditions;
  if (handle == 0 || handle > conditions.size()) return nullptr;
  condition& found = conditions[handle - 1];
  return found.used ? nullptr : &found;
}

std::shared_ptr<graph> make_body(graph& around) {
  auto body = make_graph();
  body->is_child = body->is_body = true;
  body->around = &around;
  return body;
}

std::string set_conditional(ptx::hook_call& call) {
  auto* const values = static_cast<condition_values*>(call.context);
  const auto handle = call.argument<cuuint64_t>(0);
  if (!values) return "sets a condition, and was not launched by a graph that has one";
  if (!values->set(handle, call.argument<unsigned>(1)))
    return "sets condition " + std::to_string(handle) + ", which its graph does not have";
  return {};
}

template <class Predicate>
bool any_node(const graph& of, const Predicate& holds) {
  return std::ranges::any_of(of.nodes, [&](const auto& node) {
    return holds(node->work) ||
           std::ranges::any_of(inner_graphs(node->work),
                               [&](const auto& inner) { return any_node(*inner, holds); });
  });
}

bool may_be_in_body(const operation& work) noexcept {
  switch (type_of(work)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return true;
    default:
      return false;
  }
}

bool is_of_context(const operation& work, CUcontext wanted) noexcept {
  const auto* const kernel = std::get_if<kernel_operation>(&work.what);
  return !kernel || kernel->code->owner->handle == wanted;
}

// `body` is the context of the conditional node around the graph; null outside of bodies.
unfit_node find_unfit(const graph& of, CUcontext body) noexcept {
  for (const auto& node : of.nodes) {
    if (body && !may_be_in_body(node->work))
      return {node.get(), CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED};
    if (body && !is_of_context(node->work, body))
      return {node.get(), CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED};
    for (const auto& inner : inner_graphs(node->work)) {
      const unfit_node found = find_unfit(*inner, inner->is_body ? node->work.context : body);
      if (found.node) return found;
    }
  }
  return {};
}

}  // namespace

condition_values::condition_values(const std::vector<condition>& of) {
  for (const condition& each : of) values_.push_back(each.assigns_default ? each.default_value : 0);
}

bool condition_values::set(cuuint64_t handle, unsigned value) noexcept {
  if (handle == 0 || handle > values_.size()) return false;
  values_[handle - 1] = value;
  return true;
}

ptx::hook_table device_functions() { return {{"cudaGraphSetConditional", &set_conditional}}; }

graph& root_of(graph& of) noexcept { return of.around ? root_of(*of.around) : of; }

const graph& root_of(const graph& of) noexcept { return of.around ? root_of(*of.around) : of; }

CUresult make_conditional(graph& to, const CUgraphNodeParams& parameters, operation& made) {
  const auto& given = parameters.conditional;
  if (to.is_child && !to.is_body) return CUDA_ERROR_NOT_SUPPORTED;
  if (!is_size(given.type, given.size)) return CUDA_ERROR_INVALID_VALUE;
  condition* const found = find_unused(to, given.handle);
  if (!found || (given.ctx && given.ctx != found->context)) return CUDA_ERROR_INVALID_VALUE;
  found->used = true;
  conditional_operation conditional{given.handle, given.type, given.size, {}, {}};
  conditional.shown = std::make_shared<std::vector<CUgraph>>();
  for (unsigned i = 0; i < given.size; ++i) {
    conditional.bodies.push_back(make_body(to));
    conditional.shown->push_back(conditional.bodies.back()->handle);
  }
  made = {found->context, std::move(conditional)};
  return CUDA_SUCCESS;
}

void give_condition_back(graph& to, cuuint64_t handle) noexcept {
  root_of(to).conditions[handle - 1].used = false;
}

unfit_node find_unfit_for_body(const graph& of) noexcept { return find_unfit(of, nullptr); }

bool has_conditional_nodes(const graph& of) noexcept {
  return any_node(of, [](const operation& each) {
    return std::holds_alternative<conditional_operation>(each.what);
  });
}

bool has_unused_condition(const graph& of) noexcept {
  return !std::ranges::all_of(of.conditions, &condition::used);
}

// Numbered through the whole tree of graphs, from 1 on (facts).
CUresult impl::graph_conditional_handle_create(CUgraphConditionalHandle* made, CUgraph of,
                                               CUcontext in, unsigned default_value,
                                               unsigned flags) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  if (!made || (flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<context> where;
  if (const CUresult result = in ? find_context(in, where) : current_context(where)) return result;
  std::vector<condition>& conditions = root_of(*found).conditions;
  conditions.push_back({where->handle, default_value, (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0});
  *made = conditions.size();
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
