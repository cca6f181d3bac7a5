// SPDX-License-Identifier: Apache-2.0
#include "operation.hpp"

#include <cstring>

#include "batch_ops.hpp"
#include "callback.hpp"
#include "condition.hpp"
#include "copy_fill.hpp"
#include "library.hpp"
#include "memory.hpp"
#include "overloaded.hpp"
#include "peer_access.hpp"
#include "ptx/run.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

CUresult result_of(ptx::outcome outcome) noexcept {
  switch (outcome) {
    case ptx::outcome::ok:
      return CUDA_SUCCESS;
    case ptx::outcome::illegal_address:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case ptx::outcome::misaligned_address:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case ptx::outcome::barrier:
      return CUDA_ERROR_LAUNCH_TIMEOUT;  // a device would hang
    case ptx::outcome::bad_launch:
      return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

void run_body(const kernel_body& body, const kernel_operation& kernel,
              condition_values* conditions) {
  const ptx::dimensions cluster = cluster_of(kernel);
  const callback_scope in_callback;
  body({{kernel.grid.x, kernel.grid.y, kernel.grid.z},
        {kernel.block.x, kernel.block.y, kernel.block.z},
        {cluster.x, cluster.y, cluster.z},
        kernel.shared_bytes,
        kernel.arguments,
        [conditions](std::uint64_t handle, unsigned value) {
          return conditions && conditions->set(handle, value);
        }});
}

CUresult run(const kernel_operation& kernel, condition_values* conditions) {
  const cugraft_sim::function& function = *kernel.code;
  const cugraft_sim::kernel& code = *function.code;
  if (code.body) {
    run_body(code.body, kernel, conditions);
    return CUDA_SUCCESS;
  }
  ptx::launch how;
  how.grid = kernel.grid;
  how.block = kernel.block;
  how.cluster = cluster_of(kernel);
  how.dynamic_shared_bytes = kernel.shared_bytes;
  how.parameters = kernel.arguments;
  how.globals = function.globals->data();
  how.hook_context = conditions;
  reachable_memory memory(*function.owner);
  const ptx::run_result result = ptx::run(*code.module, *code.entry, how, memory);
  if (!result) say(result.message);
  return result_of(result.kind);
}

CUresult run(const host_operation& host) {
  const callback_scope in_callback;
  host.function(host.user_data);
  return CUDA_SUCCESS;
}

CUresult run(const event_record_operation& record) {
  record.pending->complete();
  return CUDA_SUCCESS;
}

CUresult run(const event_wait_operation& wait) {
  if (wait.awaited) wait.awaited->wait();
  return CUDA_SUCCESS;
}

CUresult run(const empty_operation&) { return CUDA_SUCCESS; }

// The graphs inside these run by themselves.
CUresult run(const child_operation&) { return CUDA_SUCCESS; }

CUresult run(const conditional_operation&) { return CUDA_SUCCESS; }

CUresult run(const alloc_operation& alloc) { return alloc.memory->begin(); }

CUresult run(const free_operation& freed) {
  freed.memory->end();
  return CUDA_SUCCESS;
}

CUresult run(const copy_operation& copy) { return run_copy(copy.parameters); }

CUresult run(const fill_operation& fill) { return run_fill(fill.parameters); }

CUresult run(const batch_operation& batch) { return run_batch(batch); }

CUresult connect(event_record_operation& record) {
  const auto found = the_state().events.find(record.event);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  found->captured.reset();
  record.pending = start_record(*found);
  return CUDA_SUCCESS;
}

CUresult connect(event_wait_operation& wait) {
  const auto found = the_state().events.find(wait.event);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  wait.awaited = found->last;
  return CUDA_SUCCESS;
}

template <class Other>
CUresult connect(Other&) {
  return CUDA_SUCCESS;
}

}  // namespace

CUresult prepare(operation& enqueued) {
  return std::visit([](auto& what) { return connect(what); }, enqueued.what);
}

CUresult execute(const operation& prepared, condition_values* conditions) {
  if (const auto* const kernel = std::get_if<kernel_operation>(&prepared.what))
    return run(*kernel, conditions);
  return std::visit(overloaded{
                        [](const kernel_operation&) { return CUDA_SUCCESS; },
                        [](const auto& what) { return run(what); },
                    },
                    prepared.what);
}

ptx::dimensions cluster_of(const kernel_operation& kernel) {
  const auto found = kernel.attributes.find(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  const ptx::dimensions of_image =
      kernel.code->code->entry->required_cluster.value_or(ptx::dimensions{});
  if (found == kernel.attributes.end()) return of_image;
  std::array<unsigned, 3> words{};
  std::memcpy(words.data(), found->second.data(), sizeof words);
  const ptx::dimensions cluster{words[0], words[1], words[2]};
  return cluster == ptx::dimensions{0, 0, 0} ? of_image : cluster;
}

}  // namespace cugraft_sim
