// SPDX-License-Identifier: Apache-2.0
#include "recapture.hpp"

#include <algorithm>
#include <utility>

#include "attributes.hpp"
#include "capture_sequence.hpp"
#include "exec.hpp"
#include "node_params.hpp"
#include "state.hpp"
#include "work_compare.hpp"

namespace cugraft_sim {
namespace {

using ::cugraft::newer::error_graph_recapture_failure;
using ::cugraft::newer::graph_recapture_status;

// As a set: the order of the waits does not count.
bool same_dependencies(graph_node& node, const std::vector<dependency>& dependencies) {
  if (std::ranges::equal(node.dependencies, dependencies)) return true;
  const bool with_data = chosen(choice::recapture_compares_edge_data) == 0;
  return node.dependencies.size() == dependencies.size() &&
         std::ranges::all_of(dependencies, [&](const dependency& each) {
           const auto known = each.node->dependents.find(&node);
           if (known == each.node->dependents.end()) return false;
           return !with_data || *known->second == each;
         });
}

bool attributes_differ(const operation& left, const operation& right) {
  const auto* const before = std::get_if<kernel_operation>(&left.what);
  return before && !same_attributes(*before, std::get<kernel_operation>(right.what));
}

// A node of another context can take no place in the graph; what an executable takes is eligible.
graph_recapture_status status_of(const operation& original, const operation& now) {
  if (original.context != now.context) return cugraft::newer::graph_recapture_error;
  if (chosen(choice::recapture_status_always_eligible) == 1)
    return cugraft::newer::graph_recapture_eligible_for_update;
  const bool eligible =
      can_patch(original, now) && check_update(original, now, {}) == CU_GRAPH_EXEC_UPDATE_SUCCESS;
  return eligible ? cugraft::newer::graph_recapture_eligible_for_update
                  : cugraft::newer::graph_recapture_ineligible_for_update;
}

void write(graph_node& node, operation now) {
  if (chosen(choice::recapture_writes_parameters) == 0) set_work(node, std::move(now));
}

void follow(const graph& changed) {
  for_each_exec_of(changed.handle, [&](graph_exec& exec) {
    for (const auto& node : changed.nodes) {
      const auto index = exec.index_of.find(node->handle);
      if (index != exec.index_of.end())
        exec.nodes[index->second].work = std::make_shared<const operation>(node->work);
    }
  });
}

}  // namespace

CUresult recapture::take(capture_sequence& sequence, operation work,
                         std::vector<dependency> dependencies, graph_node*& placed) {
  placed = nullptr;
  if (failed_) {
    unplaced_.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  const auto& nodes = sequence.target->nodes;
  if (position_ == nodes.size()) return fail(sequence, std::move(work));
  const std::shared_ptr<graph_node> node = nodes[position_];
  if (node->work.what.index() != work.what.index() || !same_dependencies(*node, dependencies))
    return fail(sequence, std::move(work));
  const bool other_context = node->work.context != work.context;
  const bool parameters = other_context || !same_parameters(node->work, work);
  if (parameters && is_memory_node(work)) return fail(sequence, std::move(work));  // R4
  ++position_;
  placed = node.get();
  const bool attributes = attributes_differ(node->work, work);
  if (!parameters && !attributes) return CUDA_SUCCESS;
  const bool reported = parameters || chosen(choice::recapture_reports_attributes) == 0;
  return change(sequence, {node, std::move(work), reported});
}

CUresult recapture::change(capture_sequence& sequence, difference found) {
  if (chosen(choice::recapture_callback_order) == 1) {
    waiting_.push_back(std::move(found));
    return CUDA_SUCCESS;
  }
  const bool accepted = ask(found);
  if (!sequence.active || sequence.ended) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!accepted) return fail(sequence);
  write(*found.node, std::move(found.now));
  return CUDA_SUCCESS;
}

// The two parameter blocks die with the call (driver-rules, R8). Status "error" ends the re-capture
// whatever the callback says (R7), everything else that it returns but success too (R6).
bool recapture::ask(const difference& about) const {
  const graph_recapture_status status = status_of(about.node->work, about.now);
  CUresult answer = CUDA_SUCCESS;
  if (callback_ && about.reported) {
    const parameter_view original(about.node->work);
    const parameter_view recaptured(about.now);
    const unlock_guard unlocked;
    answer = callback_(user_data_, about.node->handle, &original.get(), &recaptured.get(), status);
  }
  return answer == CUDA_SUCCESS && status != cugraft::newer::graph_recapture_error;
}

CUresult recapture::fail(capture_sequence& sequence, operation unplaced) {
  unplaced_.push_back(std::move(unplaced));
  failed_ = true;
  sequence.target->undefined = true;
  if (chosen(choice::recapture_failure_shows) == 1) return CUDA_SUCCESS;
  invalidate(sequence);
  return error_graph_recapture_failure;
}

CUresult recapture::finish(capture_sequence& sequence) {
  if (failed_ || position_ < sequence.target->nodes.size()) return error_graph_recapture_failure;
  for (auto each = waiting_.rbegin(); each != waiting_.rend(); ++each) {
    const bool accepted = ask(*each);
    if (sequence.ended) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!accepted || !sequence.active) return error_graph_recapture_failure;
    write(*each->node, std::move(each->now));
  }
  if (chosen(choice::recapture_touches_executables) == 1) follow(*sequence.target);
  if (chosen(choice::recapture_keeps_handles) == 1) renew_handles(*sequence.target);
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
