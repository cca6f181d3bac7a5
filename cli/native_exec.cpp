// SPDX-License-Identifier: Apache-2.0
#include "native_exec.hpp"

#include <fmt/format.h>

#include <string>

namespace cugraft::cli {
namespace {

template <class Function>
Function* find(const driver& driver, const char* name, int version) {
  void* address = driver.entry_point(name, version);
  if (address == nullptr) throw error(fmt::format("{} lacks {}", driver.path().string(), name));
  return reinterpret_cast<Function*>(address);
}

void check(int result, const char* function, const std::string& more = {}) {
  if (result == 0) return;
  const cuda_error unnamed(result, function, {});
  throw cuda_error(result, function,
                   fmt::format("{} failed: {} {}{}", function, result, unnamed.code_name(), more));
}

}  // namespace

struct native_exec::update_result_info {
  int result = 0;
  CUgraphNode error_node = nullptr;
  CUgraphNode error_from_node = nullptr;
};

native_exec::native_exec(const driver& driver, graph_exec exec)
    : update_(find<update_function>(driver, "cuGraphExecUpdate", 12000)),
      launch_(find<launch_function>(driver, "cuGraphLaunch", 10000)),
      destroy_(find<destroy_function>(driver, "cuGraphExecDestroy", 10000)),
      handle_(exec.release()) {}

native_exec::~native_exec() { destroy_(handle_); }

void native_exec::update(const graph& graph) {
  update_result_info info;
  const int result = update_(handle_, graph.get(), &info);
  check(result, "cuGraphExecUpdate", fmt::format(", update result {}", info.result));
}

void native_exec::launch(stream_ref stream) {
  check(launch_(handle_, stream.get()), "cuGraphLaunch");
}

current_context::current_context(const context& context) : driver_(context.get_driver()) {
  check(find<int(CUcontext)>(driver_, "cuCtxPushCurrent", 4000)(context.get()), "cuCtxPushCurrent");
}

current_context::~current_context() {
  CUcontext popped = nullptr;
  if (void* pop = driver_.entry_point("cuCtxPopCurrent", 4000))
    reinterpret_cast<int (*)(CUcontext*)>(pop)(&popped);
}

}  // namespace cugraft::cli
