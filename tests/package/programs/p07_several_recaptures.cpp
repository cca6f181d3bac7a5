// SPDX-License-Identifier: Apache-2.0
// One executable updated over several re-captures; a second stays behind; forced methods.
#include <cassert>
#include "cugraft/cugraft.hpp"
using namespace cugraft;
void f(stream_ref s, const kernel& k, float* p) {
  int n = 1;
  const auto body = [&](graph_builder& gb) { for (int i = 0; i < 32; ++i) launch(gb, {.grid = 4, .block = 64}, k, p + i, i == n ? -1 : i); };
  graph g = capture(s, body);
  graph_exec first = g.instantiate(), second = g.instantiate({.use_node_priority = true});
  for (n = 2; n < 5; ++n) g.recapture(s, body);
  assert(g.generation() == 3 && first.generation() == 0 && !first.is_current());
  exec_update u = first.update();
  assert(u.up_to_date && u.method == update_method::patched && u.nodes_patched == 2 && u.driver_calls >= 2 && u.refused.empty());
  assert(first.update().method == update_method::none);
  u = second.update({.may_instantiate = false, .force = update_method::whole});
  for (const refusal& r : u.refused) assert(r.code != 0 || !r.rule.empty());
  for (const refusal& r : second.update().refused) (void)r;
}
