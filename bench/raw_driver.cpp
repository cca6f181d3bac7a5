// SPDX-License-Identifier: Apache-2.0
#include "raw_driver.hpp"

#include "chain_program.hpp"

namespace cugraft::bench {
namespace {

// Converts to the function's own type.
struct found_function {
  void* address;

  template <class Function>
  operator Function*() const noexcept {
    return reinterpret_cast<Function*>(address);
  }
};

found_function find(const driver& driver, const char* name, int version) {
  void* const address = driver.entry_point(name, version);
  if (address == nullptr) throw error(std::string("the driver has no ") + name);
  return {address};
}

}  // namespace

// The versions are those whose signatures the oldest headers that cugraft builds with declare.
raw_driver::raw_driver(const driver& driver)
    : ctx_set_current(find(driver, "cuCtxSetCurrent", 4000)),
      device_get_name(find(driver, "cuDeviceGetName", 2000)),
      launch_kernel(find(driver, "cuLaunchKernel", 4000)),
      memcpy_dtod_async(find(driver, "cuMemcpyDtoDAsync", 3020)),
      memcpy_2d_async(find(driver, "cuMemcpy2DAsync", 3020)),
      memset_d32_async(find(driver, "cuMemsetD32Async", 3020)),
      mem_alloc_async(find(driver, "cuMemAllocAsync", 11020)),
      mem_free_async(find(driver, "cuMemFreeAsync", 11020)),
      event_record(find(driver, "cuEventRecord", 2000)),
      stream_wait_event(find(driver, "cuStreamWaitEvent", 3020)),
      stream_begin_capture(find(driver, "cuStreamBeginCapture", 10010)),
      stream_end_capture(find(driver, "cuStreamEndCapture", 10000)),
      graph_instantiate(find(driver, "cuGraphInstantiateWithFlags", 11040)),
      graph_exec_update(find(driver, "cuGraphExecUpdate", 12000)),
      graph_launch(find(driver, "cuGraphLaunch", 10000)),
      graph_destroy(find(driver, "cuGraphDestroy", 10000)),
      graph_exec_destroy(find(driver, "cuGraphExecDestroy", 10000)) {}

const raw_driver& measured_raw_driver() {
  static const raw_driver found(measured_driver());
  return found;
}

}  // namespace cugraft::bench
