// SPDX-License-Identifier: Apache-2.0
#include "capture/held_capture.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "capture/failures.hpp"
#include "driver/call.hpp"

namespace cugraft {

held_capture::~held_capture() { discard(); }

void held_capture::discard() noexcept {
  if (graph_ != nullptr) discard_graph(*table_, std::exchange(graph_, nullptr));
  markers_.clear();
  has_unknown_node_ = false;
}

call_result held_capture::add_marker() noexcept {
  try {
    if (markers_.size() == markers_.capacity()) markers_.reserve(2 * markers_.size() + 2);
  } catch (const std::bad_alloc&) {
    return {CUDA_ERROR_OUT_OF_MEMORY, "cuGraphAddEmptyNode"};
  }
  CUgraphNode marker = nullptr;
  const CUresult code = table_->graph_add_empty_node(&marker, graph_, nullptr, 0);
  if (code == CUDA_SUCCESS) markers_.push_back(marker);
  return {code, "cuGraphAddEmptyNode"};
}

call_result held_capture::begin(CUstream origin, CUstreamCaptureMode mode) noexcept {
  used_ = 0;
  is_link_recorded_ = false;
  if (graph_ == nullptr)
    if (const CUresult code = table_->graph_create(&graph_, 0); code != CUDA_SUCCESS)
      return {code, "cuGraphCreate"};
  if (markers_.empty())
    if (const call_result added = add_marker(); !added.ok()) {
      discard();  // it may have a node that nobody knows
      return added;
    }
  ++used_;
  const CUresult code =
      table_->stream_begin_capture_to_graph(origin, graph_, markers_.data(), nullptr, 1, mode);
  is_open_ = code == CUDA_SUCCESS;
  return {code, "cuStreamBeginCaptureToGraph"};
}

call_result held_capture::record_link(CUstream from) {
  if (is_link_recorded_) return {};
  if (!link_) link_.emplace(context::borrow(driver_of(*table_), context_));
  const CUresult code = table_->event_record(link_->get(), from);
  is_link_recorded_ = code == CUDA_SUCCESS;
  return {code, "cuEventRecord"};
}

call_result held_capture::hold(CUstream from, CUstream stream) {
  if (used_ == markers_.size())
    if (const call_result added = add_marker(); !added.ok()) {
      has_unknown_node_ = true;
      return added;
    }
  if (const call_result recorded = record_link(from); !recorded.ok()) return recorded;
  if (const CUresult code = table_->stream_wait_event(stream, link_->get(), 0);
      code != CUDA_SUCCESS)
    return {code, "cuStreamWaitEvent"};
  CUgraphNode marker = markers_[used_++];
  return {table_->stream_update_capture_dependencies(stream, &marker, nullptr, 1,
                                                     CU_STREAM_SET_CAPTURE_DEPENDENCIES),
          "cuStreamUpdateCaptureDependencies"};
}

std::vector<CUgraphNode> held_capture::foreign_nodes(call_result* asked) const {
  std::size_t count = 0;
  *asked = {table_->graph_get_nodes(graph_, nullptr, &count), "cuGraphGetNodes"};
  if (!asked->ok() || count == markers_.size()) return {};
  std::vector<CUgraphNode> nodes(count);
  *asked = {table_->graph_get_nodes(graph_, nodes.data(), &count), "cuGraphGetNodes"};
  if (!asked->ok()) return {};
  std::erase_if(nodes, [this](CUgraphNode node) {
    return std::find(markers_.begin(), markers_.end(), node) != markers_.end();
  });
  return nodes;
}

void held_capture::ended(CUgraph survivor, bool has_foreign_nodes) noexcept {
  is_open_ = false;
  if (survivor != graph_) {
    graph_ = nullptr;
    discard();
  } else if (has_foreign_nodes || has_unknown_node_) {
    discard();
  }
}

}  // namespace cugraft
