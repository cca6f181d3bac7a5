// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include "capture.hpp"
#include "device_facts.hpp"
#include "entry.hpp"
#include "state.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

std::vector<CUcontext>& stack() noexcept {
  thread_local std::vector<CUcontext> contexts;
  return contexts;
}

// Whoever switches contexts is not told that one is gone or that its work failed.
CUresult check_exists(CUcontext handle) {
  return the_state().contexts.find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

std::shared_ptr<context> make_context(CUdevice on, CUcontext known) {
  auto made = std::make_shared<context>();
  made->device = on;
  if (known) the_state().contexts.replace(known, made);
  made->handle = known ? known : the_state().contexts.add(made);
  made->legacy = std::make_shared<stream>();
  made->legacy->handle = CU_STREAM_LEGACY;
  made->legacy->owner = made;
  return made;
}

void end_context(context& which) {
  which.destroyed = true;
  wait_for_work(which);
  which.per_thread.clear();
  which.whole.reset();
  which.legacy.reset();
}

bool is_primary(const context& which) noexcept {
  return the_state().devices[static_cast<std::size_t>(which.device)].handle == which.handle;
}

std::vector<ticket> all_work(const context& of) {
  std::vector<ticket> work = of.left_work;
  const auto add = [&](const stream& each) { work.push_back(each.queue->last()); };
  add(*of.legacy);
  if (of.whole) add(*of.whole);
  for (const auto& [thread, each] : of.per_thread) add(*each);
  the_state().streams.for_each([&](const stream& each) {
    if (each.owner.get() == &of) add(each);
  });
  return work;
}

CUresult find_context(CUcontext handle, std::shared_ptr<context>& found) {
  found = the_state().contexts.find(handle);
  if (!found) return CUDA_ERROR_INVALID_CONTEXT;
  return found->destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : found->failure.load();
}

CUcontext current_context_handle() noexcept { return stack().empty() ? nullptr : stack().back(); }

CUresult current_context(std::shared_ptr<context>& found) {
  return find_context(current_context_handle(), found);
}

std::size_t context_stack_depth() noexcept { return stack().size(); }

void wait_for_work(const context& of) {
  const std::vector<ticket> work = all_work(of);
  const unlock_guard unlocked;
  for (const ticket& each : work) each.wait();
}

CUresult synchronize(const std::shared_ptr<context>& which) {
  wait_for_work(*which);
  return which->failure;
}

CUresult impl::device_primary_ctx_retain(CUcontext* context, CUdevice device) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  state& all = the_state();
  if (device < 0 || device >= static_cast<int>(all.devices.size()))
    return CUDA_ERROR_INVALID_DEVICE;
  auto& entry = all.devices[static_cast<std::size_t>(device)];
  if (entry.retained == 0) entry.primary = make_context(device, entry.handle);
  entry.handle = entry.primary->handle;
  ++entry.retained;
  *context = entry.primary->handle;
  return CUDA_SUCCESS;
}

CUresult impl::device_primary_ctx_release(CUdevice device) {
  state& all = the_state();
  if (device < 0 || device >= static_cast<int>(all.devices.size()))
    return CUDA_ERROR_INVALID_DEVICE;
  auto& entry = all.devices[static_cast<std::size_t>(device)];
  if (entry.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--entry.retained > 0) return CUDA_SUCCESS;
  const auto last = std::move(entry.primary);
  end_context(*last);
  return CUDA_SUCCESS;
}

CUresult impl::ctx_push_current(CUcontext context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_exists(context)) return result;
  stack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult impl::ctx_pop_current(CUcontext* context) {
  if (stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = stack().back();
  stack().pop_back();
  return CUDA_SUCCESS;
}

CUresult impl::ctx_set_current(CUcontext context) {
  if (context)
    if (const CUresult result = check_exists(context)) return result;
  if (!stack().empty()) stack().pop_back();
  if (context) stack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult impl::ctx_get_current(CUcontext* context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context_handle();
  return CUDA_SUCCESS;
}

CUresult impl::ctx_get_device(CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  const auto current = the_state().contexts.find(current_context_handle());
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  // One that is gone has its device still (H200).
  *device = current->device;
  return CUDA_SUCCESS;
}

CUresult impl::ctx_synchronize() {
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  if (const CUresult result = capture_guard_context(*current)) return result;
  if (const CUresult result = capture_guard_unsafe()) return result;
  return synchronize(current);
}

CUresult impl::ctx_get_stream_priority_range(int* least, int* greatest) {
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  if (least) *least = device_facts::least_priority;
  if (greatest) *greatest = device_facts::greatest_priority;
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
