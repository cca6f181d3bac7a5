// SPDX-License-Identifier: Apache-2.0
#include "launch.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "capture.hpp"
#include "context.hpp"
#include "device_facts.hpp"
#include "entry.hpp"
#include "library.hpp"
#include "state.hpp"
#include "stream.hpp"

namespace cugraft_sim {
namespace {

bool fits(const ptx::dimensions& size, const device_facts::limits& most) noexcept {
  const auto in = [](unsigned value, int limit) {
    return value > 0 && value <= static_cast<unsigned>(limit);
  };
  return in(size.x, most.x) && in(size.y, most.y) && in(size.z, most.z);
}

std::uint64_t product(const ptx::dimensions& of) noexcept {
  return std::uint64_t{of.x} * of.y * of.z;
}

CUresult check_dimensions(const kernel_operation& kernel) {
  const ptx::entry& entry = *kernel.code->code->entry;
  if (!fits(kernel.grid, device_facts::max_grid) || !fits(kernel.block, device_facts::max_block))
    return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t threads = product(kernel.block);
  if (threads > device_facts::max_block_threads) return CUDA_ERROR_INVALID_VALUE;
  if (entry.max_threads && threads > product(*entry.max_threads)) return CUDA_ERROR_INVALID_VALUE;
  if (entry.required_threads && kernel.block != *entry.required_threads)
    return CUDA_ERROR_INVALID_VALUE;
  return kernel.shared_bytes <= static_cast<unsigned>(kernel.code->max_dynamic_shared_bytes)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

// Each argument from where it stands to where the kernel's layout has it.
CUresult pack_pointers(void** pointers, const ptx::entry& entry, std::vector<std::byte>& packed) {
  packed.assign(entry.parameter_bytes, std::byte{0});
  if (!pointers) return entry.parameters.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    if (!pointers[i]) return CUDA_ERROR_INVALID_VALUE;
    const ptx::parameter& each = entry.parameters[i];
    std::memcpy(packed.data() + each.offset, pointers[i], each.size);
  }
  return CUDA_SUCCESS;
}

struct argument_buffer {
  const void* bytes = nullptr;
  const std::size_t* size = nullptr;
};

CUresult read_extra(void** extra, argument_buffer& found) {
  for (std::size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      found.bytes = extra[i + 1];
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      found.size = static_cast<const std::size_t*>(extra[i + 1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult pack_buffer(void** extra, const ptx::entry& entry, CUresult too_long,
                     std::vector<std::byte>& packed) {
  argument_buffer buffer;
  if (const CUresult result = read_extra(extra, buffer)) return result;
  packed.assign(entry.parameter_bytes, std::byte{0});
  // A buffer without a size has no effect (driver-rules 1.3), so the arguments are missing then.
  if (!buffer.bytes || !buffer.size || *buffer.size == 0)
    return entry.parameter_bytes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (*buffer.size > entry.parameter_bytes) return too_long;
  std::memcpy(packed.data(), buffer.bytes, *buffer.size);  // a short one is taken (H200)
  return CUDA_SUCCESS;
}

// A buffer that is longer than the parameters gives `too_long`.
CUresult pack_arguments(void** pointers, void** extra, CUresult too_long,
                        kernel_operation& kernel) {
  if (extra && extra[0] == CU_LAUNCH_PARAM_END && pointers) extra = nullptr;  // as an H200 does
  if (pointers && extra) return CUDA_ERROR_INVALID_VALUE;
  const ptx::entry& entry = *kernel.code->code->entry;
  if (!extra) return pack_pointers(pointers, entry, kernel.arguments);
  kernel.by_extra = true;
  return pack_buffer(extra, entry, too_long, kernel.arguments);
}

// Events that a launch records must not keep time nor be shared (driver-rules 1.4; codes: H200).
CUresult check_launch_event(CUevent handle, int flags) {
  std::shared_ptr<event> found;
  if (const CUresult result = find_event(handle, found)) return result;
  if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;
  const bool fits =
      (found->flags & CU_EVENT_DISABLE_TIMING) && !(found->flags & CU_EVENT_INTERPROCESS);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult read_extra_attribute(const CUlaunchAttribute& given, launch_extras& extras) {
  switch (given.id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      extras.programmatic_serialization = given.value.programmaticStreamSerializationAllowed != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      extras.programmatic_event = given.value.programmaticEvent.event;
      extras.programmatic_event_flags = given.value.programmaticEvent.flags;
      extras.trigger_at_block_start = given.value.programmaticEvent.triggerAtBlockStart != 0;
      return check_launch_event(extras.programmatic_event, extras.programmatic_event_flags);
    default:  // the launch completion event
      extras.completion_event = given.value.launchCompletionEvent.event;
      extras.completion_event_flags = given.value.launchCompletionEvent.flags;
      return check_launch_event(extras.completion_event, extras.completion_event_flags);
  }
}

CUresult read_attributes(const CUlaunchConfig& config, const stream& on, attribute_list& attributes,
                         launch_extras& extras) {
  if (config.numAttrs > 0 && !config.attrs) return CUDA_ERROR_INVALID_VALUE;
  for (const CUlaunchAttribute& given : std::span(config.attrs, config.numAttrs)) {
    if (given.id == CU_LAUNCH_ATTRIBUTE_IGNORE) continue;
    if (!is_launch_attribute(given.id)) return CUDA_ERROR_INVALID_VALUE;
    // Outside of a capture no driver takes it; nodes that the device updates are not modelled.
    if (given.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (is_node_attribute(given.id)) {
      std::memcpy(attributes[given.id].data(), &given.value, sizeof given.value);
    } else if (const CUresult result = read_extra_attribute(given, extras)) {
      return result;
    }
  }
  // A kernel has its stream's priority where it has none of its own (driver-rules 1.4).
  const auto [priority, added] = attributes.try_emplace(CU_LAUNCH_ATTRIBUTE_PRIORITY);
  if (added) std::memcpy(priority->second.data(), &on.priority, sizeof on.priority);
  return CUDA_SUCCESS;
}

CUresult record_after(CUevent event, stream& on) {
  if (!event) return CUDA_SUCCESS;
  return submit(on, {on.owner->handle, event_record_operation{event, nullptr}});
}

// What a launch and the parameters of a node have in common.
struct launch_parameters {
  CUfunction function;
  ptx::dimensions grid;
  ptx::dimensions block;
  unsigned shared_bytes;
  void** pointers;
  void** extra;
};

// Everything that no capture dies from: function, attribute values, arguments.
CUresult make_unchecked(const launch_parameters& given, const std::shared_ptr<context>& where,
                        const attribute_list& attributes, CUresult too_long,
                        kernel_operation& made) {
  std::shared_ptr<function> found;
  if (const CUresult result = find_function(given.function, where, found)) return result;
  if (const CUresult result = check_attribute_values(attributes)) return result;
  made.function = found->handle;
  made.kernel = found->code->handle;
  made.grid = given.grid;
  made.block = given.block;
  made.shared_bytes = given.shared_bytes;
  made.attributes = attributes;
  made.code = std::move(found);
  return pack_arguments(given.pointers, given.extra, too_long, made);
}

bool is_cooperative(const kernel_operation& kernel) {
  const auto found = kernel.attributes.find(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  int cooperative = 0;
  if (found != kernel.attributes.end())
    std::memcpy(&cooperative, found->second.data(), sizeof cooperative);
  return cooperative != 0;
}

// Nodes do not take cooperative kernels with a buffer, launches do (driver-rules 1.3, H200).
CUresult check_fit(const kernel_operation& kernel, bool is_node) {
  if (const CUresult result = check_dimensions(kernel)) return result;
  if (const CUresult result = check_attribute_fit(kernel)) return result;
  return is_node && kernel.by_extra && is_cooperative(kernel) ? CUDA_ERROR_INVALID_VALUE
                                                              : CUDA_SUCCESS;
}

CUresult make_launch(const CUlaunchConfig& config, const launch_parameters& given, stream& on,
                     kernel_operation& made, launch_extras& extras) {
  attribute_list attributes;
  if (const CUresult result = read_attributes(config, on, attributes, extras)) return result;
  const bool captured = is_capturing(on);
  const CUresult too_long =
      captured ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (const CUresult result = make_unchecked(given, on.owner, attributes, too_long, made))
    return result;
  if (made.code->owner != on.owner) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult result = check_fit(made, captured);
  // A launch that does not fit ends the capture as an unsupported call does, with its own code
  // (H200).
  if (result != CUDA_SUCCESS) static_cast<void>(capture_guard_stream(on));
  return result;
}

}  // namespace

CUresult make_kernel_operation(const CUDA_KERNEL_NODE_PARAMS& parameters,
                               const std::shared_ptr<context>& where,
                               const attribute_list& attributes, kernel_operation& made) {
  // `kern` counts only where there is no `func` (driver-rules 9.2).
  const CUfunction function =
      parameters.func ? parameters.func : reinterpret_cast<CUfunction>(parameters.kern);
  const launch_parameters given{function,
                                {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ},
                                {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ},
                                parameters.sharedMemBytes,
                                parameters.kernelParams,
                                parameters.extra};
  kernel_operation kernel;
  if (const CUresult result =
          make_unchecked(given, where, attributes, CUDA_ERROR_INVALID_VALUE, kernel))
    return result;
  if (const CUresult result = check_fit(kernel, true)) return result;
  made = std::move(kernel);
  return CUDA_SUCCESS;
}

CUresult impl::launch_kernel_ex(const CUlaunchConfig* config, CUfunction function, void** pointers,
                                void** extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<stream> on;
  if (const CUresult result = find_stream(config->hStream, on)) return result;
  if (const CUresult result = guard_legacy(*on)) return result;
  const launch_parameters given{function,
                                {config->gridDimX, config->gridDimY, config->gridDimZ},
                                {config->blockDimX, config->blockDimY, config->blockDimZ},
                                config->sharedMemBytes,
                                pointers,
                                extra};
  kernel_operation kernel;
  launch_extras extras;
  if (const CUresult result = make_launch(*config, given, *on, kernel, extras)) return result;
  const bool captured = is_capturing(*on);
  const CUresult result = submit(*on, {on->owner->handle, std::move(kernel)}, extras);
  if (result != CUDA_SUCCESS || captured) return result;
  if (const CUresult recorded = record_after(extras.programmatic_event, *on)) return recorded;
  return record_after(extras.completion_event, *on);
}

namespace {

// A launch in the form of the older calls, without attributes.
CUlaunchConfig plain_config(const ptx::dimensions& grid, const ptx::dimensions& block,
                            unsigned shared_bytes, CUstream on) {
  CUlaunchConfig config{};
  config.gridDimX = grid.x;
  config.gridDimY = grid.y;
  config.gridDimZ = grid.z;
  config.blockDimX = block.x;
  config.blockDimY = block.y;
  config.blockDimZ = block.z;
  config.sharedMemBytes = shared_bytes;
  config.hStream = on;
  return config;
}

}  // namespace

CUresult impl::launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, CUstream on, void** pointers, void** extra) {
  const CUlaunchConfig config =
      plain_config({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, on);
  return launch_kernel_ex(&config, function, pointers, extra);
}

CUresult impl::launch_cooperative_kernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared_bytes, CUstream on,
                                         void** pointers) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  CUlaunchConfig config =
      plain_config({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, on);
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return launch_kernel_ex(&config, function, pointers, nullptr);
}

}  // namespace cugraft_sim
