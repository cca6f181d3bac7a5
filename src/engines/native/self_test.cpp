// SPDX-License-Identifier: Apache-2.0
#include "engines/native/self_test.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "capture/failures.hpp"
#include "capture/graph_state.hpp"
#include "cugraft/kernel.hpp"
#include "cugraft/memory.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

constexpr std::string_view empty_kernel =
    ".version 8.4\n.target sm_75\n.address_size 64\n"
    ".visible .entry cugraft_self_test()\n{\n\tret;\n}\n";

// What the two captures enqueue; the second differs in every field but the structure.
struct variant {
  unsigned char first_value, last_value;
  int priority;
  bool copies_from_device;
};

struct callback_row {
  CUgraphNode node;
  CUgraphNodeParams before, now;
  newer::graph_recapture_status status;
};

CUresult record_row(void* data, CUgraphNode node, const CUgraphNodeParams* before,
                    const CUgraphNodeParams* now, newer::graph_recapture_status status) {
  static_cast<std::vector<callback_row>*>(data)->push_back({node, *before, *now, status});
  return CUDA_SUCCESS;
}

// Destroys a driver's graph or executable at the end of its scope.
struct native_graph {
  const driver_table& table;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  explicit native_graph(const driver_table& of) : table(of) {}
  native_graph(const native_graph&) = delete;
  native_graph& operator=(const native_graph&) = delete;
  ~native_graph() {
    if (exec != nullptr) release_or_report(table, exec, &driver_table::graph_exec_destroy, exec);
    if (graph != nullptr) discard_graph(table, graph);
  }
};

// One run: capture, clone, instantiate the clone, re-capture the clone with other parameters over a
// fork, and look at everything that cugraft relies on.
class test_run {
 public:
  test_run(const driver_table& table, const context& context)
      : table_(table),
        current_(context),
        relaxed_(table_),
        library_(library::from_image(context, empty_kernel)),
        kernel_(library_.get_kernel("cugraft_self_test")),
        main_(context),
        side_(context),
        fork_(context),
        join_(context),
        memory_(context, 4 * chunk),
        host_(context, chunk) {}

  std::vector<std::string> run();

 private:
  static constexpr std::size_t chunk = 64;

  void enqueue(const variant& what);
  void launch(int priority);
  CUdeviceptr place(std::size_t index) const {
    return reinterpret_cast<CUdeviceptr>(memory_.data()) + index * chunk;
  }
  bool recapture(CUgraph clone);
  bool is_first(CUgraphNode node) const;
  void check_rows(const std::vector<CUgraphNode>& nodes);
  void check_content(CUgraph clone, const std::vector<CUgraphNode>& nodes);
  void check_executable(CUgraphExec exec);
  void expect(bool holds, const char* what) {
    if (!holds) failed_.emplace_back(what);
  }

  const driver_table& table_;
  context_scope current_;
  relaxed_scope relaxed_;
  library library_;
  kernel kernel_;
  stream main_, side_;
  event fork_, join_;
  device_buffer memory_;
  host_buffer host_;
  std::vector<callback_row> rows_;
  std::vector<std::string> failed_;
};

constexpr variant first_variant{1, 2, 0, false};
constexpr variant second_variant{3, 4, -1, true};

void test_run::launch(int priority) {
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = priority;
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = main_.get();
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* none = nullptr;
  check(table_.launch_kernel_ex(&config, kernel_.get(), &none, nullptr), "cuLaunchKernelEx");
}

// Creation order over both streams: fill, fill on the fork, kernel, copy, fill after the join.
void test_run::enqueue(const variant& what) {
  const CUstream main = main_.get();
  const CUstream side = side_.get();
  check(table_.memset_d8_async(place(0), what.first_value, chunk, main), "cuMemsetD8Async");
  check(table_.event_record(fork_.get(), main), "cuEventRecord");
  check(table_.stream_wait_event(side, fork_.get(), 0), "cuStreamWaitEvent");
  check(table_.memset_d8_async(place(1), 7, chunk, side), "cuMemsetD8Async");
  launch(what.priority);
  const auto source =
      what.copies_from_device ? place(0) : reinterpret_cast<CUdeviceptr>(host_.data());
  check(table_.memcpy_async(place(2), source, chunk, main), "cuMemcpyAsync");
  check(table_.event_record(join_.get(), side), "cuEventRecord");
  check(table_.stream_wait_event(main, join_.get(), 0), "cuStreamWaitEvent");
  check(table_.memset_d8_async(place(3), what.last_value, chunk, main), "cuMemsetD8Async");
}

bool test_run::recapture(CUgraph clone) {
  const CUresult begun = table_.stream_begin_recapture_to_graph(
      main_.get(), CU_STREAM_CAPTURE_MODE_RELAXED, clone, &record_row, &rows_);
  const bool refused = begun == CUDA_ERROR_NOT_SUPPORTED || begun == CUDA_ERROR_INVALID_VALUE;
  if (!refused) check(begun, "cuStreamBeginRecaptureToGraph");  // any other is inconclusive
  expect(!refused, "a clone can be re-captured");
  if (refused) return false;
  bool mismatch = false;
  CUgraph ended = nullptr;
  try {
    enqueue(second_variant);
  } catch (const cuda_error& thrown) {
    mismatch = thrown.code() == newer::error_graph_recapture_failure;
    if (!mismatch) {
      end_capture(table_, main_.get(), &ended);
      throw;
    }
  }
  const call_result result = end_capture(table_, main_.get(), &ended);
  const bool accepted = !mismatch && result.ok();
  expect(accepted, "a re-capture over a fork is accepted when only parameters differ");
  if (accepted) expect(ended == clone, "the end gives the graph that was re-captured");
  return accepted;
}

