// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "base/access.hpp"
#include "capture/host_payload.hpp"
#include "driver/call.hpp"
#include "handles/open_sessions.hpp"
#include "handles/ownership.hpp"

// The free `host_call`: in a session, in somebody else's capture, or at once.

namespace cugraft {
namespace {

// The graph that foreign code captures on `stream`; null if it is not capturing.
CUgraph foreign_capture(stream_ref stream) {
  const driver_table& table = table_of(stream);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  check(table.stream_get_capture_info(stream.get(), &status, nullptr, &graph, nullptr, nullptr,
                                      nullptr),
        "cuStreamGetCaptureInfo", stream.get());
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

void CUDA_CB destroy_payload(void* payload) noexcept {
  release(static_cast<detached_host_payload*>(payload));
}

// Makes `payload` a user object of `graph`, which holds it from then on; so does nobody if it
// fails.
void give_to_graph(const driver_table& table, CUgraph graph, detached_host_payload* payload) {
  CUuserObject object = nullptr;
  const CUresult created = table.user_object_create(&object, payload, &destroy_payload, 1,
                                                    CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (created != CUDA_SUCCESS && object != nullptr)
    try_release(table, &driver_table::user_object_release, object, 1U);
  if (object == nullptr) release(payload);
  check(created, "cuUserObjectCreate");
  // The graph takes a reference of its own, and ours goes whatever came of that.
  const CUresult retained = table.graph_retain_user_object(graph, object, 1, 0);
  release_or_report(table, {"user object", object}, &driver_table::user_object_release, object, 1U);
  check(retained, "cuGraphRetainUserObject", graph);
}

// Whether a call that gave `result` may have enqueued its work: an error of earlier asynchronous
// work, or one that says nothing.
bool may_be_enqueued(CUresult result) noexcept {
  return (result >= CUDA_ERROR_ILLEGAL_ADDRESS && result < CUDA_ERROR_NOT_PERMITTED) ||
         result == CUDA_ERROR_UNKNOWN;
}

}  // namespace

void host_call(stream_ref stream, host_function function) {
  if (detail::access::function_object(function) == nullptr)
    throw usage_error("host_call: the function was moved from; give one that can be called");
  if (const auto session = recorder_of(stream))
    return session->host_call(stream, std::move(function));
  const driver_table& table = table_of(stream);
  if (const CUgraph graph = foreign_capture(stream)) {
    detached_host_payload* const payload = detach(table, std::move(function), 1);
    void* const data = &payload->payload;
    give_to_graph(table, graph, payload);  // before the node: a node is never without its function
    check(table.launch_host_func(stream.get(), &run_host_payload, data), "cuLaunchHostFunc",
          stream.get());
    return;
  }
  // The driver's hold and this call's: the work may be enqueued, and the call give an error.
  detached_host_payload* const payload = detach(table, std::move(function), 2);
  const CUresult result = table.launch_host_func(stream.get(), &run_host_payload_once, payload);
  if (result != CUDA_SUCCESS && !may_be_enqueued(result)) release(payload);  // the driver's hold
  release(payload);
  check(result, "cuLaunchHostFunc", stream.get());
}

}  // namespace cugraft
