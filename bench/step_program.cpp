// SPDX-License-Identifier: Apache-2.0
#include "step_program.hpp"

namespace cugraft::bench {
namespace {

constexpr std::size_t mix_layer = 16;     // half of it on each of the two streams
constexpr std::size_t decode_layer = 13;  // as the demo's: the last two on the second stream
constexpr std::size_t decode_kernels = 11;
constexpr std::size_t copied_bytes = sizeof(float);
constexpr unsigned block = 32;

CUdeviceptr address(const void* pointer) noexcept { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

const char* to_string(step_shape shape) noexcept {
  switch (shape) {
    case step_shape::chain:
      return "chain";
    case step_shape::mix:
      return "mix";
    case step_shape::decode:
      return "decode";
    case step_shape::copy_2d:
      return "copy_2d";
    default:
      return "allocation";
  }
}

step_program::step_program(step_shape shape, std::size_t size, std::size_t changed)
    : shape_(shape),
      size_(size),
      changed_(changed),
      raw_(measured_raw_driver()),
      origin_(measured_workbench().context),
      side_(measured_workbench().context),
      link_(measured_workbench().context),
      values_(measured_workbench().context, size * sizeof(float)),
      copied_(measured_workbench().context, 2 * size * copied_bytes),
      source_(measured_workbench().context, size * copied_bytes) {}

void step_program::make_current() const {
  check(raw_.ctx_set_current(measured_workbench().context.get()), "cuCtxSetCurrent");
}

step_program::action step_program::action_of(std::size_t node) const noexcept {
  if (shape_ == step_shape::mix && node % 10 == 9)
    return node % 20 == 9 ? action::copy : action::fill;
  if (shape_ == step_shape::decode && is_beside(node))
    return node % decode_layer == decode_kernels ? action::copy : action::fill;
  if (shape_ == step_shape::copy_2d && node == size_ / 2) return action::copy_2d;
  if (shape_ == step_shape::allocation && node == 0) return action::allocation;
  if (shape_ == step_shape::allocation && node + 1 == size_) return action::release;
  return action::kernel;
}

// Two-dimensional copies and allocations stay the same: no executable takes another one.
bool step_program::changes(std::size_t node) const noexcept {
  const action what = action_of(node);
  return is_evenly_chosen(node, changed_, size_) && what != action::copy_2d &&
         what != action::allocation && what != action::release;
}

std::size_t step_program::changed() const noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < size_; ++i) count += changes(i) ? 1 : 0;
  return count;
}

// A copy that changes has another target in every round.
float* step_program::target_of(std::size_t node) const noexcept {
  return copied_.as<float>() + 2 * node + (changes(node) ? round_ % 2 : 0);
}

// Nodes from a fork to its join; 0 where there are none.
std::size_t step_program::layer() const noexcept {
  if (shape_ == step_shape::mix) return mix_layer;
  return shape_ == step_shape::decode ? decode_layer : 0;
}

bool step_program::is_beside(std::size_t node) const noexcept {
  if (shape_ == step_shape::mix) return node % mix_layer >= mix_layer / 2;
  return shape_ == step_shape::decode && node % decode_layer >= decode_kernels;
}

bool step_program::begins_layer(std::size_t node) const noexcept {
  return layer() != 0 && node % layer() == 0;
}

bool step_program::ends_layer(std::size_t node) const noexcept {
  return layer() != 0 && (node % layer() == layer() - 1 || node + 1 == size_);
}

void step_program::enqueue_raw() const {
  for (std::size_t i = 0; i < size_; ++i) {
    if (begins_layer(i)) link_raw(origin_.get(), side_.get());
    enqueue_raw(i, is_beside(i) ? side_.get() : origin_.get());
    if (ends_layer(i)) link_raw(side_.get(), origin_.get());
  }
}

void step_program::link_raw(CUstream from, CUstream to) const {
  check(raw_.event_record(link_.get(), from), "cuEventRecord");
  check(raw_.stream_wait_event(to, link_.get(), 0), "cuStreamWaitEvent");
}

void step_program::enqueue_raw(std::size_t node, CUstream stream) const {
  switch (action_of(node)) {
    case action::kernel:
      return launch_raw(node, stream);
    case action::copy:
      return check(
          raw_.memcpy_dtod_async(address(target_of(node)), address(source_.as<float>() + node),
                                 copied_bytes, stream),
          "cuMemcpyDtoDAsync");
    case action::fill:
      return check(raw_.memset_d32_async(address(target_of(node)), value_of(node), 1, stream),
                   "cuMemsetD32Async");
    case action::copy_2d:
      return copy_2d_raw(stream);
    case action::allocation:
      return check(raw_.mem_alloc_async(&allocated_, copied_bytes, stream), "cuMemAllocAsync");
    case action::release:
      return check(raw_.mem_free_async(allocated_, stream), "cuMemFreeAsync");
  }
}

void step_program::launch_raw(std::size_t node, CUstream stream) const {
  float* x = values_.as<float>();
  int index = static_cast<int>(node);
  auto value = static_cast<float>(value_of(node));
  int count = static_cast<int>(size_);
  void* arguments[] = {&x, &index, &value, &count};
  check(raw_.launch_kernel(measured_workbench().chain.untyped().get(), 1, 1, 1, block, 1, 1, 0,
                           stream, arguments, nullptr),
        "cuLaunchKernel");
}

// Two rows of one element, the second behind the first by a quarter of the buffer.
void step_program::copy_2d_raw(CUstream stream) const {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = address(source_.data());
  copy.srcPitch = source_.size() / 4;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = address(copied_.data());
  copy.dstPitch = copied_.size() / 4;
  copy.WidthInBytes = copied_bytes;
  copy.Height = 2;
  check(raw_.memcpy_2d_async(&copy, stream), "cuMemcpy2DAsync");
}

void step_program::enqueue(graph_builder& builder) const {
  if (layer() == 0) {
    for (std::size_t i = 0; i < size_; ++i) enqueue(i, builder);
    return;
  }
  for (std::size_t begin = 0; begin < size_; begin += layer()) {
    const graph_builder beside = builder.fork(side_);
    for (std::size_t i = begin; i < begin + layer() && i < size_; ++i)
      enqueue(i, is_beside(i) ? beside.stream() : builder.stream());
    builder.join(beside);
  }
}

void step_program::enqueue(std::size_t node, stream_ref stream) const {
  switch (action_of(node)) {
    case action::copy:
      return copy_async(stream, target_of(node), source_.as<float>() + node, copied_bytes);
    case action::fill:
      return fill_async(stream, target_of(node), value_of(node), 1, sizeof(std::uint32_t));
    case action::kernel:
      return launch(stream, {.grid = 1, .block = block}, measured_workbench().chain,
                    values_.as<float>(), static_cast<int>(node), static_cast<float>(value_of(node)),
                    static_cast<int>(size_));
    default:
      throw usage_error("this step has nodes that only the driver's own calls make");
  }
}

}  // namespace cugraft::bench
