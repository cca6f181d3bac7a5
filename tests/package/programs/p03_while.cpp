// SPDX-License-Identifier: Apache-2.0
// Conditional while loop and if/else; the kernel sets the condition through its handle.
#include "cugraft/cugraft.hpp"
using namespace cugraft;
graph build(const driver& d, stream_ref s, const kernel& step, const kernel& choose, int* counter, float* x) {
  d.require(feature::conditional_nodes, "unroll the loop");
  return capture(s, [&](graph_builder& gb) {
    const condition more = gb.create_condition(1);
    gb.while_loop(more, [&](graph_builder& body) {
      launch(body, {.grid = 1, .block = 32}, step, more, counter);
      const condition odd = body.create_condition();
      launch(body, {}, choose, odd, counter);
      auto [yes, no] = body.if_else(odd);
      fill_async(yes, x, 0, 4); yes.close();
      fill_async(no, x, 1, 1, 4); no.close();
    });
    graph_builder last = gb.if_then(gb.create_condition(std::nullopt));
    fill_async(last, x, 2, 1, 4);                          // closed by the session's end
  });
}
