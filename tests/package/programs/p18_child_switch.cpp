// SPDX-License-Identifier: Apache-2.0
// Child graphs, switch, typed kernels, pinned memory, 2-D.
#include "cugraft/cugraft.hpp"
using namespace cugraft;
void f(const context& c, const library& lib, void* d2) {
  stream s(c); host_buffer h(c, 4096); device_buffer d(c, 4096);
  const auto saxpy = lib.get_kernel<void(float*, const float*, float, std::size_t)>("saxpy");
  graph child = capture(s, [&](graph_builder& gb) { copy_2d_async(gb, d.data(), 64, h.data(), 64, 32, 8); fill_2d_async(gb, d2, 128, 0xff, 16, 4); });
  graph g = capture(s, [&](graph_builder& gb) {
    gb.embed(child); launch(gb, {.grid = 1, .block = 32}, saxpy, d.as<float>(), h.as<float>(), 2, 100);   // int to float and size_t as in a call
    auto cases = gb.switch_case(gb.create_condition(), 3);
    for (auto& one : cases) { fill_async(one, d2, 1, 16); one.close(); }
    launch(gb, {}, lib.get_kernel("generic"), d, nullptr, 1u);             // device_buffer and nullptr as pointers
  });
  for (std::size_t i = 0; i < g.node_count(); ++i) (void)g.node(i).name();
}
