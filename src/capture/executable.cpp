// SPDX-License-Identifier: Apache-2.0
#include "capture/executable.hpp"

#include <algorithm>
#include <utility>

#include "base/identify.hpp"
#include "base/report.hpp"
#include "capture/exec_switches.hpp"
#include "capture/single_executable.hpp"
#include "driver/call.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

// A user object that the graph holds while the driver copies the graph's references.
class attached_box {
 public:
  attached_box(const detail::graph_state& graph, const owner_box& box) : graph_(graph), box_(box) {
    check(graph.table->graph_retain_user_object(graph.handle, box.object(), 1, 0),
          "cuGraphRetainUserObject", graph.handle);
  }
  attached_box(const attached_box&) = delete;
  attached_box& operator=(const attached_box&) = delete;
  ~attached_box() {
    release_or_report(*graph_.table, graph_.handle, &driver_table::graph_release_user_object,
                      graph_.handle, box_.object(), 1U);
  }

 private:
  const detail::graph_state& graph_;
  const owner_box& box_;
};

unsigned long long native_flags(const instantiate_options& options) noexcept {
  unsigned long long flags = 0;
  if (options.auto_free_on_launch) flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  if (options.device_launch) flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  if (options.use_node_priority) flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (options.upload) flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  return flags;
}

// Instantiating and destroying end captures as allocating does (docs/driver/observations.md).
CUgraphExec make_exec(const detail::graph_state& graph, const instantiate_options& options,
                      const std::vector<CUgraphNode>& disabled) {
  const relaxed_scope relaxed(*graph.table);
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  params.flags = native_flags(options);
  if (options.upload) params.hUploadStream = options.upload->get();
  CUgraphExec exec = nullptr;
  CUresult result = graph.table->graph_instantiate_with_params(&exec, graph.handle, &params);
  if (result == CUDA_SUCCESS && params.result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS)
    result = CUDA_ERROR_INVALID_VALUE;
  const char* function = "cuGraphInstantiateWithParams";
  for (const CUgraphNode node : disabled) {
    if (result != CUDA_SUCCESS) break;
    result = graph.table->graph_node_set_enabled(exec, node, 0);
    function = "cuGraphNodeSetEnabled";
  }
  if (result != CUDA_SUCCESS && exec != nullptr)
    try_release(*graph.table, &driver_table::graph_exec_destroy, exec);
  check(result, function, graph.handle);
  return exec;
}

void destroy_exec(executable& exec) noexcept {
  exec.damaged.clear();
  exec.unsettled.clear();
  if (exec.handle == nullptr) return;
  const CUgraphExec handle = exec.set_handle(nullptr);
  const relaxed_scope relaxed(*exec.graph->table, std::nothrow);
  release_or_report(*exec.graph->table, handle, &driver_table::graph_exec_destroy, handle);
}

// Somebody else's is not used after it: what could not be put back is tried a last time.
void leave_sound(executable& exec) {
  const auto forget = [&]() noexcept {
    exec.damaged.clear();
    exec.unsettled.clear();
    exec.set_handle(nullptr);
  };
  try {
    if (!exec.damaged.empty() || !exec.unsettled.empty()) {
      const graph_context_scope current(*exec.graph);
      repair(exec);
      settle_switches(exec);
    }
  } catch (...) {
    forget();
    throw;
  }
  forget();
}

void forget_old_values(executable& exec) noexcept {
  exec.was_launched = exec.is_borrowed;  // its owner launches it, and tells nobody
  exec.old.clear();
  exec.record_of_graph.reset();
  exec.generation = exec.graph->generation;
}

}  // namespace

executable::executable(std::shared_ptr<detail::graph_state> of, const instantiate_options& how)
    : graph(std::move(of)), options(how) {
  graph->executables.push_back(this);
}

CUgraphExec executable::set_handle(CUgraphExec now) noexcept {
  held.set(graph->table, now);
  return std::exchange(handle, now);
}

executable::~executable() {
  std::erase(graph->executables, this);
  try {
    if (is_borrowed) leave_sound(*this);
  } catch (const std::exception& thrown) {
    report(thrown.what());
  }
  destroy_exec(*this);
}

model::exec_traits traits_of(const executable& exec) noexcept {
  return {.node_priority = exec.options.use_node_priority || exec.was_made_elsewhere};
}

