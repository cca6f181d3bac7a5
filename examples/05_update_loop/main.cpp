// SPDX-License-Identifier: Apache-2.0
// A loop as many programs have it: capture again, cuGraphExecUpdate, on refusal instantiate anew.
// `before` is that loop on the driver API; `after` is the same loop with cugraft, in five changed
// lines. The capture code is the program's own and stays as it is. Both are run, and must agree.
//
// What changes: `after` keeps the graph of the first capture, takes each later one's parameters
// over, patches the nodes that changed, says which those were, and makes a new executable only
// where a change needs one. A capture of another structure throws recapture_error.
//
// Runs on the driver that CUGRAFT_DRIVER names, else on the system's.

#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cugraft/cugraft.hpp"

namespace {

// x[i] += value, for i below n
constexpr const char* add_ptx = R"(
.version 7.8
.target sm_70
.address_size 64

.visible .entry add(.param .u64 x, .param .f32 value, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [value];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  add.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";

// The driver API, as a program that links no driver calls it. Other programs include <cuda.h>.
struct driver_api {
  explicit driver_api(const cugraft::driver& driver) : driver_(driver) {}

  template <class... Parameters>
  int operator()(const char* name, int version, Parameters... parameters) const {
    using function = int (*)(Parameters...);
    return reinterpret_cast<function>(driver_.entry_point(name, version))(parameters...);
  }

 private:
  cugraft::driver driver_;
};

void check(int result, const char* what) {
  if (result != 0) throw std::runtime_error(what + (" gave " + std::to_string(result)));
}

// What the two loops have in common: data, a stream, and the code that captures one step.
class program {
 public:
  static constexpr unsigned count = 1000;
  static constexpr int steps = 6;

  program()
      : device(cugraft::context::primary(cugraft::driver::load())),
        cu(device.get_driver()),
        stream(device) {
    check(cu("cuCtxSetCurrent", 4000, device.get()), "cuCtxSetCurrent");  // for the calls below
    for (unsigned i = 0; i < count; ++i) source_.as<float>()[i] = 1;
    cugraft::copy_async(stream, moved_.data(), source_.data(), source_.size());
    stream.synchronize();
  }

  // The value and the grid change with every step. From step 3 on the source lies on the device: no
  // executable takes that change.
  CUgraph capture(int step) const {
    const CUstream s = stream.get();
    check(cu("cuStreamBeginCapture", 10010, s, 1 /* thread-local */), "cuStreamBeginCapture");
    if (step < 3)
      check(cu("cuMemcpyHtoDAsync", 3020, x_device(), static_cast<const void*>(source_.data()),
               x_.size(), s),
            "cuMemcpyHtoDAsync");
    else
      check(cu("cuMemcpyDtoDAsync", 3020, x_device(), address(moved_), x_.size(), s),
            "cuMemcpyDtoDAsync");
    CUdeviceptr x = x_device();
    float value = static_cast<float>(step);
    unsigned n = count;
    void* arguments[] = {&x, &value, &n};
    const unsigned grid = step % 2 == 0 ? 8 : 16;
    check(cu("cuLaunchKernel", 4000, add_.get(), grid, 1U, 1U, 128U, 1U, 1U, 0U, s,
             static_cast<void**>(arguments), static_cast<void**>(nullptr)),
          "cuLaunchKernel");
    CUgraph graph = nullptr;
    check(cu("cuStreamEndCapture", 10000, s, &graph), "cuStreamEndCapture");
    return graph;
  }

  float result() const {
    std::vector<float> all(count);
    cugraft::copy_async(stream, all.data(), x_.data(), x_.size());
    stream.synchronize();
    if (all.front() != all.back()) throw std::runtime_error("the elements differ");
    return all.front();
  }

  // The loop's own calls.
  CUgraphExec instantiate(CUgraph graph) const {
    CUgraphExec exec = nullptr;
    check(cu("cuGraphInstantiateWithFlags", 11040, &exec, graph, 0ULL), "cuGraphInstantiate");
    return exec;
  }
  bool update(CUgraphExec exec, CUgraph graph) const {
    struct {  // CUgraphExecUpdateResultInfo
      int result;
      CUgraphNode node, from_node;
    } info{};
    return cu("cuGraphExecUpdate", 12000, exec, graph, static_cast<void*>(&info)) == 0;
  }
  void instantiate_anew(CUgraphExec& exec, CUgraph graph) const {
    destroy(exec);
    exec = instantiate(graph);
  }
  void launch(CUgraphExec exec) const {
    check(cu("cuGraphLaunch", 10000, exec, stream.get()), "cuGraphLaunch");
  }
  void destroy(CUgraph graph) const { check(cu("cuGraphDestroy", 10000, graph), "cuGraphDestroy"); }
  void destroy(CUgraphExec exec) const {
    check(cu("cuGraphExecDestroy", 10000, exec), "cuGraphExecDestroy");
  }

  cugraft::context device;
  driver_api cu;
  cugraft::stream stream;

 private:
  static CUdeviceptr address(const cugraft::device_buffer& buffer) {
    return reinterpret_cast<CUdeviceptr>(buffer.data());
  }
  CUdeviceptr x_device() const { return address(x_); }

  cugraft::kernel add_ = cugraft::library::from_image(device, add_ptx).get_kernel("add");
  cugraft::device_buffer x_{device, count * sizeof(float)};
  cugraft::device_buffer moved_{device, count * sizeof(float)};
  cugraft::host_buffer source_{device, count * sizeof(float)};
};

// The numbers mark the lines that differ.
std::vector<float> before(const program& p) {
  std::vector<float> results;
  const CUgraph graph = p.capture(0);       // 1
  CUgraphExec exec = p.instantiate(graph);  // 2
  for (int step = 0; step < program::steps; ++step) {
    const CUgraph captured = p.capture(step);
    const bool updated = p.update(exec, captured);     // 3
    if (!updated) p.instantiate_anew(exec, captured);  // 4
    p.destroy(captured);
    p.launch(exec);  // 5
    results.push_back(p.result());
  }
  p.destroy(exec);   // falls away
  p.destroy(graph);  // falls away
  return results;
}

std::vector<float> after(const program& p) {
  std::vector<float> results;
  auto graph = cugraft::graph::from_native_handle(p.device.get_driver(), p.capture(0));  // 1
  cugraft::graph_exec exec = graph.instantiate();                                        // 2
  for (int step = 0; step < program::steps; ++step) {
    const CUgraph captured = p.capture(step);
    std::cout << to_text(graph.update_from(captured));  // 3: says what changed
    exec.update();                                      // 4: patches it, or instantiates anew
    p.destroy(captured);
    exec.launch(p.stream);  // 5
    results.push_back(p.result());
  }
  return results;
}

int run() {
  const program p;
  const std::vector<float> old_way = before(p), new_way = after(p);
  for (std::size_t step = 0; step < old_way.size(); ++step) {
    if (old_way[step] == static_cast<float>(step) + 1 && new_way[step] == old_way[step]) continue;
    std::cerr << "step " << step << ": " << old_way[step] << " before, " << new_way[step]
              << " after\n";
    return 1;
  }
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
