// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "cugraft/driver.hpp"
#include "cugraft/native.hpp"

namespace cugraft::testing {

/// Driver calls as other people's code makes them: around the library, straight to the driver. Each
/// gives the driver's result.
class foreign_calls {
 public:
  explicit foreign_calls(const driver& driver) : driver_(driver) {}

  int memset_d8(CUdeviceptr target, unsigned char value, std::size_t bytes, CUstream stream) const;
  int memset_2d_d8(CUdeviceptr target, std::size_t pitch, unsigned char value, std::size_t width,
                   std::size_t height, CUstream stream) const;
  int memcpy_h2d(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) const;
  int memcpy_d2d(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) const;
  /// Rows of device memory.
  int memcpy_2d(CUdeviceptr to, std::size_t to_pitch, CUdeviceptr from, std::size_t from_pitch,
                std::size_t width, std::size_t height, CUstream stream) const;
  /// Planes of rows of device memory; `plane` is in rows.
  int memcpy_3d(CUdeviceptr to, std::size_t to_pitch, CUdeviceptr from, std::size_t from_pitch,
                std::size_t plane, std::size_t width, std::size_t height, std::size_t depth,
                CUstream stream) const;
  /// A kernel of the parameters (float*, float, int), for `count` elements.
  int launch_kernel(CUfunction kernel, CUdeviceptr x, float value, int count,
                    CUstream stream) const;
  int launch_host(void (*function)(void*), void* data, CUstream stream) const;
  int mem_alloc_async(CUdeviceptr& memory, std::size_t bytes, CUstream stream) const;
  int mem_free_async(CUdeviceptr memory, CUstream stream) const;
  int event_record(CUevent event, CUstream stream) const;
  int stream_wait_event(CUstream stream, CUevent event, unsigned flags) const;
  int stream_synchronize(CUstream stream) const;

  /// A context of a device that the program makes; it is not current afterwards.
  CUcontext make_context(int ordinal = 0) const;
  int destroy(CUcontext context) const;

  /// As a thread of its own does it, with `context` current. Failures are what some tests want.
  void allocate_and_free(CUcontext context) const;

  /// Bytes of the device that are in use, by whomever; 0 where the driver has no function for it.
  std::size_t device_memory_in_use(CUcontext context) const;

  /// Ends the capture on `stream` and begins another.
  void end_and_begin_capture(CUstream stream) const;

  void begin_capture(CUstream stream) const;

  /// Ends the capture on `stream`, runs what it caught once, and destroys it.
  void launch_captured(CUstream stream) const;

  /// Ends the capture on `stream` and gives what it caught.
  CUgraph end_capture(CUstream stream) const;

  /// A launch whose arguments come packed, as `extra` takes them.
  int launch_packed(CUfunction function, unsigned grid, unsigned block, CUstream stream,
                    std::span<const std::byte> arguments) const;

  CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) const;
  unsigned long long flags_of(CUgraphExec exec) const;
  int launch(CUgraphExec exec, CUstream stream) const;
  int destroy(CUgraph graph) const;
  int destroy(CUgraphExec exec) const;

  /// Edits a graph that is there: a fill of bytes in one row, and one empty node more.
  int set_fill(CUgraphNode node, CUdeviceptr target, unsigned char value, std::size_t bytes) const;
  int add_empty_node(CUgraph graph) const;

  /// A launch attribute of a kernel node that is a number.
  int set_attribute(CUgraphNode node, int attribute, int value) const;
  int attribute(CUgraphNode node, int attribute) const;

  /// Attaches an object to the graph that `stream` is captured into; its destructor counts.
  void attach_user_object(CUstream stream, std::atomic<int>& destroyed) const;
  /// The same of a graph that is there. @return the object, for `detach_user_object`
  void* attach_user_object(CUgraph graph, std::atomic<int>& destroyed) const;
  int detach_user_object(CUgraph graph, void* object) const;

 private:
  template <class... Arguments>
  int call(const char* name, int version, Arguments... arguments) const;

  driver driver_;
};

/// Makes a context current while it lives, as programs of the CUDA runtime have one.
class current_context {
 public:
  current_context(const driver& driver, CUcontext context);
  current_context(const current_context&) = delete;
  current_context& operator=(const current_context&) = delete;
  ~current_context();

 private:
  driver driver_;
};

}  // namespace cugraft::testing
