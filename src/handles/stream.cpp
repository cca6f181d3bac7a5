// SPDX-License-Identifier: Apache-2.0
#include "cugraft/stream.hpp"

#include <utility>

#include "cugraft/error.hpp"
#include "handles/context_scope.hpp"
#include "handles/open_sessions.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

// What enqueues (record, wait) may belong to a session and is in the capture layer.

namespace cugraft {
namespace {

CUstream create(const context& context, const stream_options& options) {
  const context_scope current(context);  // where the stream belongs is said in no other way
  const unsigned flags = options.blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
  return make_handle(context.get_driver(), &driver_table::stream_create_with_priority,
                     &driver_table::stream_destroy, flags, options.priority);
}

/// The streams that are always there; the driver refuses to destroy them.
bool is_default(CUstream stream) noexcept {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

void tell_session(stream_ref stream) noexcept {
  if (const auto session = known_recorder_of(stream)) {
    session->destroying(stream);
    forget_stream(stream);  // the driver may give the handle to another stream
  }
}

}  // namespace

stream_ref::stream_ref(const driver& driver, CUstream stream) noexcept
    : table_(&table_of(driver)), handle_(stream) {}

stream_ref stream_ref::legacy(const driver& driver) noexcept { return {driver, CU_STREAM_LEGACY}; }

stream_ref stream_ref::per_thread(const driver& driver) noexcept {
  return {driver, CU_STREAM_PER_THREAD};
}

driver stream_ref::get_driver() const noexcept { return driver_of(*table_); }

context stream_ref::get_context() const {
  CUcontext handle = nullptr;
  call(*this, &driver_table::stream_get_ctx, handle_, &handle);
  return context::borrow(get_driver(), handle);
}

void stream_ref::synchronize() const {
  refuse_if_capturing(*this, "waiting for it");
  const relaxed_scope relaxed(*table_);  // else it ends the captures of this thread
  call(*this, &driver_table::stream_synchronize, handle_);
}

bool stream_ref::is_done() const {
  refuse_if_capturing(*this, "asking whether it is done");
  const relaxed_scope relaxed(*table_);
  const CUresult result = table_->stream_query(handle_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuStreamQuery", handle_);
  return true;
}

bool stream_ref::is_capturing() const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = table_of(*this).stream_is_capturing(handle_, &status);
  // The legacy stream never captures; this says that another stream does (driver rules, 2.4).
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return false;
  check(result, "cuStreamIsCapturing", handle_);
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

stream::stream(const context& context, const stream_options& options)
    : stream_ref(context.get_driver(), create(context, options)),
      context_(state_of(context)),
      owned_(true) {}

stream::stream(stream&& other) noexcept
    : stream_ref(other), context_(std::move(other.context_)), owned_(other.owned_) {
  (void)other.release();
}

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    reset();
    context_ = std::move(other.context_);
    owned_ = other.owned_;
    stream_ref::operator=(other);
    (void)other.release();
  }
  return *this;
}

stream stream::from_native_handle(const driver& driver, CUstream handle) noexcept {
  stream result;
  static_cast<stream_ref&>(result) = stream_ref(driver, handle);
  result.owned_ = true;
  return result;
}

stream::~stream() { reset(); }

void stream::reset() noexcept {
  if (owned_ && !is_default(handle_)) {
    tell_session(*this);
    release_or_report(*table_, handle_, &driver_table::stream_destroy, handle_);
  }
  (void)release();
  context_.reset();  // last: the driver destroys the stream in its context
}

void stream::close() {
  const auto context = std::move(context_);
  const stream_ref closing = *this;
  const bool destroy = owned_ && !is_default(handle_);
  (void)release();
  if (!destroy) return;
  tell_session(closing);
  release_or_throw(table_of(closing), closing.get(), &driver_table::stream_destroy, closing.get());
}

CUstream stream::release() noexcept {
  table_ = nullptr;  // so that later use is an error, and does not mean the null stream
  owned_ = false;
  return std::exchange(handle_, nullptr);
}

}  // namespace cugraft
