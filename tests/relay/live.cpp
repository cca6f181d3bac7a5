// SPDX-License-Identifier: Apache-2.0
#include "relay/live.hpp"

#include <chrono>
#include <thread>
#include <vector>

namespace cugraft_relay {
namespace {

/// Makes a context current, past all counting.
class context_scope {
 public:
  explicit context_scope(CUcontext context)
      : is_pushed_(real().ctx_push_current(context) == CUDA_SUCCESS) {}
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;
  ~context_scope() {
    CUcontext popped = nullptr;
    if (is_pushed_) real().ctx_pop_current(&popped);
  }

 private:
  bool is_pushed_;
};

std::vector<CUcontext> retained_contexts() {
  const std::lock_guard lock(live().contexts_mutex);
  std::vector<CUcontext> retained;
  for (const auto& [device, context] : live().contexts)
    if (context.retained > 0) retained.push_back(context.handle);
  return retained;
}

// Of any retained context: a stream is known by its handle, but no call is without a context.
std::size_t count_capturing() {
  const std::vector<CUcontext> contexts = retained_contexts();
  if (contexts.empty()) return 0;
  const context_scope scope(contexts.front());
  std::size_t capturing = 0;
  live().streams.each([&](CUstream stream) { capturing += is_capturing(stream) ? 1 : 0; });
  return capturing;
}

// A driver runs destructors on a thread of its own and tells nobody when: a while without one is
// taken for the end.
void wait_for_destructors() {
  constexpr int looks = 10;
  std::size_t before = live().user_objects;
  for (int quiet = 0; before != 0 && quiet < looks; ++quiet) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::size_t now = live().user_objects;
    if (now != before) quiet = 0;
    before = now;
  }
}

}  // namespace

live_things& live() noexcept {
  static auto* const instance = new live_things;
  return *instance;
}

std::size_t& context_depth() noexcept {
  thread_local std::size_t depth = 0;
  return depth;
}

bool is_capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return real().stream_is_capturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

cugraft_sim::live_handles count_live() {
  cugraft_sim::live_handles alive;
  alive.primary_contexts = retained_contexts().size();
  alive.streams = live().streams.size();
  alive.events = live().events.size();
  alive.device_allocations = live().device_allocations.size();
  alive.host_allocations = live().host_allocations.size();
  alive.memory_pools = live().memory_pools.size();
  alive.libraries = live().libraries.size();
  alive.graphs = live().graphs.size();
  alive.graph_execs = live().graph_execs.size();
  alive.user_objects = live().user_objects;
  alive.capturing_streams = count_capturing();
  return alive;
}

void settle() {
  if (count_capturing() == 0) {
    for (const CUcontext context : retained_contexts()) {
      const context_scope scope(context);
      real().ctx_synchronize();
    }
  }
  wait_for_destructors();
}

}  // namespace cugraft_relay
