// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture_sequence.hpp"
#include "entry.hpp"
#include "recapture.hpp"
#include "state.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

CUstreamCaptureStatus status_of(const stream& of) noexcept {
  if (!of.capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return of.capture->sequence->active ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                      : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

// Of the legacy stream the two queries say 906 and leave the capture alone (driver-rules 2.4).
CUresult find_stream_to_query(CUstream handle, std::shared_ptr<stream>& found) {
  if (const CUresult result = find_stream(handle, found)) return result;
  return found->is_legacy() && legacy_is_barred() ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                                  : CUDA_SUCCESS;
}

bool has_edge_data(const dependency& of) noexcept {
  return of.data.from_port != 0 || of.data.to_port != 0 || of.data.type != 0;
}

// What an end on the right stream answers. Whatever it is, the capture is over.
CUresult check_end(const capture_sequence& sequence) {
  if (!sequence.active) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const bool own_thread = sequence.thread == std::this_thread::get_id();
  if (!own_thread && sequence.mode != CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  if (has_unjoined_work(sequence)) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  return CUDA_SUCCESS;
}

// The nodes that a caller takes out of a dependency set count as joined.
void replace_dependencies(stream_capture& of, const std::vector<dependency>& by) {
  std::unordered_set<const graph_node*> kept;
  for (const dependency& each : by) kept.insert(each.node);
  const auto is_kept = [&](const graph_node* node) { return kept.contains(node); };
  for (const dependency& each : of.dependencies.list()) {
    if (is_kept(each.node)) continue;
    of.sequence->released.push_back(each.node);
    leave_open(*each.node);
  }
  std::erase_if(of.own, [&](const graph_node* node) { return !is_kept(node); });
  of.dependencies = dependency_set(by);
}

CUresult find_stream_to_begin(CUstream handle, CUstreamCaptureMode mode,
                              std::shared_ptr<stream>& found) {
  if (const CUresult result = find_stream(handle, found)) return result;
  return check_begin(*found, mode);
}

// What a begin call that names a graph checks of it.
CUresult find_target(CUgraph handle, std::shared_ptr<graph>& found) {
  if (const CUresult result = find_graph(handle, found)) return result;
  return found->capturing ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

CUresult end(capture_sequence& sequence) {
  if (const CUresult result = check_end(sequence)) return result;
  return sequence.recapturing ? sequence.recapturing->finish(sequence) : CUDA_SUCCESS;
}

}  // namespace

CUresult impl::stream_begin_capture(CUstream on, CUstreamCaptureMode mode) {
  std::shared_ptr<stream> origin;
  if (const CUresult result = find_stream_to_begin(on, mode, origin)) return result;
  begin_sequence(*origin, mode, make_graph()).made_target = true;
  return CUDA_SUCCESS;
}

CUresult impl::stream_begin_capture_to_graph(CUstream on, CUgraph into, const CUgraphNode* nodes,
                                             const CUgraphEdgeData* edges, std::size_t count,
                                             CUstreamCaptureMode mode) {
  std::shared_ptr<stream> origin;
  if (const CUresult result = find_stream_to_begin(on, mode, origin)) return result;
  std::shared_ptr<graph> target;
  if (const CUresult result = find_target(into, target)) return result;
  std::vector<dependency> dependencies;
  if (const CUresult result = read_dependencies(*target, nodes, edges, count, dependencies))
    return result;
  begin_sequence(*origin, mode, std::move(target));
  origin->capture->dependencies.merge(dependencies);
  return CUDA_SUCCESS;
}

CUresult impl::stream_begin_recapture_to_graph(CUstream on, CUstreamCaptureMode mode, CUgraph into,
                                               ::cugraft::newer::graph_recapture_callback callback,
                                               void* user_data) {
  std::shared_ptr<stream> origin;
  if (const CUresult result = find_stream_to_begin(on, mode, origin)) return result;
  std::shared_ptr<graph> target;
  if (const CUresult result = find_target(into, target)) return result;
  if (!callback && chosen(choice::recapture_null_callback) == 0) return CUDA_ERROR_INVALID_VALUE;
  if (target->cloned_from && chosen(choice::recapture_of_clones) == 1)
    return CUDA_ERROR_NOT_SUPPORTED;
  target->objects.clear();  // driver-rules, R10
  target->recapturing = true;
  begin_sequence(*origin, mode, std::move(target)).recapturing =
      std::make_unique<recapture>(callback, user_data);
  return CUDA_SUCCESS;
}

// An end on another stream of the capture leaves it to be ended where it began. Without a place for
// the graph the end works too, and the graph is gone (facts).
CUresult impl::stream_end_capture(CUstream handle, CUgraph* made) {
  std::shared_ptr<stream> on;
  if (const CUresult result = find_stream(handle, on)) return result;
  if (made) *made = nullptr;
  if (!on->capture) return CUDA_ERROR_ILLEGAL_STATE;
  const std::shared_ptr<capture_sequence> sequence = on->capture->sequence;
  if (sequence->origin != on.get()) {
    invalidate(*sequence);
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (const CUresult result = end(*sequence)) {
    if (!sequence->ended) abandon_sequence(*sequence);
    return result;
  }
  close_sequence(*sequence);
  if (made)
    *made = sequence->target->handle;
  else if (sequence->made_target)
    drop_graph(*sequence->target);
  return CUDA_SUCCESS;
}

CUresult impl::stream_is_capturing(CUstream handle, CUstreamCaptureStatus* status) {
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream_to_query(handle, found)) return result;
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  *status = status_of(*found);
  return CUDA_SUCCESS;
}

CUresult impl::stream_get_capture_info(CUstream handle, CUstreamCaptureStatus* status,
                                       cuuint64_t* id, CUgraph* into, const CUgraphNode** nodes,
                                       const CUgraphEdgeData** edges, std::size_t* count) {
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream_to_query(handle, found)) return result;
  if (!status || (edges && !nodes)) return CUDA_ERROR_INVALID_VALUE;
  *status = status_of(*found);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  stream_capture& capture = *found->capture;
  const std::vector<dependency>& dependencies = capture.dependencies.list();
  if (nodes && !edges && std::ranges::any_of(dependencies, has_edge_data))
    return CUDA_ERROR_LOSSY_QUERY;
  capture.shown_nodes.clear();
  capture.shown_edges.clear();
  for (const dependency& each : dependencies) {
    capture.shown_nodes.push_back(each.node->handle);
    capture.shown_edges.push_back(each.data);
  }
  if (id) *id = capture.sequence->id;
  if (into) *into = capture.sequence->target->handle;
  if (nodes) *nodes = capture.shown_nodes.data();
  if (edges) *edges = capture.shown_edges.data();
  if (count) *count = dependencies.size();
  return CUDA_SUCCESS;
}

CUresult impl::stream_update_capture_dependencies(CUstream handle, CUgraphNode* nodes,
                                                  const CUgraphEdgeData* edges, std::size_t count,
                                                  unsigned flags) {
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(handle, found)) return result;
  if (!found->capture) return CUDA_ERROR_ILLEGAL_STATE;
  stream_capture& capture = *found->capture;
  if (!capture.sequence->active) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const bool replace = flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES;
  if (!replace && flags != CU_STREAM_ADD_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
  std::vector<dependency> given;
  if (const CUresult result =
          read_dependencies(*capture.sequence->target, nodes, edges, count, given))
    return result;
  if (replace)
    replace_dependencies(capture, given);
  else
    capture.dependencies.merge(given);
  return CUDA_SUCCESS;
}

CUresult impl::thread_exchange_stream_capture_mode(CUstreamCaptureMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;  // any number is taken (H200)
  std::swap(*mode, thread_capture_mode());
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
