// SPDX-License-Identifier: Apache-2.0
#include "cugraft/graph_exec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "capture/apply.hpp"
#include "capture/exec_switches.hpp"
#include "capture/failures.hpp"
#include "capture/single_executable.hpp"
#include "handles/context_scope.hpp"
#include "handles/held_handle.hpp"
#include "handles/open_sessions.hpp"
#include "model/difference.hpp"
#include "model/update_rules.hpp"
#include "recapture/exec_state.hpp"

// How an executable follows its graph: patched, updated whole, or instantiated anew.

namespace cugraft {

namespace {

using detail::access;

constexpr int graph_update_refused = 910;  // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE

// A node that differs between executable and graph.
struct pending_change {
  patch what;
  model::judgement judgement;
};

void require_consistent(const executable& exec, const update_options& options) {
  if (options.force == update_method::none)
    throw usage_error("update_options: force = none asks for nothing; leave the update out");
  if (options.force == update_method::instantiated && !options.may_instantiate)
    throw usage_error(
        "update_options: force = instantiated contradicts may_instantiate = false; allow it");
  if (options.force == update_method::instantiated && exec.is_borrowed)
    throw usage_error("update_options: force = instantiated replaces the executable, and " +
                      identify(exec.handle) +
                      " is borrowed: instantiate the graph, or adopt the executable");
}

// Drops what the graph took back, and judges the rest.
std::vector<pending_change> pending_changes(executable& exec) {
  const model::graph& nodes = exec.graph->nodes;
  const model::exec_traits traits = traits_of(exec);
  std::vector<pending_change> pending;
  std::vector<std::uint32_t> taken_back;
  pending.reserve(exec.old.size());
  for (const auto& [node, old] : exec.old.in_order()) {
    const model::judgement judgement = model::judge(*old, nodes, node, traits);
    if (judgement.rule == nullptr && nodes.owner(node) == old->owner)
      taken_back.push_back(node);
    else
      pending.push_back({{node, old.get()}, judgement});
  }
  for (const std::uint32_t node : taken_back) exec.old.erase(node);
  return pending;
}

refusal refusal_of(const executable& exec, const pending_change& change, update_method tried) {
  refusal result;
  result.node = summary_of(exec.graph->nodes, change.what.node);
  if (change.judgement.rule != nullptr) result.rule = change.judgement.rule->id;
  result.predicted = change.judgement.effect;
  result.tried = tried;
  return result;
}

void set_rule(refusal& refused, model::rule_row row) {
  refused.rule = model::rule(row).id;
  refused.predicted = model::rule(row).effect;
}

exec_update up_to_date(exec_update&& update, executable& exec, record_list&& record,
                       update_method method) noexcept {
  set_current(exec, std::move(record));
  update.method = method;
  update.up_to_date = true;
  return std::move(update);
}

// Changes that the whole-graph call is known to drop while it says success, or for which nobody
// knows (driver facts, Whole-graph update).
bool is_dropped_by_whole_update(const pending_change& change) {
  constexpr std::array dropped{std::string_view("kernel.cluster"),
                               std::string_view("kernel.attribute")};
  return change.judgement.effect == verdict::needs_instantiate &&
         change.judgement.rule != nullptr &&
         std::find(dropped.begin(), dropped.end(), change.judgement.rule->id) != dropped.end();
}

bool is_patchable(const pending_change& change) {
  return change.judgement.effect <= verdict::patchable;
}

bool try_patch(executable& exec, const std::vector<pending_change>& pending, exec_update& update) {
  for (const pending_change& change : pending)
    if (!is_patchable(change))
      update.refused.push_back(refusal_of(exec, change, update_method::none));
  if (!std::all_of(pending.begin(), pending.end(), &is_patchable)) return false;
  std::vector<patch> patches;
  patches.reserve(pending.size());
  for (const pending_change& change : pending) patches.push_back(change.what);
  const patch_result result = patch_nodes(exec, patches);
  update.driver_calls += result.driver_calls;
  if (result.call.ok()) {
    update.nodes_patched = patches.size();
    return true;
  }
  refusal refused = refusal_of(exec, pending[result.failed_at], update_method::patched);
  if (result.is_foreign) set_rule(refused, model::rule_row::exec_origin);
  refused.code = static_cast<int>(result.call.code);
  refused.function = result.call.function;
  update.refused.push_back(std::move(refused));
  return false;
}

bool try_whole(executable& exec, const std::vector<pending_change>& pending, exec_update& update) {
  for (const pending_change& change : pending)
    if (is_dropped_by_whole_update(change))
      update.refused.push_back(refusal_of(exec, change, update_method::none));
  if (!update.refused.empty()) return false;
  const whole_result result = update_whole(exec);
  ++update.driver_calls;
  if (result.call.ok()) return true;
  pending_change at_fault{{result.node.value_or(0), nullptr}, {}};
  for (const pending_change& change : pending)
    if (result.node && change.what.node == *result.node) at_fault = change;
  refusal refused = result.node ? refusal_of(exec, at_fault, update_method::whole) : refusal{};
  refused.tried = update_method::whole;
  refused.code = static_cast<int>(result.call.code);
  refused.function = result.call.function;
  refused.update_result = result.update_result;
  update.refused.push_back(std::move(refused));
  return false;
}

// Beyond about half of the nodes, and for more than a few, one call for the whole graph is cheaper
// than one for each node (driver facts, Whole-graph update against patching). It drops nothing of
// what can be patched; but it brings in what the owner of a borrowed graph may have edited.
bool is_whole_cheaper(const executable& exec, const std::vector<pending_change>& pending) {
  constexpr std::size_t few = 32;
  return pending.size() >= few && 2 * pending.size() > exec.graph->nodes.size() &&
         !exec.is_borrowed && !exec.graph->is_borrowed && exec.is_origin_known &&
         std::all_of(pending.begin(), pending.end(), &is_patchable);
}

// @return how it was done; `instantiated` if it was not, and has to be
update_method try_update(executable& exec, const std::vector<pending_change>& pending,
                         update_method force, exec_update& update) {
  constexpr auto not_done = update_method::instantiated;
  if (force == not_done) return not_done;
  if (exec.handle == nullptr || exec.structure_changed || !exec.are_values_known) {
    refusal refused;
    set_rule(refused, exec.are_values_known ? model::rule_row::graph_structure
                                            : model::rule_row::exec_unknown);
    refused.tried = update_method::none;
    update.refused.push_back(std::move(refused));
    return not_done;
  }
  if (pending.empty() && force != update_method::whole) return update_method::none;
  const bool chosen = force == update_method::automatic && is_whole_cheaper(exec, pending);
  if (chosen || force == update_method::whole) {
    if (try_whole(exec, pending, update)) return update_method::whole;
    const bool is_refusal = update.refused.back().code == graph_update_refused;
    if (!chosen || !is_refusal) return not_done;
  }
  return try_patch(exec, pending, update) ? update_method::patched : not_done;
}

// What a refused update could not put back is put back now. Where that fails again, or is no longer
// possible, a new executable is the way out, if it is allowed.
bool try_repair(executable& exec, const update_options& options, exec_update& update) {
  const bool may_be_replaced =
      options.may_instantiate && !exec.is_borrowed &&
      (options.force == update_method::automatic || options.force == update_method::instantiated);
  if (may_be_replaced && exec.structure_changed) return true;  // it will be
  try {
    repair(exec);
    return true;
  } catch (const cuda_error& thrown) {
    if (!may_be_replaced) throw;
    refusal refused;
    refused.node = summary_of(exec.graph->nodes, exec.damaged.back());
    refused.predicted = verdict::needs_instantiate;
    refused.tried = update_method::patched;
    refused.code = thrown.code();
    refused.function = thrown.function();
    update.refused.push_back(std::move(refused));
    return false;
  }
}

// Of such a graph a driver makes one executable at a time (driver rules, 6.3; driver facts).
exec_update update_executable(executable& exec, const update_options& options) {
  // The owner of a borrowed graph may have edited it, and destroyed nodes that would be patched.
  if (!exec.old.empty() || !exec.damaged.empty() || options.force == update_method::whole)
    read_afresh(*exec.graph);
  repair(*exec.graph);
  exec_update update;
  const bool is_sound = try_repair(exec, options, update);
  release_retired(exec);
  drain_released();
  const std::vector<pending_change> pending = pending_changes(exec);
  record_list record{exec.graph->record};
  if (is_sound) {
    const update_method done = try_update(exec, pending, options.force, update);
    if (done != update_method::instantiated)
      return up_to_date(std::move(update), exec, std::move(record), done);
  }
  const bool forced =
      options.force != update_method::automatic && options.force != update_method::instantiated;
  if (!options.may_instantiate || forced || exec.is_borrowed) return update;
  if (is_in_the_way(exec, options.destroy_first)) {
    refusal refused;
    set_rule(refused, model::rule_row::exec_single);
    refused.tried = update_method::none;
    update.refused.push_back(std::move(refused));
    return update;
  }
  read_afresh(*exec.graph);
  record = {exec.graph->record};
  update.driver_calls += exec.handle == nullptr ? 1 : 2;
  instantiate(exec, options.destroy_first);
  return up_to_date(std::move(update), exec, std::move(record), update_method::instantiated);
}

}  // namespace

executable& made_executable(executable& exec) {
  if (exec.handle == nullptr)
    throw usage_error(
        "the executable graph was destroyed to make room for one that could not be instantiated: "
        "update() tries again");
  return exec;
}

void make_sound(executable& exec) {
  if (exec.damaged.empty() && exec.unsettled.empty()) return;
  const graph_context_scope current(*exec.graph);
  repair(exec);
  settle_switches(exec);
}

namespace {

executable& launchable(executable& exec, stream_ref stream) {
  made_executable(exec);
  if (&table_of(stream) != exec.graph->table)
    throw usage_error(identify(exec.handle) + " and " + identify(stream.get()) +
                      " are of two drivers: launch on a stream of the executable's driver");
  refuse_if_capturing(stream, "launching an executable graph into it (embed the graph instead)");
  make_sound(exec);
  release_retired(exec);
  return exec;
}

}  // namespace

graph_exec::graph_exec() = default;
graph_exec::graph_exec(graph_exec&& other) noexcept = default;
graph_exec& graph_exec::operator=(graph_exec&& other) noexcept = default;
graph_exec::~graph_exec() = default;

graph_exec graph::instantiate(const instantiate_options& options) {
  if (!state_)
    throw usage_error("the graph is empty: it was moved from, released, reset or closed");
  refuse_lost(*state_);
  refuse_while_open(*state_, "instantiating it");
  if (options.auto_free_on_launch && options.device_launch)
    throw usage_error(
        "instantiate_options: auto_free_on_launch and device_launch exclude each other");
  if (options.upload) {
    if (&table_of(*options.upload) != state_->table)
      throw usage_error("instantiate_options: the stream of upload is of another driver");
    refuse_if_capturing(*options.upload, "uploading an executable graph on it");
  }
  const graph_context_scope current(*state_);
  repair(*state_);
  read_afresh(*state_);
  refuse_second_executable(*state_);
  auto result = access::make<graph_exec>();
  auto& exec = access::state(result);
  exec = std::make_shared<detail::exec_state>(state_, options);
  cugraft::instantiate(*exec, false);
  exec->options.upload.reset();  // once
  return result;
}

namespace {

void require_fitting(const char* asked, const driver& driver, CUgraphExec exec,
                     const detail::graph_state* graph) {
  if (exec == nullptr)
    throw usage_error(std::string(asked) + ": the executable graph is null: give one");
  if (graph == nullptr)
    throw usage_error(std::string(asked) + ": the graph is empty: give the one that " +
                      identify(exec) + " was instantiated from");
  if (&table_of(driver) != graph->table)
    throw usage_error(identify(exec) + " and " + identify(graph->handle) +
                      " are of two drivers: give the graph that it was instantiated from");
  refuse_lost(*graph);
  refuse_while_open(*graph, "taking an executable of it");
  if (held_handle<CUgraphExec>::is_held(*graph->table, exec))
    throw usage_error(identify(exec) +
                      " belongs to a graph_exec already: use that one, or release it first");
}

graph_exec take_foreign(const char* asked, const driver& driver, CUgraphExec handle, graph& graph,
                        held_values held, bool is_borrowed) {
  const std::shared_ptr<detail::graph_state>& state = access::state(graph);
  require_fitting(asked, driver, handle, state.get());
  const graph_context_scope current(*state);
  repair(*state);
  read_afresh(*state);
  auto result = access::make<graph_exec>();
  auto& exec = access::state(result);
  exec = std::make_shared<detail::exec_state>(state, options_of(*state->table, handle));
  take(*exec, handle, held, is_borrowed);
  return result;
}

}  // namespace

graph_exec graph_exec::adopt(const driver& driver, CUgraphExec exec, graph& graph,
                             held_values held) {
  return take_foreign("graph_exec::adopt", driver, exec, graph, held, false);
}

graph_exec graph_exec::borrow(const driver& driver, CUgraphExec exec, graph& graph,
                              held_values held) {
  return take_foreign("graph_exec::borrow", driver, exec, graph, held, true);
}

namespace {

executable& state_of(const std::shared_ptr<detail::exec_state>& state) {
  if (!state)
    throw usage_error(
        "the executable graph is empty: it was moved from, released, reset or closed");
  return *state;
}

}  // namespace

void graph_exec::launch(stream_ref stream) {
  cugraft::launch(launchable(state_of(state_), stream), stream);
}

void graph_exec::upload(stream_ref stream) {
  cugraft::upload(launchable(state_of(state_), stream), stream);
}

exec_update graph_exec::update(const update_options& options) {
  executable& exec = state_of(state_);
  require_consistent(exec, options);
  refuse_lost(*exec.graph);
  refuse_while_open(*exec.graph, "updating an executable of it");
  const graph_context_scope current(*exec.graph);
  exec_update update = update_executable(exec, options);
  settle_switches(exec);
  return update;
}

bool graph_exec::is_current() const noexcept {
  if (!state_ || state_->handle == nullptr) return false;
  if (state_->structure_changed || !state_->are_values_known) return false;
  const model::graph& nodes = state_->graph->nodes;
  return std::ranges::all_of(state_->old.all(), [&](const old_values::entry& each) {
    return nodes.same(each.node, *each.value);
  });
}

std::uint64_t graph_exec::generation() const { return state_of(state_).generation; }

CUgraphExec graph_exec::get() const { return made_executable(state_of(state_)).handle; }

CUgraphExec graph_exec::release() {
  make_sound(made_executable(state_of(state_)));
  const CUgraphExec handle = state_of(state_).set_handle(nullptr);
  state_.reset();
  return handle;
}

void graph_exec::reset() noexcept { state_.reset(); }

void graph_exec::close() {
  if (!state_) return;
  const std::shared_ptr<detail::exec_state> closing = std::move(state_);
  cugraft::close(*closing);
}

graph_exec::operator bool() const noexcept {
  return state_ != nullptr && state_->handle != nullptr;
}

}  // namespace cugraft