// Of use_node_priority a driver does not tell (docs/driver/observations.md).
instantiate_options options_of(const driver_table& table, CUgraphExec handle) {
  cuuint64_t flags = 0;
  check(table.graph_exec_get_flags(handle, &flags), "cuGraphExecGetFlags", handle);
  instantiate_options options;
  options.auto_free_on_launch = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  options.device_launch = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  return options;
}

void take(executable& exec, CUgraphExec handle, held_values held, bool is_borrowed) {
  const detail::graph_state& graph = *exec.graph;
  exec.box = std::make_unique<owner_box>(*graph.table);
  exec.box->replace({graph.record});
  exec.is_borrowed = true;  // until nothing can fail any more
  exec.was_made_elsewhere = true;
  exec.is_origin_known = false;
  exec.are_values_known = held == held_values::as_graph;
  exec.generation = graph.generation;
  exec.set_handle(handle);
  exec.was_launched = true;  // its owner may have done so
  if (!is_borrowed && exec.are_values_known) {
    const call_result taken = update_whole(exec).call;
    if (taken.code != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
      check(taken.code, taken.function, handle);
    exec.are_values_known = taken.ok();
  }
  exec.is_borrowed = is_borrowed;
}

void instantiate(executable& exec, bool destroy_first) {
  detail::graph_state& graph = *exec.graph;
  require_context(graph);  // before anything is destroyed
  exec.disabled = disabled_nodes(exec);
  auto box = std::make_unique<owner_box>(*graph.table);
  box->replace({graph.record});
  if (destroy_first) close(exec);
  CUgraphExec made = nullptr;
  {
    const attached_box attached(graph, *box);
    made = make_exec(graph, exec.options, exec.disabled);
  }
  destroy_exec(exec);
  exec.set_handle(made);
  exec.box = std::move(box);
  exec.retirements.clear();  // the old box goes with the old executable's last launch
  exec.damaged.clear();
  exec.structure_changed = false;
  exec.former_graph.reset();
  exec.was_made_elsewhere = false;
  exec.is_origin_known = exec.are_values_known = true;
  forget_old_values(exec);
}

namespace {

call_result write(const executable& exec, std::uint32_t node, const model::node_value& value) {
  const detail::graph_state& graph = *exec.graph;
  return write_exec_node(*graph.table, exec.handle, graph.node_handles[node], value,
                         context_of(graph, node));
}

// The last of `patches` was refused; it is put back as well, for the call may have done its work.
void put_back(executable& exec, std::span<const patch> patches, patch_result& result) {
  for (std::size_t i = patches.size(); i-- > 0;) {
    ++result.driver_calls;
    const call_result back = write(exec, patches[i].node, *patches[i].old);
    if (back.ok()) continue;
    // Neither the new value nor the old: the node is of another graph than the executable's.
    result.is_foreign = !exec.is_origin_known && result.call.code == CUDA_ERROR_INVALID_VALUE &&
                        back.code == CUDA_ERROR_INVALID_VALUE;
    if (!result.is_foreign) exec.damaged.push_back(patches[i].node);  // reserved
  }
}

}  // namespace

patch_result patch_nodes(executable& exec, std::span<const patch> patches) {
  const detail::graph_state& graph = *exec.graph;
  if (!patches.empty()) require_context(graph);
  std::vector<model::node_value> now;  // before the first call: what follows cannot fail for memory
  now.reserve(patches.size());
  for (const patch& each : patches)
    now.push_back(each.now ? *each.now : graph.nodes.value(each.node));
  patch_result result;
  exec.damaged.reserve(exec.damaged.size() + patches.size());
  for (std::size_t i = 0; i < patches.size(); ++i) {
    ++result.driver_calls;
    result.call = write(exec, patches[i].node, now[i]);
    if (!result.call.ok()) {
      result.failed_at = i;
      put_back(exec, patches.first(i + 1), result);
      return result;
    }
    exec.is_origin_known = true;
  }
  return result;
}

void repair(executable& exec) {
  const detail::graph_state& graph = *exec.graph;
  if (exec.structure_changed && !exec.damaged.empty())
    throw usage_error(
        identify(exec.handle) +
        " holds values of a refused update, and its graph has another structure now: " +
        (exec.is_borrowed ? "instantiate the graph and use that"
                          : "update() with may_instantiate makes a new one"));
  if (!exec.damaged.empty()) require_context(graph);
  while (!exec.damaged.empty()) {
    const std::uint32_t node = exec.damaged.back();
    const old_values::entry* const old = exec.old.find(node);
    const call_result set =
        write(exec, node, old != nullptr ? *old->value : graph.nodes.value(node));
    check(set.code, set.function, exec.handle);
    exec.damaged.pop_back();
  }
}

whole_result update_whole(executable& exec) {
  const detail::graph_state& graph = *exec.graph;
  require_context(graph);
  CUgraphExecUpdateResultInfo info = {};
  whole_result result;
  exec.damaged.reserve(exec.damaged.size() + exec.old.size());
  unsettle_switches(exec);
  record_list next{graph.record}, former{exec.box->current()};
  bool is_other = false;
  {
    const attached_box attached(graph, *exec.box);
    // Before the call: it may do its work and fail all the same.
    is_other = exec.box->replace(std::move(next));
    result.call = {graph.table->graph_exec_update(exec.handle, graph.handle, &info),
                   "cuGraphExecUpdate"};
  }
  result.update_result = static_cast<int>(info.result);
  if (result.call.ok()) {
    if (is_other && !exec.was_launched) exec.box->forget_former();
  } else if (result.call.code == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    if (is_other) exec.box->undo_replace();
  } else {  // it may have been updated: the old values are set again, the new ones' owners stay
    exec.box->replace(std::move(former));
    for (const old_values::entry& each : exec.old.all()) exec.damaged.push_back(each.node);
  }
  const auto at = std::find(graph.node_handles.begin(), graph.node_handles.end(), info.errorNode);
  if (!result.call.ok() && at != graph.node_handles.end())
    result.node = static_cast<std::uint32_t>(at - graph.node_handles.begin());
  return result;
}

void set_current(executable& exec, record_list record) noexcept {
  exec.box->replace(std::move(record), exec.was_launched);
  forget_old_values(exec);
}

void release_retired(executable& exec) noexcept {
  if (exec.retirements.empty()) return;
  const driver_table& table = *exec.graph->table;
  const relaxed_scope relaxed(table, std::nothrow);  // a query ends a capture of this thread else
  while (!exec.retirements.empty()) {
    const executable::retirement& oldest = exec.retirements.front();
    if (table.event_query(oldest.done.get()) != CUDA_SUCCESS) return;
    exec.box->release_retired(oldest.count);
    exec.retirements.pop_front();
  }
}

namespace {

void launch_exec(const executable& exec, stream_ref stream) {
  const CUresult result = exec.graph->table->graph_launch(exec.handle, stream.get());
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_launch_failure(exec, stream, result);
}

}  // namespace

void launch(executable& exec, stream_ref stream) {
  exec.was_launched = true;
  std::size_t marked = 0;
  for (const executable::retirement& each : exec.retirements) marked += each.count;
  const std::size_t retired = exec.box->retired_count() - marked;
  if (retired == 0) return launch_exec(exec, stream);
  // Launches of one executable run one after the other: once this one is done, no earlier one runs.
  // Whatever can fail comes before the launch, but for the record: without it the next launch
  // marks.
  exec.retirements.push_back({retired, event(stream.get_context())});
  event& done = exec.retirements.back().done;
  CUresult result = CUDA_SUCCESS;
  const auto forget_mark = [&] { exec.retirements.pop_back(); };
  try {
    launch_exec(exec, stream);
    result = exec.graph->table->event_record(done.get(), stream.get());
  } catch (...) {
    forget_mark();
    throw;
  }
  if (result == CUDA_SUCCESS) return;
  report_failure(result, "cuEventRecord", done.get());
  forget_mark();
}

void upload(executable& exec, stream_ref stream) {
  call(stream, &driver_table::graph_upload, exec.handle, stream.get());
}

void close(executable& exec) {
  if (exec.is_borrowed) return leave_sound(exec);
  exec.damaged.clear();
  exec.unsettled.clear();
  if (exec.handle == nullptr) return;
  const CUgraphExec handle = exec.set_handle(nullptr);
  const relaxed_scope relaxed(*exec.graph->table, std::nothrow);
  release_or_throw(*exec.graph->table, handle, &driver_table::graph_exec_destroy, handle);
}

}  // namespace cugraft