// Whether the node is the first that `enqueue` makes; the driver's order of nodes is undocumented.
bool test_run::is_first(CUgraphNode node) const {
  CUDA_MEMSET_NODE_PARAMS fill = {};
  return table_.graph_memset_node_get_params(node, &fill) == CUDA_SUCCESS && fill.dst == place(0);
}

void test_run::check_rows(const std::vector<CUgraphNode>& nodes) {
  // Whether a change of attributes alone calls back is left open: cugraft knows its own launches.
  std::erase_if(rows_,
                [](const callback_row& row) { return row.now.type == CU_GRAPH_NODE_TYPE_KERNEL; });
  const bool order = rows_.size() == 3 && nodes.size() == 5 && rows_[0].node == nodes[0] &&
                     rows_[1].node == nodes[3] && rows_[2].node == nodes[4];
  expect(order, "the callback comes once for each changed node, in creation order");
  if (!order) return;
  expect(rows_[0].before.memset.value == first_variant.first_value &&
             rows_[0].now.memset.value == second_variant.first_value,
         "the callback shows old and new parameters");
  expect(rows_[0].status == newer::graph_recapture_eligible_for_update,
         "a changed value of a fill is eligible for update");
}

void test_run::check_content(CUgraph clone, const std::vector<CUgraphNode>& nodes) {
  std::vector<CUgraphNode> now = nodes_of(table_, clone);
  if (now != nodes) std::reverse(now.begin(), now.end());  // the driver's order counts elsewhere
  const bool kept = now == nodes;
  expect(kept, "node handles stay valid");
  if (!kept) return;
  CUDA_MEMSET_NODE_PARAMS fill = {};
  check(table_.graph_memset_node_get_params(nodes[0], &fill), "cuGraphMemsetNodeGetParams");
  expect(fill.value == second_variant.first_value, "a re-capture writes the new parameters");
  CUkernelNodeAttrValue priority = {};
  check(table_.graph_kernel_node_get_attribute(nodes[2], CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority),
        "cuGraphKernelNodeGetAttribute");
  expect(priority.priority == second_variant.priority,
         "a re-capture writes new launch attributes, also where nothing else changed");
}

void test_run::check_executable(CUgraphExec exec) {
  check(table_.graph_launch(exec, main_.get()), "cuGraphLaunch");
  check(table_.memcpy_async(reinterpret_cast<CUdeviceptr>(host_.data()), place(3), chunk,
                            main_.get()),
        "cuMemcpyAsync");
  check(table_.stream_synchronize(main_.get()), "cuStreamSynchronize");
  expect(host_.as<unsigned char>()[0] == first_variant.last_value,
         "an executable keeps its values when its graph is re-captured");
}

std::vector<std::string> test_run::run() {
  native_graph original(table_), clone(table_);
  std::memset(host_.data(), 0, chunk);
  check(table_.stream_begin_capture(main_.get(), CU_STREAM_CAPTURE_MODE_RELAXED),
        "cuStreamBeginCapture");
  try {
    enqueue(first_variant);
  } catch (...) {
    end_capture(table_, main_.get(), &original.graph);
    throw;
  }
  const call_result captured = end_capture(table_, main_.get(), &original.graph);
  check(captured.code, captured.function);
  check(table_.graph_clone(&clone.graph, original.graph), "cuGraphClone");
  std::vector<CUgraphNode> nodes = nodes_of(table_, clone.graph);
  if (!nodes.empty() && !is_first(nodes.front())) std::reverse(nodes.begin(), nodes.end());
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  check(table_.graph_instantiate_with_params(&clone.exec, clone.graph, &params),
        "cuGraphInstantiateWithParams");
  if (recapture(clone.graph)) {
    check_rows(nodes);
    check_content(clone.graph, nodes);
    check_executable(clone.exec);
  }
  return std::move(failed_);
}

using result_key = std::pair<const driver_table*, int>;

}  // namespace

std::string self_test_result::summary() const {
  if (!inconclusive.empty()) return "its self-test could not be run: " + inconclusive;
  if (failed.empty()) return "its self-test passed";
  std::string text = "its self-test failed:";
  for (const std::string& check : failed)
    text += (text.back() == ':' ? " not so that " : "; ") + check;
  return text;
}

self_test_result native_self_test(const context& context) {
  static std::mutex mutex;
  static std::map<result_key, self_test_result> remembered;
  const std::lock_guard lock(mutex);
  try {
    const driver driver = context.get_driver();
    const result_key key{&table_of(driver), context.ordinal()};
    if (const auto known = remembered.find(key); known != remembered.end()) return known->second;
    return remembered[key] = {test_run(table_of(driver), context).run(), {}};
  } catch (const error& thrown) {
    return {{}, thrown.what()};
  }
}

}  // namespace cugraft
