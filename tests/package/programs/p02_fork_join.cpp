// SPDX-License-Identifier: Apache-2.0
// Two streams: forks of the library's, of the caller's, and by events.
#include "cugraft/cugraft.hpp"
using namespace cugraft;
void by_builder(graph_builder& gb, const kernel& a, const kernel& b, void* p, void* q, std::size_t n) {
  fill_async(gb, p, 0, n);
  auto forks = gb.fork(2);
  launch(forks[0], {.grid = 8, .block = 64}, a, p);
  launch(forks[1], {.grid = 8, .block = 64}, b, q);
  auto inner = forks[1].fork(1);
  copy_async(inner[0], p, q, n);
  forks[1].join(inner);
  gb.join(forks);
  copy_async(gb, q, p, n);
}
void own_side_stream(graph_builder& gb, stream_ref side, void* p, void* q, std::size_t n) {
  graph_builder other = gb.fork(side);
  other.tag("side copy"); copy_async(other, p, q, n); other.host_call([] {});
  gb.join(other);
}
void by_events(graph_builder& gb, stream_ref side, event_ref fork, event_ref join, void* p, void* q, std::size_t n) {
  gb.stream().record(fork); side.wait(fork);
  copy_async(side, p, q, n);
  side.record(join); gb.stream().wait(join);
}
void sessions(const context& c, const kernel& a, const kernel& b, void* p, void* q) {
  stream s(c), side(c); event f(c), j(c);
  graph g1 = capture(s, [&](graph_builder& gb) { by_builder(gb, a, b, p, q, 64); });
  graph g2 = capture(s, [&](graph_builder& gb) { own_side_stream(gb, side, p, q, 64); });
  capture_session cs = begin_capture(s, capture_mode::thread_local_);
  by_events(cs, side, f, j, p, q, 64);
  graph g3 = cs.end();
  g3.recapture(s, [&](auto& gb) { by_events(gb, side, f, j, q, p, 64); }, {.mode = capture_mode::relaxed});
  (void)g1; (void)g2;
}
