// SPDX-License-Identifier: Apache-2.0
#include "engines/direct/direct_memory.hpp"

#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include "capture/failures.hpp"
#include "driver/call.hpp"

namespace cugraft {

direct_memory& direct_memory::of(detail::graph_state& graph, CUcontext context) {
  auto* known = static_cast<direct_memory*>(graph.direct_memory.get());
  if (known == nullptr || known->context_ != context) {
    auto made = std::make_unique<direct_memory>(*graph.table, context);
    known = made.get();
    graph.direct_memory = std::move(made);
  }
  return *known;
}

CUstream direct_memory::aside_in(CUcontext context) {
  for (const auto& [of, aside] : aside_)
    if (of == context) return aside.get();
  return aside_.emplace_back(context, stream(context::borrow(driver_of(*table_), context)))
      .second.get();
}

held_capture& direct_memory::held_for_body(CUcontext context) {
  for (auto& [of, unused] : bodies_)
    if (of == context && !unused.is_open()) return unused;
  return bodies_
      .emplace_back(std::piecewise_construct, std::forward_as_tuple(context),
                    std::forward_as_tuple(*table_, context))
      .second;
}

call_result direct_memory::capture_aside(const repetition& again, CUcontext context,
                                         CUgraphNode* node) {
  const CUstream aside = aside_in(context);
  if (captured_.size() == captured_.capacity()) captured_.reserve(2 * captured_.size() + 8);
  const CUresult begun = table_->stream_begin_capture(aside, CU_STREAM_CAPTURE_MODE_RELAXED);
  call_result asked{CUDA_ERROR_OUT_OF_MEMORY, ""};
  try {
    if (begun == CUDA_SUCCESS) asked = again(aside);
  } catch (...) {
    CUgraph nothing = nullptr;
    end_capture(*table_, aside, &nothing);
    if (nothing != nullptr) captured_.push_back(nothing);  // reserved
    throw;
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  if (!asked.ok()) static_cast<void>(table_->stream_is_capturing(aside, &status));
  CUgraph captured = nullptr;
  const call_result ended = end_capture(*table_, aside, &captured);
  if (captured != nullptr) captured_.push_back(captured);
  check(begun, "cuStreamBeginCapture", aside);
  if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE) check(asked.code, asked.function, aside);
  if (!asked.ok()) return asked;
  check(ended.code, ended.function, aside);
  std::size_t count = 1;
  check(table_->graph_get_nodes(captured, node, &count), "cuGraphGetNodes", captured);
  return {};
}

void direct_memory::forget() noexcept {
  for (const CUgraph graph : captured_) discard_graph(*table_, graph);
  captured_.clear();
}

}  // namespace cugraft
