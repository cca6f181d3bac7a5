// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict_case.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "support/kernels.hpp"

namespace cugraft::testing {
namespace {

driver load_driver() {
  const char* const asked = std::getenv("CUGRAFT_DRIVER");
  if (asked == nullptr) return driver::load(CUGRAFT_SIM_LIBRARY);
  return driver::load(std::string(asked) == "system" ? "libcuda.so.1" : asked);
}

// A node's parameters in the driver's own form, handed from its getter to its setter.
struct alignas(16) parameters {
  std::array<std::byte, 512> bytes{};
};

class raw_calls {
 public:
  explicit raw_calls(const stage& on) : driver_(on.driver_), context_(on.context_.get()) {}

  /// Sets the executable's node to what the graph's node is.
  int set(CUgraphExec exec, const node_ref& node) const {
    parameters params;
    const CUgraphNode handle = node.get();
    CUevent event = nullptr;
    switch (node.kind()) {
      case node_kind::kernel:
        call("cuGraphKernelNodeGetParams", 12000, handle, &params);
        return call("cuGraphExecKernelNodeSetParams", 12000, exec, handle, &params);
      case node_kind::copy:
        call("cuGraphMemcpyNodeGetParams", 10000, handle, &params);
        return call("cuGraphExecMemcpyNodeSetParams", 10020, exec, handle, &params, context_);
      case node_kind::fill:
        call("cuGraphMemsetNodeGetParams", 10000, handle, &params);
        return call("cuGraphExecMemsetNodeSetParams", 10020, exec, handle, &params, context_);
      case node_kind::host:
        call("cuGraphHostNodeGetParams", 10000, handle, &params);
        return call("cuGraphExecHostNodeSetParams", 10020, exec, handle, &params);
      case node_kind::event_record:
        call("cuGraphEventRecordNodeGetEvent", 11010, handle, &event);
        return call("cuGraphExecEventRecordNodeSetEvent", 11010, exec, handle, event);
      case node_kind::event_wait:
        call("cuGraphEventWaitNodeGetEvent", 11010, handle, &event);
        return call("cuGraphExecEventWaitNodeSetEvent", 11010, exec, handle, event);
      default:
        ADD_FAILURE() << "no setter for " << to_string(node.kind());
        return -1;
    }
  }

  int update(CUgraphExec exec, CUgraph graph, int& result) const {
    struct update_result {  // CUgraphExecUpdateResultInfo
      int result = 0;
      CUgraphNode error_node = nullptr;
      CUgraphNode error_from_node = nullptr;
    } info;
    const int code = call("cuGraphExecUpdate", 12000, exec, graph, &info);
    result = info.result;
    return code;
  }

 private:
  template <class... Arguments>
  int call(const char* name, int version, Arguments... arguments) const {
    using function = int (*)(Arguments...);
    const auto found = reinterpret_cast<function>(driver_.entry_point(name, version));
    return found == nullptr ? -1 : found(arguments...);
  }

  driver driver_;
  CUcontext context_;
};

}  // namespace

stage::stage()
    : driver_(load_driver()),
      context_(context::primary(driver_)),
      current_(driver_, context_.get()),
      library_(load_kernels(context_)),
      clusters_(load_kernels(context_, "cluster")),
      stream_(context_),
      out_(context_, bytes),
      in_(context_, bytes),
      other_(context_, bytes),
      host_(context_, bytes),
      first_(context_),
      second_(context_),
      foreign_(driver_) {
  std::vector<int> values(bytes / sizeof(int));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i) + 1;
  std::memcpy(host_.data(), values.data(), bytes);
  copy_async(stream_, in_.data(), host_.data(), bytes);
  for (int& value : values) value += 1000;
  stream_.synchronize();
  copy_async(stream_, other_.data(), values.data(), bytes);
  stream_.synchronize();
}

std::vector<int> stage::run(const std::function<void()>& launch) {
  std::vector<int> words(bytes / sizeof(int));
  fill_async(stream_, out_.data(), 0, bytes);
  launch();
  copy_async(stream_, words.data(), out_.data(), bytes);
  stream_.synchronize();
  return words;
}

void PrintTo(const verdict_case& shown, std::ostream* out) {
  *out << shown.rule << ": " << shown.change;
}

std::string verdict_outcome::text() const {
  if (code == 910) return fmt::format("910, result {}", result);
  if (code != 0) return fmt::format("{}", code);
  if (!visible) return "0, not visible";
  return taken ? "0, taken" : "**0, not taken**";
}

verdict_row observe(const verdict_case& tried) {
  stage on;
  const raw_calls raw(on);
  const auto body = [&](bool after) {
    return [&, after](graph_builder& gb) { tried.record(on, gb, after); };
  };
  const auto launched = [&](graph_exec& exec) { return on.run([&] { exec.launch(on.stream_); }); };
  graph held = capture(on.stream_, body(false));
  graph afresh = capture(on.stream_, body(true));
  std::vector<graph_exec> execs;
  for (int i = 0; i < 4; ++i) execs.push_back(held.instantiate(tried.options));
  graph_exec wanted = afresh.instantiate(tried.options);

  verdict_row row;
  // A launch fixes what an executable has: one that never ran takes more from a whole update.
  for (graph_exec& each : execs) row.before = launched(each);
  if (!tried.is_visible) row.before = {0};
  row.after = tried.is_visible ? launched(wanted) : std::vector<int>{1};
  const change_report report = held.recapture(on.stream_, body(true), {.with = engine::compare});
  if (report.nodes_changed() != 1) {
    ADD_FAILURE() << report.nodes_changed() << " changes";
    return row;
  }
  const node_change change = report.changes()[0];
  row.rule = change.rule;
  row.predicted = change.effect;
  const auto outcome = [&](graph_exec& exec, int code, int result) {
    verdict_outcome seen{.code = code, .result = result, .visible = tried.is_visible};
    seen.taken = tried.is_visible && launched(exec) == row.after;
    return seen;
  };
  row.setter = outcome(execs[0], raw.set(execs[0].get(), held.node(change.path)), 0);
  int result = 0;
  int code = raw.update(execs[1].get(), held.get(), result);
  row.whole = outcome(execs[1], code, result);
  code = raw.update(execs[2].get(), afresh.get(), result);
  row.recaptured = outcome(execs[2], code, result);
  const exec_update update = execs[3].update();
  if (tried.options.use_node_priority &&
      !update.refused.empty()) {  // the report's are for defaults
    row.rule = update.refused.front().rule;
    row.predicted = update.refused.front().predicted;
  }
  row.updated_as_asked =
      update.up_to_date && (!tried.is_visible || launched(execs[3]) == row.after);
  return row;
}

}  // namespace cugraft::testing
