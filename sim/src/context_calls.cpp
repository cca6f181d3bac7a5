// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "event.hpp"
#include "library.hpp"
#include "memory.hpp"
#include "state.hpp"
#include "stream.hpp"

// Contexts that programs make and destroy, and events of a whole context.

namespace cugraft_sim {
namespace {

constexpr unsigned scheduling_flags = CU_CTX_SCHED_MASK;

// One way to wait for the device at most.
bool are_flags(unsigned flags) noexcept {
  const unsigned scheduling = flags & scheduling_flags;
  return (flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0 && (scheduling & (scheduling - 1)) == 0;
}

template <class Object, class Handle>
std::vector<Handle> handles_of(const handle_table<Handle, Object>& in, const context& owner) {
  std::vector<Handle> handles;
  in.for_each([&](const Object& each) {
    if (each.owner.get() == &owner) handles.push_back(each.handle);
  });
  return handles;
}

// Everything that belongs to a context goes with it; stream-ordered memory belongs to none.
void clean_up(const context& gone) {
  state& all = the_state();
  for (const CUstream each : handles_of(all.streams, gone)) {
    capture_forget_stream(*all.streams.find(each));
    all.streams.remove(each);
  }
  for (const CUevent each : handles_of(all.events, gone)) all.events.remove(each);
  forget_code_of(gone);
  the_memory().release_all_of(gone.handle);
}

stream& whole_of(const std::shared_ptr<context>& which) {
  if (!which->whole) {
    which->whole = std::make_shared<stream>();
    which->whole->owner = which;
    which->whole->flags = CU_STREAM_NON_BLOCKING;
  }
  return *which->whole;
}

}  // namespace

// The new one is current, above what was.
CUresult impl::ctx_create(CUcontext* made, unsigned flags, CUdevice on) {
  if (!made || !are_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(on)) return CUDA_ERROR_INVALID_DEVICE;
  *made = make_context(on, nullptr)->handle;
  return ctx_push_current(*made);
}

// It stays current to other threads, which are told that it is gone.
CUresult impl::ctx_destroy(CUcontext which) {
  if (!which) return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<context> found = the_state().contexts.find(which);
  if (!found || is_primary(*found)) return CUDA_ERROR_INVALID_CONTEXT;
  if (found->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (current_context_handle() == which) ctx_pop_current(nullptr);
  end_context(*found);
  clean_up(*found);
  return CUDA_SUCCESS;
}

CUresult impl::ctx_record_event(CUcontext in, CUevent handle) {
  std::shared_ptr<context> where;
  if (const CUresult result = find_context(in, where)) return result;
  std::shared_ptr<event> which;
  if (const CUresult result = find_event(handle, which)) return result;
  if (which->owner != where) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = capture_guard_context(*where)) return result;
  which->captured.reset();
  return enqueue(
      whole_of(where),
      [pending = start_record(*which)] {
        pending->complete();
        return CUDA_SUCCESS;
      },
      all_work(*where));
}

// An event of a capture that is over is that of an invalid one (facts, Events in a capture).
CUresult impl::ctx_wait_event(CUcontext in, CUevent handle) {
  std::shared_ptr<context> where;
  if (const CUresult result = find_context(in, where)) return result;
  std::shared_ptr<event> which;
  if (const CUresult result = find_event(handle, which)) return result;
  if (const CUresult result = capture_guard_context(*where)) return result;
  if (const CUresult result = capture_guard_event(*which)) return result;
  if (!which->last) return CUDA_SUCCESS;
  stream& on = whole_of(where);
  const CUresult result = enqueue(on, [last = which->last] {
    last->wait();
    return CUDA_SUCCESS;
  });
  where->barrier.push_back(on.queue->last());
  return result;
}

}  // namespace cugraft_sim
