// SPDX-License-Identifier: Apache-2.0
// What would change, would the executable take it; nothing is touched.
#include <cstdio>
#include "cugraft/cugraft.hpp"
using namespace cugraft;
bool worth_it(graph& g, stream_ref s, void (*body)(graph_builder&)) {
  const auto before = g.fingerprint();
  const recapture_result r = g.try_recapture(s, body, {.compare_only = true, .attributes = attribute_check::all});
  if (!r) { std::puts(r.failure().message.c_str()); return false; }
  const change_report& report = r.report();
  return report.overall() < verdict::needs_instantiate && g.fingerprint() == before;
}
