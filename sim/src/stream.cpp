// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "capture.hpp"
#include "context.hpp"
#include "device_facts.hpp"
#include "entry.hpp"
#include "null_stream.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

std::shared_ptr<stream> per_thread_stream(const std::shared_ptr<context>& owner) {
  std::shared_ptr<stream>& found = owner->per_thread[std::this_thread::get_id()];
  if (!found) {
    found = std::make_shared<stream>();
    found->handle = CU_STREAM_PER_THREAD;
    found->owner = owner;
  }
  return found;
}

template <class Visit>
void for_each_blocking(const context& of, Visit visit) {
  const auto visit_blocking = [&](const stream& each) {
    if (each.owner.get() == &of && each.is_blocking()) visit(each);
  };
  for (const auto& [thread, each] : of.per_thread) visit_blocking(*each);
  the_state().streams.for_each(visit_blocking);
}

// The legacy stream waits for the blocking streams and they for it.
std::vector<ticket> implicit_order(const stream& of) {
  std::vector<ticket> earlier;
  if (of.is_legacy())
    for_each_blocking(*of.owner,
                      [&](const stream& each) { earlier.push_back(each.queue->last()); });
  else if (of.is_blocking())
    earlier.push_back(of.owner->legacy->queue->last());
  std::erase_if(earlier, [](const ticket& each) { return each.done(); });
  return earlier;
}

// What queries and synchronisations ask first.
CUresult begin_wait(CUstream handle, std::shared_ptr<stream>& found) {
  if (const CUresult result = find_stream(handle, found)) return result;
  if (const CUresult result = capture_guard_stream(*found)) return result;
  if (const CUresult result = guard_legacy(*found)) return result;
  return capture_guard_unsafe();
}

}  // namespace

CUresult find_stream(CUstream handle, std::shared_ptr<stream>& found) {
  if (!handle && null_stream_scope::present() == null_stream_is::per_thread)
    handle = CU_STREAM_PER_THREAD;
  if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    std::shared_ptr<context> current;
    if (const CUresult result = current_context(current)) return result;
    found = handle == CU_STREAM_PER_THREAD ? per_thread_stream(current) : current->legacy;
    return CUDA_SUCCESS;
  }
  const auto& streams = the_state().streams;
  found = streams.find(handle);
  if (!found)
    return streams.was_removed(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                       : CUDA_ERROR_INVALID_HANDLE;
  return found->owner->destroyed ? CUDA_ERROR_INVALID_HANDLE : found->owner->failure.load();
}

CUresult guard_legacy(const stream& used) {
  return used.is_legacy() ? capture_guard_legacy() : CUDA_SUCCESS;
}

CUresult submit(CUstream on, operation work, const launch_extras& extras) {
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(on, found)) return result;
  return submit(*found, std::move(work), extras);
}

CUresult submit(stream& on, operation work, const launch_extras& extras) {
  if (const CUresult result = guard_legacy(on)) return result;
  if (is_capturing(on)) return capture_operation(on, std::move(work), extras);
  if (const CUresult result = prepare(work)) return result;
  const auto prepared = std::make_shared<const operation>(std::move(work));
  return enqueue(on, [prepared] { return execute(*prepared); });
}

CUresult enqueue(stream& on, std::function<CUresult()> task, std::vector<ticket> after) {
  std::vector<ticket> earlier = implicit_order(on);
  std::vector<ticket>& barrier = on.owner->barrier;
  std::erase_if(barrier, [](const ticket& each) { return each.done(); });
  std::ranges::copy(barrier, std::back_inserter(earlier));
  std::ranges::move(after, std::back_inserter(earlier));
  const auto run = [task = std::move(task), owner = on.owner] {
    if (owner->failure != CUDA_SUCCESS) return;
    if (const CUresult result = task()) owner->fail(result);
  };
  on.queue->push(run, std::move(earlier));
  return CUDA_SUCCESS;
}

std::vector<ticket> work_so_far(stream& of) {
  std::vector<ticket> work;
  if (of.is_legacy()) work = implicit_order(of);
  work.push_back(of.queue->last());
  return work;
}

CUresult wait_for_stream(stream& which) {
  const std::vector<ticket> work = work_so_far(which);
  const auto owner = which.owner;
  const unlock_guard unlocked;
  for (const ticket& each : work) each.wait();
  return owner->failure;
}

CUresult impl::stream_create_with_priority(CUstream* made, unsigned flags, int priority) {
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  if (!made || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  auto created = std::make_shared<stream>();
  created->owner = std::move(current);
  created->flags = flags;
  created->priority =
      std::clamp(priority, device_facts::greatest_priority, device_facts::least_priority);
  *made = created->handle = the_state().streams.add(created);
  return CUDA_SUCCESS;
}

// Work that was enqueued still runs, and is waited for with its context.
CUresult impl::stream_destroy(CUstream handle) {
  if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
    return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<stream> found;
  const CUresult result = find_stream(handle, found);
  if (!found) return result;
  capture_forget_stream(*found);
  std::vector<ticket>& left = found->owner->left_work;
  std::erase_if(left, [](const ticket& each) { return each.done(); });
  left.push_back(found->queue->last());
  the_state().streams.remove(handle);
  return result;
}

CUresult impl::stream_synchronize(CUstream handle) {
  std::shared_ptr<stream> found;
  if (const CUresult result = begin_wait(handle, found)) return result;
  return wait_for_stream(*found);
}

CUresult impl::stream_query(CUstream handle) {
  std::shared_ptr<stream> found;
  if (const CUresult result = begin_wait(handle, found)) return result;
  const std::vector<ticket> work = work_so_far(*found);
  const bool done = std::ranges::all_of(work, [](const ticket& each) { return each.done(); });
  return done ? found->owner->failure.load() : CUDA_ERROR_NOT_READY;
}

CUresult impl::stream_get_priority(CUstream handle, int* priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(handle, found)) return result;
  *priority = found->priority;
  return CUDA_SUCCESS;
}

CUresult impl::stream_get_flags(CUstream handle, unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(handle, found)) return result;
  // Unlike its siblings this query is not allowed in a capture (H200).
  if (const CUresult result = capture_guard_stream(*found)) return result;
  *flags = found->flags;
  return CUDA_SUCCESS;
}

CUresult impl::stream_get_ctx(CUstream handle, CUcontext* owner) {
  if (!owner) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<stream> found;
  if (const CUresult result = find_stream(handle, found)) return result;
  *owner = found->owner->handle;
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
