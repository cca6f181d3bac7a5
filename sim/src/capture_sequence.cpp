// SPDX-License-Identifier: Apache-2.0
#include "capture_sequence.hpp"

#include <algorithm>
#include <utility>

#include "capture.hpp"
#include "check.hpp"
#include "context.hpp"
#include "recapture.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

std::vector<std::shared_ptr<capture_sequence>>& open_sequences() noexcept {
  static auto* const instance = new std::vector<std::shared_ptr<capture_sequence>>;
  return *instance;
}

bool is_mode(CUstreamCaptureMode mode) noexcept {
  return mode == CU_STREAM_CAPTURE_MODE_GLOBAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
         mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

bool in_current_context(const stream& of) { return of.owner->handle == current_context_handle(); }

template <class Predicate>
bool any_stream(const capture_sequence& of, Predicate predicate) {
  return std::ranges::any_of(of.streams, [&](const stream* each) { return predicate(*each); });
}

// Whether an unsafe call of this thread is one that the sequence forbids (driver-rules 2.3), which
// it does until its end, also once it is invalid.
bool forbids_unsafe_call(const capture_sequence& sequence) {
  const CUstreamCaptureMode caller = thread_capture_mode();
  if (caller == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (sequence.thread == std::this_thread::get_id())
    return sequence.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  return caller == CU_STREAM_CAPTURE_MODE_GLOBAL && sequence.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

void add_ancestors(const graph_node* of, std::unordered_set<const graph_node*>& found) {
  std::vector<const graph_node*> open{of};
  while (!open.empty()) {
    const graph_node* const node = open.back();
    open.pop_back();
    if (!found.insert(node).second) continue;
    for (const dependency& each : node->dependencies) open.push_back(each.node);
  }
}

// Every sequence that `conflicts` is dead after the call that asks.
template <class Predicate>
CUresult refuse_where(CUresult code, Predicate conflicts) {
  CUresult result = CUDA_SUCCESS;
  for (const auto& sequence : std::vector(open_sequences())) {
    if (!conflicts(*sequence)) continue;
    invalidate(*sequence);
    result = code;
  }
  return result;
}

bool bars_legacy(const capture_sequence& sequence) {
  return any_stream(
      sequence, [](const stream& each) { return each.is_blocking() && in_current_context(each); });
}

}  // namespace

capture_sequence::~capture_sequence() = default;

const std::vector<std::shared_ptr<capture_sequence>>& open_captures() noexcept {
  return open_sequences();
}

CUstreamCaptureMode& thread_capture_mode() noexcept {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

CUresult check_begin(const stream& origin, CUstreamCaptureMode mode) {
  if (!is_mode(mode)) return CUDA_ERROR_INVALID_VALUE;
  if (origin.is_legacy()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return origin.capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

capture_sequence& begin_sequence(stream& origin, CUstreamCaptureMode mode,
                                 std::shared_ptr<graph> target) {
  static cuuint64_t next_id = 1;
  check::begun_capture();
  const auto& made = open_sequences().emplace_back(std::make_shared<capture_sequence>());
  made->id = next_id++;
  made->mode = mode;
  made->thread = std::this_thread::get_id();
  made->origin = &origin;
  made->streams = {&origin};
  made->target = std::move(target);
  made->target->capturing = true;
  origin.capture = std::make_shared<stream_capture>();
  origin.capture->sequence = made;
  return *made;
}

void invalidate(capture_sequence& which) {
  which.active = false;
  if (which.recapturing) which.target->undefined = true;  // driver-rules, R9
}

// What is left in a dependency set is a sink from now on (driver-rules 4.2).
void close_sequence(capture_sequence& which) {
  which.ended = true;
  which.target->capturing = which.target->recapturing = false;
  for (stream* const each : std::exchange(which.streams, {})) {
    for (const dependency& left : each->capture->dependencies.list())
      if (!which.recapturing) leave_open(*left.node);
    each->capture.reset();
  }
  std::erase_if(open_sequences(), [&](const auto& each) { return each.get() == &which; });
}

// A graph that the caller made and captured into goes too, but not one that was re-captured: the
// caller has to destroy that (driver-rules, R9).
void abandon_sequence(capture_sequence& which) {
  const bool kept = which.recapturing != nullptr;
  if (kept) which.target->undefined = true;
  close_sequence(which);
  if (!kept) drop_graph(*which.target);
}

// A few are searched as they are: that is what most sets hold, and for one node each.
void dependency_set::add(const dependency& added) {
  constexpr std::size_t few = 16;
  if (list_.size() < few) {
    if (std::ranges::find(list_, added.node, &dependency::node) == list_.end())
      list_.push_back(added);
    return;
  }
  if (nodes_.empty())
    for (const dependency& each : list_) nodes_.insert(each.node);
  if (nodes_.insert(added.node).second) list_.push_back(added);
}

void dependency_set::merge(const std::vector<dependency>& added) {
  for (const dependency& each : added) add(each);
}

void dependency_set::clear() {
  list_.clear();
  nodes_.clear();
}

bool has_unjoined_work(const capture_sequence& of) {
  std::unordered_set<const graph_node*> joined;
  for (const dependency& each : of.origin->capture->dependencies.list())
    add_ancestors(each.node, joined);
  for (const graph_node* const each : of.released) add_ancestors(each, joined);
  const auto is_unjoined = [&](const graph_node* node) { return !joined.contains(node); };
  return std::ranges::any_of(of.orphaned, is_unjoined) || any_stream(of, [&](const stream& each) {
           return std::ranges::any_of(each.capture->own, is_unjoined);
         });
}

bool legacy_is_barred() {
  return std::ranges::any_of(open_sequences(), [](const auto& each) { return bars_legacy(*each); });
}

CUresult capture_guard_legacy() {
  return refuse_where(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, bars_legacy);
}

CUresult capture_guard_context(const context& used) {
  return refuse_where(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&](const capture_sequence& each) {
    return any_stream(each, [&](const stream& one) { return one.owner.get() == &used; });
  });
}

CUresult capture_guard_unsafe() {
  return refuse_where(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, forbids_unsafe_call);
}

std::size_t count_capturing_streams() {
  std::size_t count = 0;
  for (const auto& each : open_sequences()) count += each->streams.size();
  return count;
}

}  // namespace cugraft_sim
