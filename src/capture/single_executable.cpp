// SPDX-License-Identifier: Apache-2.0
#include "capture/single_executable.hpp"

#include <algorithm>

#include "base/identify.hpp"
#include "driver/call.hpp"
#include "model/memory_nodes.hpp"

namespace cugraft {
namespace {

// Whether it was instantiated from what is the graph now.
bool is_of_the_graph(const exec_values& exec) noexcept {
  return exec.handle != nullptr && exec.former_graph == nullptr;
}

}  // namespace

void refuse_second_executable(const detail::graph_state& graph) {
  const auto other = std::find_if(graph.executables.begin(), graph.executables.end(),
                                  [](const exec_values* each) { return is_of_the_graph(*each); });
  if (other == graph.executables.end() || !model::allows_one_executable(graph.nodes)) return;
  throw usage_error(
      identify(graph.handle) +
      " allocates or frees memory or has conditions, so that it allows one executable "
      "at a time, and " +
      identify((*other)->handle) + " is there: close that first, or update it with destroy_first");
}

bool is_in_the_way(const executable& exec, bool destroy_first) {
  if (!model::allows_one_executable(exec.graph->nodes)) return false;
  return std::any_of(exec.graph->executables.begin(), exec.graph->executables.end(),
                     [&](const exec_values* each) {
                       return is_of_the_graph(*each) && !(each == &exec && destroy_first);
                     });
}

void throw_launch_failure(const executable& exec, stream_ref stream, CUresult result) {
  std::string sentence =
      failure_sentence(result, "cuGraphLaunch", {object(exec.handle), object(stream.get())});
  if (result == CUDA_ERROR_INVALID_VALUE && !exec.options.auto_free_on_launch &&
      model::leaves_memory(exec.graph->nodes))
    sentence +=
        "; the memory that an earlier launch allocated may be there still: free it behind that "
        "launch (free_async), or instantiate with auto_free_on_launch";
  throw cuda_error(result, "cuGraphLaunch", sentence);
}

}  // namespace cugraft
