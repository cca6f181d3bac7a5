// SPDX-License-Identifier: Apache-2.0
// Reading a report: fields, rules, JSON, paths.
#include <fstream>
#include <iostream>
#include "cugraft/cugraft.hpp"
using namespace cugraft;
void read(graph& g, stream_ref s, void (*body)(graph_builder&)) {
  for (const node_change& c : g.recapture(s, body).changes()) {          // a temporary report
    std::cout << to_string(c.path) << ' ' << to_string(c.kind) << ' ' << c.name << " [" << c.tag << "] " << to_string(c.effect) << '\n';
    for (const field_change& f : c.fields) std::cout << "  " << f.field << ": " << f.before << " -> " << f.after << " @" << f.offset << '+' << f.size << '\n';
    if (const update_rule* rule = find_update_rule(c.rule)) std::cout << "  " << rule->id << ": " << rule->text << '\n';
    if (c.native_status && (*c.native_status == recapture_status::eligible) != (c.effect < verdict::needs_instantiate)) std::cout << "  disagree\n";
  }
  const change_report kept = g.recapture(s, body);
  std::ofstream("report.json") << to_json(kept); std::ofstream("report.html") << to_html(kept);
  std::cout << to_text(kept) << to_string(kept.engine_used()) << kept.timing().compare.count() << kept.generation() << '\n';
  const std::span<const node_change> changes = kept.changes();
  if (!changes.empty()) std::cout << to_string(g.node(changes[0].path).kind());
  std::cout << json_schema_version << update_rules().size() << to_dot(g);
}
