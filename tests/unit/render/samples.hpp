// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cugraft/graph_exec.hpp"
#include "model/report_state.hpp"
#include "unit/model/samples.hpp"

/// One of each thing that is rendered.
namespace cugraft {

inline raw_change change_of(std::vector<node_step> path, model::node_value before,
                            model::node_value after) {
  raw_change result;
  result.path.steps = std::move(path);
  result.judgement = model::judge(before, after);
  result.before = std::move(before);
  result.after = std::move(after);
  return result;
}

/// A kernel with another argument and grid, and a copy of several rows with another width.
inline change_report sample_report() {
  model::kernel_value kernel = model::scale_kernel();
  model::set_argument(kernel, 1, 2.0F);
  kernel.grid = dim3(8);
  model::copy_value copy = model::block_copy();
  copy.width_bytes = 32;

  auto state = std::make_shared<detail::report_state>();
  state->used = engine::native;
  state->nodes_total = 14;
  state->raw.push_back(
      change_of({{5, 1}, {2}}, model::node_of(model::block_copy()), model::node_of(copy)));
  state->raw.push_back(
      change_of({{3}}, model::node_of(model::scale_kernel()), model::node_of(kernel)));
  state->raw.back().tag = "layer 0";
  state->raw.back().native_status = recapture_status::eligible;
  state->raw.back().node = model::handle<CUgraphNode>(0x7fff00000010);
  state->overall = verdict::needs_instantiate;
  state->generation = 3;
  state->timing = {std::chrono::nanoseconds(12'345), std::chrono::nanoseconds(678),
                   std::chrono::nanoseconds(0)};
  return detail::report_state::make(std::move(state));
}

inline change_report unchanged_report() {
  auto state = std::make_shared<detail::report_state>();
  state->used = engine::compare;
  state->nodes_total = 2;
  state->structure_replaced = true;
  return detail::report_state::make(std::move(state));
}

inline recapture_failure sample_failure() {
  recapture_failure result;
  result.why = mismatch::node_kind;
  result.function = "cuStreamEndCapture";
  result.message = "first difference at 7: kernel \"scale\" vs fill";
  result.nodes_matched = 7;
  result.used = engine::native;
  result.expected = node_summary{{{{7}}}, node_kind::kernel, "scale", "layer 0"};
  result.found = node_summary{{{{7}}}, node_kind::fill, "", ""};
  result.involved = {{{{{8}}}, node_kind{18}, "", ""}};
  return result;
}

inline exec_update sample_update() {
  exec_update result;
  result.method = update_method::instantiated;
  result.up_to_date = true;
  result.driver_calls = 4;
  result.refused.push_back({{{{{3}}}, node_kind::kernel, "scale", ""},
                            "kernel.cluster",
                            verdict::needs_instantiate,
                            update_method::none,
                            0,
                            "",
                            0});
  return result;
}

inline exec_update refused_update() {
  exec_update result;
  result.driver_calls = 2;
  result.refused.push_back({{{{{5}}}, node_kind::copy, "", ""},
                            "",
                            verdict::patchable,
                            update_method::whole,
                            910,
                            "cuGraphExecUpdate",
                            5});
  return result;
}

}  // namespace cugraft
