// SPDX-License-Identifier: Apache-2.0
// The front door around code that is there: `enqueue` is a program's own function, which puts one
// step of its work on a stream. Wrapped into a `captured` it runs as a graph, and stays as it is.
//
// The loop runs it both ways and compares. Half way a step does something that no capture allows;
// it runs eagerly, and the next one is by the graph again.
//
// Runs on the driver that CUGRAFT_DRIVER names, else on the system's.

#include <cstddef>
#include <iostream>
#include <vector>

#include "cugraft/cugraft.hpp"

namespace {

using namespace cugraft;

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

constexpr unsigned count = 1000;
constexpr int steps = 8;

struct program {
  context device = context::primary(driver::load());
  stream main{device}, side{device};
  event forked{device}, joined{device};
  kernel add = library::from_image(device, add_ptx).get_kernel("add");
  device_buffer x{device, count * sizeof(float)}, y{device, count * sizeof(float)};

  // The program's own code: it knows nothing of graphs.
  void enqueue(int step) const {
    const auto value = static_cast<float>(step);
    main.record(forked);
    side.wait(forked);
    launch(main, {.grid = 8, .block = 128}, add, x, value, count);
    launch(side, {.grid = 8, .block = 128}, add, y, 2 * value, count);
    side.record(joined);
    main.wait(joined);
    launch(main, {.grid = 8, .block = 128}, add, x, 1.0F, count);
  }

  void clear() const {
    fill_async(main, x.data(), 0, x.size());
    fill_async(main, y.data(), 0, y.size());
    main.synchronize();
  }

  std::vector<float> result() const {
    std::vector<float> both(2 * static_cast<std::size_t>(count));
    copy_async(main, both.data(), x.data(), x.size());
    copy_async(main, both.data() + count, y.data(), y.size());
    main.synchronize();
    return both;
  }
};

std::vector<float> without_graphs(const program& p) {
  p.clear();
  for (int step = 0; step < steps; ++step) p.enqueue(step);
  return p.result();
}

std::vector<float> through_the_front_door(const program& p, captured_stats& stats) {
  int step = 0;
  captured run(p.main,
               [&](graph_builder& builder) {
                 p.enqueue(step);
                 // A stream that nobody joins: no graph can have that, and a stream can.
                 if (step == 5 && !builder.is_eager())
                   launch(builder.fork(1)[0], {.grid = 8, .block = 128}, p.add, p.x, 1.0F, count);
               },
               {.warm_up_runs = 1});
  p.clear();
  for (; step < steps; ++step) run();
  stats = run.stats();
  return p.result();
}

int run() {
  const program p;
  captured_stats stats;
  if (without_graphs(p) != through_the_front_door(p, stats)) {
    std::cerr << "the results differ\n";
    return 1;
  }
  std::cout << to_text(stats);
  const bool is_as_told = stats.captures == 1 && stats.instantiations == 1 &&
                          stats.eager_runs == 2 && stats.broken_captures == 1;
  if (!is_as_told) std::cerr << "the counts are not those of this loop\n";
  return is_as_told ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const error& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
