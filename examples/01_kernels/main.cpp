// SPDX-License-Identifier: Apache-2.0
// A loop whose steps change one argument and the grid: captured once, re-captured for every step,
// and the executable patched where something changed.
//
// Runs on the driver that CUGRAFT_DRIVER names, else on the system's.

#include <cstdio>
#include <iostream>
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

int run() {
  using namespace cugraft;
  constexpr unsigned count = 1000;
  const context device = context::primary(driver::load());
  const kernel add = library::from_image(device, add_ptx).get_kernel("add");
  const stream s(device);
  const device_buffer x(device, count * sizeof(float));

  float value = 1;
  unsigned blocks = 8;
  const auto step = [&](graph_builder& gb) {
    fill_async(gb, x.data(), 0, x.size());
    launch(gb, {.grid = blocks, .block = 128}, add, x, value, count);
    launch(gb, {.grid = blocks, .block = 128}, add, x, 0.5F, count);
  };

  graph g = capture(s, step);
  graph_exec e = g.instantiate();
  std::vector<float> result(count);
  for (int i = 0; i < 4; ++i) {
    value = static_cast<float>(i);
    blocks = i < 2 ? 8 : 16;
    std::cout << "step " << i << ": " << to_text(g.recapture(s, step));
    e.update();
    e.launch(s);
    copy_async(s, result.data(), x.data(), x.size());
    s.synchronize();
    if (result.front() != value + 0.5F || result.back() != value + 0.5F) {
      std::cerr << "wrong result: " << result.front() << ", " << result.back() << '\n';
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const cugraft::error& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
