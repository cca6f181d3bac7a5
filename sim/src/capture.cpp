// SPDX-License-Identifier: Apache-2.0
#include "capture.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "capture_sequence.hpp"
#include "check.hpp"
#include "context.hpp"
#include "recapture.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned char programmatic_port = 1;  // CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC
constexpr unsigned char launch_order_port = 2;  // CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
constexpr unsigned char programmatic_type = 1;  // CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC

CUgraphEdgeData programmatic_edge(unsigned char port) noexcept {
  CUgraphEdgeData data{};
  data.from_port = port;
  data.type = programmatic_type;
  return data;
}

// With programmatic serialisation every kernel that the stream waits for, through events too, may
// still run (facts).
std::vector<dependency> dependencies_of_next(const stream_capture& of,
                                             const launch_extras& extras) {
  std::vector<dependency> next = of.dependencies.list();
  if (!extras.programmatic_serialization) return next;
  for (dependency& each : next)
    if (is_kernel(*each.node)) each.data = programmatic_edge(programmatic_port);
  return next;
}

CUresult place_node(capture_sequence& sequence, operation work,
                    std::vector<dependency> dependencies, graph_node*& placed) {
  if (sequence.recapturing)
    return sequence.recapturing->take(sequence, std::move(work), std::move(dependencies), placed);
  placed = &add_node(*sequence.target, std::move(work), std::move(dependencies));
  return CUDA_SUCCESS;
}

// After its node a stream depends on that alone. There is none where a re-capture has failed and
// says so at its end only.
void move_to(stream_capture& of, graph_node* node) {
  of.dependencies.clear();
  of.own.clear();
  if (!node) return;
  of.dependencies.add({node, {}});
  of.own.push_back(node);
}

CUresult find_launch_event(CUevent handle, std::shared_ptr<event>& found) {
  return handle ? find_event(handle, found) : CUDA_SUCCESS;
}

void record_launch_event(const std::shared_ptr<event>& which, unsigned char port,
                         const std::shared_ptr<capture_sequence>& sequence, graph_node* node) {
  if (!which || !node) return;
  which->captured = std::make_shared<captured_record>(
      captured_record{sequence, {{node, programmatic_edge(port)}}});
}

// Which event of two captures may wait for the other: none (driver-rules 2.4).
CUresult refuse_merge(capture_sequence& ours, capture_sequence& theirs) {
  invalidate(ours);
  invalidate(theirs);
  return CUDA_ERROR_STREAM_CAPTURE_MERGE;
}

CUresult refuse(capture_sequence& which, CUresult code) {
  invalidate(which);
  return code;
}

// Brings an idle stream into the capture of the event that it waits for.
CUresult join(stream& on, const captured_record& record) {
  if (!record.sequence->active || record.sequence->ended) return CUDA_ERROR_INVALID_VALUE;
  if (on.is_legacy()) return refuse(*record.sequence, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  on.capture = std::make_shared<stream_capture>();
  on.capture->sequence = record.sequence;
  on.capture->dependencies = dependency_set(record.dependencies);
  record.sequence->streams.push_back(&on);
  return CUDA_SUCCESS;
}

CUresult wait_in_capture(stream& on, event& which) {
  capture_sequence& sequence = *on.capture->sequence;
  if (!sequence.active) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!which.captured) {
    // An event that was never recorded is waited for by nobody (facts).
    return which.last ? refuse(sequence, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
  }
  capture_sequence& theirs = *which.captured->sequence;
  if (theirs.ended || !theirs.active) return refuse(sequence, CUDA_ERROR_INVALID_VALUE);
  if (&theirs != &sequence) return refuse_merge(sequence, theirs);
  on.capture->dependencies.merge(which.captured->dependencies);
  return CUDA_SUCCESS;
}

}  // namespace

bool is_capturing(const stream& of) { return of.capture != nullptr; }

CUresult capture_guard_stream(stream& of) {
  if (!of.capture) return CUDA_SUCCESS;
  return refuse(*of.capture->sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult capture_guard_event(event& of) {
  if (!of.captured) return CUDA_SUCCESS;
  capture_sequence& sequence = *of.captured->sequence;
  if (sequence.ended || !sequence.active) return CUDA_ERROR_INVALID_VALUE;
  return refuse(sequence, CUDA_ERROR_CAPTURED_EVENT);
}

CUresult capture_operation(stream& on, operation work, const launch_extras& extras) {
  const std::shared_ptr<stream_capture> capture = on.capture;
  const std::shared_ptr<capture_sequence> sequence = capture->sequence;
  if (!sequence->active) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::shared_ptr<event> programmatic, completion;
  if (const CUresult result = find_launch_event(extras.programmatic_event, programmatic))
    return result;
  if (const CUresult result = find_launch_event(extras.completion_event, completion)) return result;

  graph_node* node = nullptr;
  auto dependencies = dependencies_of_next(*capture, extras);
  if (const CUresult result = place_node(*sequence, std::move(work), std::move(dependencies), node))
    return result;
  move_to(*capture, node);
  const bool at_start = extras.trigger_at_block_start;
  record_launch_event(programmatic, at_start ? launch_order_port : programmatic_port, sequence,
                      node);
  record_launch_event(completion, launch_order_port, sequence, node);
  return CUDA_SUCCESS;
}

CUresult capture_event_record(stream& on, event& which, unsigned flags) {
  const stream_capture& capture = *on.capture;
  if (!capture.sequence->active) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (flags & CU_EVENT_RECORD_EXTERNAL)
    return capture_operation(on, {on.owner->handle, event_record_operation{which.handle, nullptr}},
                             {});
  which.captured = std::make_shared<captured_record>(
      captured_record{capture.sequence, capture.dependencies.list()});
  return CUDA_SUCCESS;
}

CUresult capture_stream_wait(stream& on, event& which, unsigned flags) {
  if (!on.capture && (flags & CU_EVENT_WAIT_EXTERNAL)) return CUDA_ERROR_ILLEGAL_STATE;
  if (!on.capture) return join(on, *which.captured);
  if (flags & CU_EVENT_WAIT_EXTERNAL)
    return capture_operation(on, {on.owner->handle, event_wait_operation{which.handle, nullptr}},
                             {});
  return wait_in_capture(on, which);
}

// The capture goes on without a stream that joined it (facts); its work still has to be joined.
void capture_forget_stream(stream& gone) {
  if (!gone.capture) return;
  const std::shared_ptr<stream_capture> capture = gone.capture;
  const std::shared_ptr<capture_sequence> sequence = capture->sequence;
  if (sequence->origin == &gone) {
    check::capture_without_stream(*sequence);
    abandon_sequence(*sequence);
    return;
  }
  std::ranges::copy(capture->own, std::back_inserter(sequence->orphaned));
  std::erase(sequence->streams, &gone);
  gone.capture.reset();
}

}  // namespace cugraft_sim
