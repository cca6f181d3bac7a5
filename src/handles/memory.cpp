// SPDX-License-Identifier: Apache-2.0
#include "cugraft/memory.hpp"

#include <cstdint>
#include <utility>

#include "cugraft/error.hpp"
#include "handles/context_scope.hpp"
#include "handles/open_sessions.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

using detail::context_state;

CUdeviceptr device_address(void* pointer) noexcept {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
}

void require_bytes(std::size_t bytes) {
  if (bytes == 0) throw usage_error("a buffer of 0 bytes cannot be allocated");
}

void* allocate_device(const context& context, std::size_t bytes) {
  require_bytes(bytes);
  const driver_table& table = *state_of(context)->table;
  const relaxed_scope relaxed(table);
  const context_scope current(context);
  return device_pointer(
      make_handle(table, &driver_table::mem_alloc, &driver_table::mem_free, bytes));
}

/// The stream says where the memory is; `home` is current for the release after a failure.
void* allocate_in_order(const context& home, stream_ref stream, std::size_t bytes) {
  require_bytes(bytes);
  refuse_if_capturing(stream, "an allocation that belongs to no graph (graph_builder::allocate)");
  const driver_table& table = table_of(stream);
  const relaxed_scope relaxed(table);
  const context_scope current(home);
  return device_pointer(make_handle(table, &driver_table::mem_alloc_async, &driver_table::mem_free,
                                    bytes, stream.get()));
}

void* allocate_host(const context& context, std::size_t bytes) {
  require_bytes(bytes);
  const driver_table& table = *state_of(context)->table;
  const relaxed_scope relaxed(table);
  const context_scope current(context);
  // Portable: pinned for every context, as the buffer says nothing about where it is used.
  return make_handle(table, &driver_table::mem_host_alloc, &driver_table::mem_free_host, bytes,
                     static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
}

/// A free of such memory on a capturing stream would be one of the graph's, and end the capture.
bool is_capturing(const driver_table& table, CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return table.stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

struct outcome {
  CUresult result;
  const char* function;
};

outcome free_device(const context_state& context, void* data, CUstream stream) noexcept {
  const driver_table& table = *context.table;
  const relaxed_scope relaxed(table, std::nothrow);
  const context_scope current(context, std::nothrow);
  const CUdeviceptr address = device_address(data);
  if (stream != nullptr && !is_capturing(table, stream))
    return {try_release(table, &driver_table::mem_free_async, address, stream), "cuMemFreeAsync"};
  return {try_release(table, &driver_table::mem_free, address), "cuMemFree"};
}

outcome free_host(const context_state& context, void* data) noexcept {
  const driver_table& table = *context.table;
  const relaxed_scope relaxed(table, std::nothrow);
  const context_scope current(context, std::nothrow);
  return {try_release(table, &driver_table::mem_free_host, data), "cuMemFreeHost"};
}

}  // namespace

device_buffer::device_buffer(const context& context, std::size_t bytes)
    : data_(allocate_device(context, bytes)), size_(bytes), context_(state_of(context)) {}

device_buffer::device_buffer(stream_ref stream, std::size_t bytes) {
  const context home = stream.get_context();
  data_ = allocate_in_order(home, stream, bytes);
  size_ = bytes;
  context_ = state_of(home);
  // Null would say that the memory is not stream-ordered; the null stream is the legacy one.
  stream_ = stream.get() != nullptr ? stream.get() : CU_STREAM_LEGACY;
}

device_buffer::device_buffer(device_buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      stream_(std::exchange(other.stream_, nullptr)),
      context_(std::move(other.context_)) {}

device_buffer& device_buffer::operator=(device_buffer&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    stream_ = std::exchange(other.stream_, nullptr);
    context_ = std::move(other.context_);
  }
  return *this;
}

device_buffer::~device_buffer() { reset(); }

void* device_buffer::release() noexcept {
  size_ = 0;
  stream_ = nullptr;
  return std::exchange(data_, nullptr);
}

void device_buffer::reset() noexcept {
  const CUstream stream = stream_;
  if (void* const data = release()) {
    const auto [result, function] = free_device(*context_, data, stream);
    report_failure(result, function, object("memory", data));
  }
  context_.reset();  // last: the driver frees the memory in its context
}

void device_buffer::close() {
  const auto context = std::move(context_);
  const CUstream stream = stream_;
  if (void* const data = release()) {
    const auto [result, function] = free_device(*context, data, stream);
    check(result, function, object("memory", data));
  }
}

host_buffer::host_buffer(const context& context, std::size_t bytes)
    : data_(allocate_host(context, bytes)), size_(bytes), context_(state_of(context)) {}

host_buffer::host_buffer(host_buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      context_(std::move(other.context_)) {}

host_buffer& host_buffer::operator=(host_buffer&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    context_ = std::move(other.context_);
  }
  return *this;
}

host_buffer::~host_buffer() { reset(); }

void* host_buffer::release() noexcept {
  size_ = 0;
  return std::exchange(data_, nullptr);
}

void host_buffer::reset() noexcept {
  if (void* const data = release()) {
    const auto [result, function] = free_host(*context_, data);
    report_failure(result, function, object("host memory", data));
  }
  context_.reset();
}

void host_buffer::close() {
  const auto context = std::move(context_);
  if (void* const data = release()) {
    const auto [result, function] = free_host(*context, data);
    check(result, function, object("host memory", data));
  }
}

}  // namespace cugraft
