// SPDX-License-Identifier: Apache-2.0
// A session that fails; the graph and its executable are used on.
#include <cassert>
#include <cstdio>
#include "cugraft/cugraft.hpp"
using namespace cugraft;
int main() {
  const driver d = driver::load(); const context c = context::primary(d); stream s(c);
  device_buffer a(c, 256), b(c, 256);
  graph g = capture(s, [&](graph_builder& gb) { fill_async(gb, a.data(), 1, 256); copy_async(gb, b.data(), a.data(), 256); });
  graph_exec e = g.instantiate();
  const CUgraph before = g.get();
  recapture_session r = g.begin_recapture(s);
  fill_async(r, a.data(), 2, 256); fill_async(r, b.data(), 3, 256);
  try { r.end(); assert(false); } catch (const recapture_error& x) {
    std::printf("%s: %s\n", std::string(x.code_name()).c_str(), x.what());
    assert(x.reason() == mismatch::node_kind && x.failure().nodes_matched == 1 && x.failure().expected->kind == node_kind::copy);
    assert(!x.graph_lost() && g.get() == before);
  }
  assert(!s.is_capturing() && g.generation() == 0 && e.is_current());
  e.launch(s); s.synchronize();
  if (g.is_lost()) { g.reset(); return 1; }
  { recapture_session dropped = g.begin_recapture(s); fill_async(dropped, a.data(), 9, 256); }   // destructor abandons
  { recapture_session given_up = g.begin_recapture(s); given_up.abandon(); }
  const change_report same = g.recapture(s, [&](graph_builder& gb) { fill_async(gb, a.data(), 1, 256); copy_async(gb, b.data(), a.data(), 256); });
  assert(same.overall() == verdict::unchanged && same.nodes_changed() == 0 && same.nodes_total() == 2);
}
